/** Results that a modern server lets its clients use again: kept for as long and for whom it says, and until it reports a change. */

import type { JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import { toCanonicalJson } from '@mortise/jsonrpc-core/encoding';
import type { CallOptions } from './client-options.ts';
import { LIST_CHANGES } from './lists.ts';

/** A client whose results are kept. */
export interface CacheOwner {
  /** Names the server; undefined where nothing can be shared. */
  readonly serverKey: string | undefined;
  /** Differs where the authorization differs; undefined where that is not known. */
  readonly authContext: string | undefined;
}

/** A request, as far as its answer may depend on it. */
export interface CachedRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: CallOptions | undefined;
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

/** A cache for the option `resultCache`, of one client or of several; `createResultCache` makes one. */
export class ResultCache {
  readonly #entries = new Map<string, Entry>();
  readonly #owners = new WeakMap<CacheOwner, string>();
  #ownerCount = 0;
  #characters = 0;
  #changes = 0;

  /** How many results it holds, stale ones included. */
  get size(): number {
    return this.#entries.size;
  }

  /** Forgets everything. */
  clear(): void {
    this.#changes += 1;
    this.#entries.clear();
    this.#characters = 0;
  }

  // ---- for the client

  /** A result that is still fresh and that this client may get. */
  find(owner: CacheOwner, request: CachedRequest, nowMs: number): JsonObject | undefined {
    const key = toKey(request);
    if (key === undefined) return undefined;
    return this.#take(this.#keyFor('private', owner, key), nowMs) ?? this.#take(this.#keyFor('public', owner, key), nowMs);
  }

  /**
   * Call it before a request is sent, and the function that it gives with the result. Keeps the result for as long and for whom that says,
   * unless something changed meanwhile: at a server, or on whose behalf the client speaks.
   */
  keeper(owner: CacheOwner, request: CachedRequest): (result: JsonObject, nowMs: number) => void {
    const changes = this.#changes;
    const { authContext } = owner;
    return (result, nowMs) => {
      const key = toKey(request);
      const isAsItWas = changes === this.#changes && authContext === owner.authContext;
      const { ttlMs, cacheScope } = result;
      if (key === undefined || ttlMs === undefined || !isAsItWas) return;
      // A result whose scope has changed must not be found in its old place.
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

  /** Something changed at a client's server. */
  onChange(owner: CacheOwner, { method, params }: JsonRpcNotification): void {
    const lists: readonly string[] = Object.values(LIST_CHANGES).find(({ notification }) => notification === method)?.methods ?? [];
    const uri = method === 'notifications/resources/updated' ? params?.['uri'] : undefined;
    this.forgetWhere(owner, (entry) => lists.includes(entry.method) || (entry.method === 'resources/read' && isAffected(entry.uri, uri)));
  }

  /** Forgets some results of a client's server. */
  forgetWhere(owner: CacheOwner, isStale: (entry: Pick<Entry, 'method' | 'uri'>) => boolean): void {
    this.#changes += 1;
    const server = this.#serverOf(owner);
    for (const [key, entry] of this.#entries) if (entry.server === server && isStale(entry)) this.#forget(key);
  }

  // ---- inside

  /** Results of a server without a name, and private ones of an unknown authorization, are one client's own. */
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
    // At the end again: the least recently used is the first.
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
 * Makes a cache of 1,000 results and 16,000,000 characters, the least recently used going first.
 *
 * Clients that share one get public results of a server from each other, and private ones only where their transports know that they speak with
 * the same authorization (`authContext`).
 */
export function createResultCache(): ResultCache {
  return new ResultCache();
}

/** Identifies a request; undefined for one whose answer may depend on more than its parameters. */
function toKey({ method, params, options }: CachedRequest): string | undefined {
  const { _meta, inputResponses, requestState } = params;
  const parts = [_meta, inputResponses, requestState, options?.headers, options?.meta];
  return parts.every((part) => part === undefined) ? toCanonicalJson([method, params]) : undefined;
}

/** A resource changes with those below it, and those below with it. */
function isAffected(kept: unknown, changed: unknown): boolean {
  return typeof kept === 'string' && typeof changed === 'string' && (kept.startsWith(changed) || changed.startsWith(kept));
}
