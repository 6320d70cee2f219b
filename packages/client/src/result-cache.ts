/** Results that a server lets its clients use again: kept as long and for whom it says, and until it tells of a change. */

import type { Clock, JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { CallOptions } from './client-options.ts';

/** How much a cache holds. */
export interface ResultCacheOptions {
  /** How many results it holds, 16,000,000 characters at most together; the least recently used go first. @default 1_000 */
  readonly maxEntries?: number | undefined;
  /** Tells how old results are. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** A cache that several clients may share. Results that servers call private are never given to another partition than their own. */
export interface ResultCache {
  /** How many results it holds, stale ones included. */
  readonly size: number;
  /** Forgets everything. */
  clear(): void;
}

/** Makes a cache for the option `resultCache` of several clients. */
export function createResultCache(options: ResultCacheOptions = {}): ResultCache {
  checkOptions('createResultCache options', options, { maxEntries: 0, clock: 'object' });
  return new ResultStore(options);
}

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
  readonly clock: Clock;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Entry>();
  #characters = 0;

  constructor({ maxEntries = 1000, clock = systemClock }: ResultCacheOptions) {
    this.#maxEntries = maxEntries;
    this.clock = clock;
  }

  get size(): number {
    return this.#entries.size;
  }

  clear(): void {
    this.#entries.clear();
    this.#characters = 0;
  }

  find(key: string): JsonObject | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.forget(key);
    if (this.clock.monotonicMs() >= entry.freshUntilMs) return undefined;
    // At the end again: the least recently used is the first.
    this.keep(key, entry);
    return JSON.parse(entry.text) as JsonObject;
  }

  keep(key: string, entry: Entry): void {
    this.forget(key);
    this.#entries.set(key, entry);
    this.#characters += entry.text.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries && this.#characters <= MAX_CHARACTERS) break;
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

/** What one client's view of a cache is made of. */
export interface CachedResultsParts {
  /** Undefined for a cache of the client's own. */
  readonly cache: ResultCache | undefined;
  readonly clock: Clock;
  /** Whose the private results are; undefined for this client's alone. */
  readonly partition: string | undefined;
  readonly transport: {
    /** Names the server; undefined where nothing can be shared. */
    readonly serverKey: string | undefined;
    /** Tells the present authorization from any other, where the transport knows. */
    readonly authContext: string | undefined;
  };
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
  readonly #parts: CachedResultsParts;
  readonly #client = `client ${(clients += 1)}`;

  constructor(parts: CachedResultsParts) {
    this.#parts = parts;
    this.#store = parts.cache instanceof ResultStore ? parts.cache : new ResultStore({ clock: parts.clock });
  }

  /** Whether it holds nothing, of whichever client. */
  get isEmpty(): boolean {
    return this.#store.size === 0;
  }

  /** A result that is still fresh and that this client may get. */
  find(method: string, params: JsonObject, options: CallOptions | undefined): JsonObject | undefined {
    if (options?.skipsCache === true) return undefined;
    const key = toKey(method, params, options);
    return key === undefined ? undefined : (this.#store.find(this.#private(key)) ?? this.#store.find(this.#public(key)));
  }

  /** Keeps a result as long and for whom it says itself. */
  keep(method: string, params: JsonObject, options: CallOptions | undefined, result: JsonObject): void {
    const { ttlMs, cacheScope } = result;
    const key = toKey(method, params, options);
    if (key === undefined) return;
    // What was public once and is private now, or the other way round, must not be found in its old place.
    this.#store.forget(this.#private(key));
    this.#store.forget(this.#public(key));
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return;
    const freshUntilMs = this.#store.clock.monotonicMs() + Math.min(ttlMs, MAX_TTL_MS);
    const entry = { text: JSON.stringify(result), freshUntilMs, server: this.#server, method, uri: params['uri'] };
    this.#store.keep(cacheScope === 'public' ? this.#public(key) : this.#private(key), entry);
  }

  onChange({ method, params }: JsonRpcNotification): void {
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

  clear(): void {
    this.#forget(() => true);
  }

  get #server(): string {
    return this.#parts.transport.serverKey ?? this.#client;
  }

  #forget(isStale: (entry: Entry) => boolean): void {
    const server = this.#server;
    this.#store.forgetWhere((entry) => entry.server === server && isStale(entry));
  }

  #private(key: string): string {
    const { partition, transport } = this.#parts;
    const owner = partition === undefined ? this.#client : `partition ${partition}`;
    return JSON.stringify(['private', this.#server, owner, transport.authContext ?? '', key]);
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
