/** Results that a server lets its clients use again: kept as long and for whom it says, and until it tells of a change. */

import type { Clock, JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { CallOptions, ClientOptions } from './client-options.ts';

/** A cache that several clients may share. Results that servers call private are never given to another partition than their own. */
export interface ResultCache {
  /** How many results it holds, stale ones included. */
  readonly size: number;
  /** Forgets everything. */
  clear(): void;
}

/** Makes a cache for the option `resultCache` of several clients: of 1,000 results and 16,000,000 characters, the least recently used going first. */
export function createResultCache(): ResultCache {
  return new ResultStore();
}

const MAX_ENTRIES = 1000;
/** In characters of JSON, all results together. */
const MAX_CHARACTERS = 16_000_000;
/** No result is kept longer, whatever its server says. */
const MAX_TTL_MS = 86_400_000;

interface Entry {
  /** Text, so that a caller who changes a result changes it for nobody else. */
  readonly text: string;
  readonly freshUntilMs: number;
  readonly server: string;
  readonly method: string;
  readonly uri: unknown;
}

class ResultStore implements ResultCache {
  readonly #entries = new Map<string, Entry>();
  #characters = 0;

  get size(): number {
    return this.#entries.size;
  }

  clear(): void {
    this.#entries.clear();
    this.#characters = 0;
  }

  find(key: string, nowMs: number): JsonObject | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.forget(key);
    if (nowMs >= entry.freshUntilMs) return undefined;
    // At the end again: the least recently used is the first.
    this.keep(key, entry);
    return JSON.parse(entry.text) as JsonObject;
  }

  keep(key: string, entry: Entry): void {
    this.forget(key);
    this.#entries.set(key, entry);
    this.#characters += entry.text.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#characters <= MAX_CHARACTERS) break;
      this.forget(oldest);
    }
  }

  forgetWhere(isStale: (entry: Entry) => boolean): void {
    for (const [key, entry] of this.#entries) if (isStale(entry)) this.forget(key);
  }

  forget(key: string): void {
    this.#characters -= this.#entries.get(key)?.text.length ?? 0;
    this.#entries.delete(key);
  }
}

/** Tells a client's server, and on whose behalf the client speaks, where its transport knows. */
export interface CacheOwner {
  /** Names the server; undefined where nothing can be shared. */
  readonly serverKey: string | undefined;
  /** Tells the present authorization from any other. */
  readonly authContext: string | undefined;
}

let clients = 0;

/** What changes which lists. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  'notifications/tools/list_changed': ['tools/list'],
  'notifications/prompts/list_changed': ['prompts/list'],
  'notifications/resources/list_changed': ['resources/list', 'resources/templates/list'],
};

/** One client's view of a cache. */
export class CachedResults {
  readonly #store: ResultStore;
  readonly #owner: CacheOwner;
  readonly #clock: Clock;
  readonly #client = `client ${(clients += 1)}`;
  /** Whose the private results are: this client's alone, unless it has a partition. */
  readonly #partition: string;
  #changes = 0;

  constructor(owner: CacheOwner, clock: Clock, { resultCache, cachePartition }: ClientOptions) {
    this.#store = resultCache instanceof ResultStore ? resultCache : new ResultStore();
    this.#owner = owner;
    this.#clock = clock;
    this.#partition = cachePartition === undefined ? this.#client : `partition ${cachePartition}`;
  }

  /** Whether it holds nothing, of whichever client. */
  get isEmpty(): boolean {
    return this.#store.size === 0;
  }

  /** A result that is still fresh and that this client may get. */
  find(method: string, params: JsonObject, options: CallOptions | undefined): JsonObject | undefined {
    if (options?.skipsCache === true) return undefined;
    const key = toKey(method, params, options);
    const nowMs = this.#clock.monotonicMs();
    return key === undefined ? undefined : (this.#store.find(this.#private(key), nowMs) ?? this.#store.find(this.#public(key), nowMs));
  }

  /**
   * Call it before a request is sent, and the function that it gives with the result. Keeps the result as long and for whom that says, unless
   * something changed meanwhile: at the server, or on whose behalf this client speaks.
   */
  keeper(method: string, params: JsonObject, options: CallOptions | undefined): (result: JsonObject) => void {
    const changes = this.#changes;
    const { authContext } = this.#owner;
    return (result) => {
      const key = toKey(method, params, options);
      const isAsItWas = changes === this.#changes && authContext === this.#owner.authContext;
      const { ttlMs, cacheScope } = result;
      if (key === undefined || ttlMs === undefined || !isAsItWas) return;
      // What was public once and is private now, or the other way round, must not be found in its old place.
      this.#store.forget(this.#private(key));
      this.#store.forget(this.#public(key));
      if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return;
      const freshUntilMs = this.#clock.monotonicMs() + Math.min(ttlMs, MAX_TTL_MS);
      const entry = { text: JSON.stringify(result), freshUntilMs, server: this.#server, method, uri: params['uri'] };
      this.#store.keep(cacheScope === 'public' ? this.#public(key) : this.#private(key), entry);
    };
  }

  /** Something changed at the server. */
  onChange({ method, params }: JsonRpcNotification): void {
    this.#changes += 1;
    const lists = LISTS[method];
    if (lists) this.#forget((entry) => lists.includes(entry.method));
    const uri = params?.['uri'];
    if (method !== 'notifications/resources/updated' || typeof uri !== 'string') return;
    this.#forget((entry) => entry.method === 'resources/read' && isAffected(entry.uri, uri));
  }

  /** A page that was good is good no more, and neither are the others of its list. */
  onCursorRejected(method: string): void {
    this.#forget((entry) => entry.method === method);
  }

  /** Whatever was kept of this server may be out of date. */
  clear(): void {
    this.#changes += 1;
    this.#forget(() => true);
  }

  get #server(): string {
    return this.#owner.serverKey ?? this.#client;
  }

  #forget(isStale: (entry: Entry) => boolean): void {
    const server = this.#server;
    this.#store.forgetWhere((entry) => entry.server === server && isStale(entry));
  }

  #private(key: string): string {
    return JSON.stringify(['private', this.#server, this.#partition, this.#owner.authContext ?? '', key]);
  }

  #public(key: string): string {
    return JSON.stringify(['public', this.#server, key]);
  }
}

/** Trace context tells a server nothing that its answer depends on. */
const HARMLESS: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage', 'progressToken']);

/** What tells a request from every other; undefined for one whose answer may depend on more than can be seen. */
function toKey(method: string, params: JsonObject, options: CallOptions | undefined): string | undefined {
  if (params['inputResponses'] !== undefined || params['requestState'] !== undefined || options?.headers !== undefined) return undefined;
  const { _meta: own, ...rest } = params;
  const meta = { ...(own as JsonObject | undefined), ...options?.meta };
  if (Object.keys(meta).some((key) => !HARMLESS.has(key))) return undefined;
  return JSON.stringify([method, sorted(rest)]);
}

/** The same members in the same order, however they were written. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}

/** A resource changes with those below it, and those below with it. */
function isAffected(kept: unknown, changed: string): boolean {
  return typeof kept === 'string' && (kept.startsWith(changed) || changed.startsWith(kept));
}
