/** Caches results of modern servers by their `ttlMs` and `cacheScope`, until the server reports a change. */

import type { JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import { toCanonicalJson } from '@mortise/jsonrpc-core/encoding';
import type { CallOptions } from './client-options.ts';
import { LIST_CHANGES } from './lists.ts';

/** What the cache needs to know about a client that uses it. */
export interface CacheOwner {
  /** The text that identifies the server; undefined if its results cannot be shared between clients. */
  readonly serverKey: string | undefined;
  /** The text that identifies the client's authorization; undefined if that is unknown. */
  readonly authContext: string | undefined;
}

/** The parts of a request that its result may depend on. */
export interface CachedRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: CallOptions | undefined;
}

const MAX_ENTRIES = 1000;
/** The most characters of JSON that all cached results may have together. */
const MAX_CHARACTERS = 16_000_000;
/** The longest time for which a result is cached, in milliseconds: one day. A longer `ttlMs` is shortened to it. */
const MAX_TTL_MS = 86_400_000;

interface Entry {
  /** The result as JSON text, so that each caller gets its own object. */
  readonly text: string;
  readonly freshUntilMs: number;
  readonly server: string;
  readonly method: string;
  readonly uri: unknown;
}

/** A cache for the option `resultCache`. Several clients may share it. Made by `createResultCache`. */
export class ResultCache {
  readonly #entries = new Map<string, Entry>();
  readonly #owners = new WeakMap<CacheOwner, string>();
  #ownerCount = 0;
  #characters = 0;
  #changes = 0;

  /** The number of results in the cache, stale ones included. */
  get size(): number {
    return this.#entries.size;
  }

  /** Removes all results. */
  clear(): void {
    this.#changes += 1;
    this.#entries.clear();
    this.#characters = 0;
  }

  // ---- for the client

  /** Returns a cached result that is fresh and that this client may get; undefined if there is none. */
  find(owner: CacheOwner, request: CachedRequest, nowMs: number): JsonObject | undefined {
    const key = toKey(request);
    if (key === undefined) return undefined;
    return this.#take(this.#keyFor('private', owner, key), nowMs) ?? this.#take(this.#keyFor('public', owner, key), nowMs);
  }

  /**
   * Returns a function that stores the request's result, if the result may be cached. Call `keeper` before sending the request: if the server
   * reports a change, or the client's authorization changes, before the result arrives, the result is not stored.
   */
  keeper(owner: CacheOwner, request: CachedRequest): (result: JsonObject, nowMs: number) => void {
    const changes = this.#changes;
    const { authContext } = owner;
    return (result, nowMs) => {
      const key = toKey(request);
      const isAsItWas = changes === this.#changes && authContext === owner.authContext;
      const { ttlMs, cacheScope } = result;
      if (key === undefined || ttlMs === undefined || !isAsItWas) return;
      // The result's scope may have changed since the last time.
      for (const scope of ['private', 'public'] as const) this.#forget(this.#keyFor(scope, owner, key));
      if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return;
      const { method, params } = request;
      this.#keep(this.#keyFor(cacheScope === 'public' ? 'public' : 'private', owner, key), {
        text: JSON.stringify(result),
        freshUntilMs: nowMs + Math.min(ttlMs, MAX_TTL_MS),
        server: this.#serverOf(owner),
        method,
        uri: params['uri'],
      });
    };
  }

  /** Removes the results that a change notification affects. */
  onChange(owner: CacheOwner, { method, params }: JsonRpcNotification): void {
    const lists: readonly string[] = Object.values(LIST_CHANGES).find(({ notification }) => notification === method)?.methods ?? [];
    const uri = method === 'notifications/resources/updated' ? params?.['uri'] : undefined;
    this.forgetWhere(owner, (entry) => lists.includes(entry.method) || (entry.method === 'resources/read' && isAffected(entry.uri, uri)));
  }

  /** Removes the results of the client's server for which `isStale` returns true. */
  forgetWhere(owner: CacheOwner, isStale: (entry: Pick<Entry, 'method' | 'uri'>) => boolean): void {
    this.#changes += 1;
    const server = this.#serverOf(owner);
    for (const [key, entry] of this.#entries) if (entry.server === server && isStale(entry)) this.#forget(key);
  }

  // ---- inside

  /** Returns an id of the client's own, used if its server or authorization is unknown, so that it shares no results with other clients. */
  #idOf(owner: CacheOwner): string {
    let id = this.#owners.get(owner);
    if (id === undefined) this.#owners.set(owner, (id = `client ${(this.#ownerCount += 1)}`));
    return id;
  }

  #serverOf(owner: CacheOwner): string {
    return owner.serverKey ?? this.#idOf(owner);
  }

  #keyFor(scope: 'private' | 'public', owner: CacheOwner, key: string): string {
    return JSON.stringify([scope, this.#serverOf(owner), scope === 'private' && (owner.authContext ?? this.#idOf(owner)), key]);
  }

  #take(key: string, nowMs: number): JsonObject | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#forget(key);
    if (nowMs >= entry.freshUntilMs) return undefined;
    // Moves the entry to the end: the least recently used entry is the first.
    this.#keep(key, entry);
    return JSON.parse(entry.text) as JsonObject;
  }

  #keep(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#characters += entry.text.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES && this.#characters <= MAX_CHARACTERS) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#characters -= this.#entries.get(key)?.text.length ?? 0;
    this.#entries.delete(key);
  }
}

/**
 * Makes a cache of at most 1,000 results and 16,000,000 characters. The least recently used results are removed first.
 *
 * Clients that share a cache share a server's public results. They share private results only if their transports report the same
 * authorization (`authContext`).
 */
export function createResultCache(): ResultCache {
  return new ResultCache();
}

/** The cache key of a request; undefined if its result may depend on more than its parameters. */
function toKey({ method, params, options }: CachedRequest): string | undefined {
  const { _meta, inputResponses, requestState } = params;
  const parts = [_meta, inputResponses, requestState, options?.headers, options?.meta];
  return parts.every((part) => part === undefined) ? toCanonicalJson([method, params]) : undefined;
}

/** Whether a change of one resource affects the cached result of another: true for the same resource and those above and below it. */
function isAffected(kept: unknown, changed: unknown): boolean {
  return typeof kept === 'string' && typeof changed === 'string' && (kept.startsWith(changed) || changed.startsWith(kept));
}
