/** Results that a modern server lets its clients use again: kept for as long and for whom it says, and until it reports a change. */

import type { Clock, JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { CallOptions } from './client-options.ts';

/** A cache for the option `resultCache`, of one client or of several. `createResultCache` makes one. */
export interface ResultCache {
  /** How many results it holds, stale ones included. */
  readonly size: number;
  /** Forgets everything. */
  clear(): void;
  /** For the client that gets it. */
  open(owner: CacheOwner, clock: Clock): CachedResults;
}

/**
 * Makes a cache of 1,000 results and 16,000,000 characters, the least recently used going first.
 *
 * Clients that share one get public results of a server from each other, and private ones only where their transports know that they speak with
 * the same authorization (`authContext`).
 */
export function createResultCache(): ResultCache {
  return new ResultStore();
}

/** Identifies a client's server and, where its transport knows, on whose behalf the client speaks. */
export interface CacheOwner {
  /** Names the server; undefined where nothing can be shared. */
  readonly serverKey: string | undefined;
  /** Differs where the authorization differs. */
  readonly authContext: string | undefined;
}

/** One client's view of a cache. */
export interface CachedResults {
  /** A result that is still fresh and that this client may get. */
  find(method: string, params: JsonObject, options: CallOptions | undefined): JsonObject | undefined;
  /**
   * Call it before a request is sent, and the function that it gives with the result. Keeps the result for as long and for whom that says,
   * unless something changed meanwhile: at the server, or on whose behalf this client speaks.
   */
  keeper(method: string, params: JsonObject, options: CallOptions | undefined): (result: JsonObject) => void;
  /** Something changed at the server. */
  onChange(notification: JsonRpcNotification): void;
  /** The server refused the cursor of a page, so all pages of the list are out of date. */
  onCursorRejected(method: string): void;
  /** Any result of this server may be out of date. */
  clear(): void;
}

const MAX_ENTRIES = 1000;
/** In characters of JSON, all results together. */
const MAX_CHARACTERS = 16_000_000;
/** No result is kept longer, whatever its server says. */
const MAX_TTL_MS = 86_400_000;

interface Entry {
  /** Text, so that a caller who changes a result changes no other caller's. */
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

  open(owner: CacheOwner, clock: Clock): CachedResults {
    return new ClientResults(this, owner, clock);
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

let clients = 0;

/** The lists that each notification is about. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  'notifications/tools/list_changed': ['tools/list'],
  'notifications/prompts/list_changed': ['prompts/list'],
  'notifications/resources/list_changed': ['resources/list', 'resources/templates/list'],
};

class ClientResults implements CachedResults {
  readonly #store: ResultStore;
  readonly #owner: CacheOwner;
  readonly #clock: Clock;
  readonly #client = `client ${(clients += 1)}`;
  #changes = 0;

  constructor(store: ResultStore, owner: CacheOwner, clock: Clock) {
    this.#store = store;
    this.#owner = owner;
    this.#clock = clock;
  }

  find(method: string, params: JsonObject, options: CallOptions | undefined): JsonObject | undefined {
    const request = toKey(method, params, options);
    if (request === undefined) return undefined;
    const nowMs = this.#clock.monotonicMs();
    return this.#store.find(this.#private(request), nowMs) ?? this.#store.find(this.#public(request), nowMs);
  }

  keeper(method: string, params: JsonObject, options: CallOptions | undefined): (result: JsonObject) => void {
    const changes = this.#changes;
    const { authContext } = this.#owner;
    return (result) => {
      const request = toKey(method, params, options);
      const isAsItWas = changes === this.#changes && authContext === this.#owner.authContext;
      const { ttlMs, cacheScope } = result;
      if (request === undefined || ttlMs === undefined || !isAsItWas) return;
      // A result whose scope has changed must not be found in its old place.
      this.#store.forget(this.#private(request));
      this.#store.forget(this.#public(request));
      if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return;
      const freshUntilMs = this.#clock.monotonicMs() + Math.min(ttlMs, MAX_TTL_MS);
      const entry = { text: JSON.stringify(result), freshUntilMs, server: this.#server, method, uri: params['uri'] };
      this.#store.keep(cacheScope === 'public' ? this.#public(request) : this.#private(request), entry);
    };
  }

  onChange({ method, params }: JsonRpcNotification): void {
    this.#changes += 1;
    const lists = LISTS[method];
    if (lists) this.#forget((entry) => lists.includes(entry.method));
    const uri = params?.['uri'];
    if (method !== 'notifications/resources/updated' || typeof uri !== 'string') return;
    this.#forget((entry) => entry.method === 'resources/read' && isAffected(entry.uri, uri));
  }

  onCursorRejected(method: string): void {
    this.#forget((entry) => entry.method === method);
  }

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

  #private(request: string): string {
    return JSON.stringify(['private', this.#server, this.#owner.authContext ?? this.#client, request]);
  }

  #public(request: string): string {
    return JSON.stringify(['public', this.#server, request]);
  }
}

/** Identifies a request; undefined for one whose answer may depend on more than its parameters. */
function toKey(method: string, params: JsonObject, options: CallOptions | undefined): string | undefined {
  const { _meta, inputResponses, requestState } = params;
  const parts = [_meta, inputResponses, requestState, options?.headers, options?.meta];
  return parts.every((part) => part === undefined) ? JSON.stringify([method, sorted(params)]) : undefined;
}

/** The same members in the same order, whatever the order in which they were written. */
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
