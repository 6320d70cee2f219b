/**
 * Results that a server lets its clients use again: kept as long as it says, for whom it says, until it tells of a change. Loaded with
 * the first such result.
 */

import type { Clock, JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import { checkAmounts, systemClock } from '@mortise/jsonrpc-core/transport';
import type { CallOptions } from './call-options.ts';

/** How much a cache holds. */
export interface ResultCacheOptions {
  /** The least recently used go first. @default 1_000 */
  readonly maxEntries?: number | undefined;
  /** In characters of JSON, all results together. @default 16_000_000 */
  readonly maxCharacters?: number | undefined;
  /** No result is kept longer, whatever the server says, in milliseconds. @default 86_400_000 */
  readonly maxTtlMs?: number | undefined;
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

/** Makes a cache for the option `resultCache` of several clients. @throws {RangeError} A bound is no number, or less than 0. */
export function createResultCache(options: ResultCacheOptions = {}): ResultCache {
  return new ResultStore(options);
}

interface Entry {
  /** Text, so that nobody who changes what he was given changes it for others. */
  readonly text: string;
  readonly freshUntilMs: number;
  readonly server: string;
  readonly method: string;
  readonly uri: unknown;
}

class ResultStore implements ResultCache {
  readonly clock: Clock;
  readonly #maxEntries: number;
  readonly #maxCharacters: number;
  readonly #maxTtlMs: number;
  readonly #entries = new Map<string, Entry>();
  #characters = 0;

  constructor(options: ResultCacheOptions) {
    checkAmounts("the result cache's options", options, { maxEntries: 0, maxCharacters: 0, maxTtlMs: 0 });
    this.#maxEntries = options.maxEntries ?? 1000;
    this.#maxCharacters = options.maxCharacters ?? 16_000_000;
    this.#maxTtlMs = options.maxTtlMs ?? 86_400_000;
    this.clock = options.clock ?? systemClock;
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
    this.#add(key, entry);
    return JSON.parse(entry.text) as JsonObject;
  }

  keep(key: string, entry: Omit<Entry, 'freshUntilMs'>, ttlMs: number, receivedAtMs: number = this.clock.monotonicMs()): void {
    this.forget(key);
    if (entry.text.length > this.#maxCharacters || this.#maxEntries < 1) return;
    this.#add(key, { ...entry, freshUntilMs: receivedAtMs + Math.min(ttlMs, this.#maxTtlMs) });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#maxEntries && this.#characters <= this.#maxCharacters) break;
      this.forget(oldest);
    }
  }

  deleteWhere(isStale: (entry: Entry) => boolean): void {
    for (const [key, entry] of this.#entries) if (isStale(entry)) this.forget(key);
  }

  forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry && this.#entries.delete(key)) this.#characters -= entry.text.length;
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#characters += entry.text.length;
  }
}

/** What one client's view of a cache is made of. */
export interface CachedResultsParts {
  /** Undefined for one of the client's own. */
  readonly cache: ResultCache | undefined;
  readonly clock: Clock;
  /** What the server is called; undefined where nobody knows, and nothing can be shared. */
  readonly server: string | undefined;
  /** Whose the private results are; undefined for this client's alone. */
  readonly partition: string | undefined;
  /** What tells the present authorization from any other, where the transport knows. */
  authContext(): string | undefined;
}

/** The request that a result answers. */
export interface CachedRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly options?: CallOptions | undefined;
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
  readonly #server: string;
  readonly #partition: string;
  readonly #authContext: () => string | undefined;

  constructor({ cache, clock, server, partition, authContext }: CachedResultsParts) {
    clients += 1;
    this.#store = cache instanceof ResultStore ? cache : new ResultStore({ clock });
    this.#server = server ?? `client ${clients}`;
    this.#partition = partition === undefined ? `client ${clients}` : `partition ${partition}`;
    this.#authContext = authContext;
  }

  /** A result that is fresh still and that this client may be given. */
  find(method: string, params: JsonObject, options: CallOptions | undefined): JsonObject | undefined {
    if (options?.skipsCache === true) return undefined;
    const key = toKey(method, params, options);
    if (key === undefined) return undefined;
    return this.#store.find(this.#private(key)) ?? this.#store.find(this.#public(key));
  }

  /** Keeps a result as long and for whom it says itself. */
  keep({ method, params, options }: CachedRequest, result: JsonObject, receivedAtMs?: number): void {
    const { ttlMs, cacheScope } = result;
    const key = toKey(method, params, options);
    if (key === undefined) return;
    const isPublic = cacheScope === 'public';
    // What was public once and is private now, or the other way round, is nobody's to find in its old place.
    this.#store.forget(this.#private(key));
    this.#store.forget(this.#public(key));
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return;
    const entry = { text: JSON.stringify(result), server: this.#server, method, uri: params['uri'] };
    this.#store.keep(isPublic ? this.#public(key) : this.#private(key), entry, ttlMs, receivedAtMs);
  }

  onChange({ method, params }: JsonRpcNotification): void {
    const lists = LISTS[method];
    if (lists) this.#forget((entry) => lists.includes(entry.method));
    if (method !== 'notifications/resources/updated') return;
    const uri = params?.['uri'];
    if (typeof uri === 'string') this.#forget((entry) => entry.method === 'resources/read' && isAffected(entry.uri, uri));
  }

  /** A page that was good is good no more, and neither are the others of its list. */
  onCursorRejected(method: string): void {
    this.#forget((entry) => entry.method === method);
  }

  clear(): void {
    this.#forget(() => true);
  }

  #forget(isStale: (entry: Entry) => boolean): void {
    this.#store.deleteWhere((entry) => entry.server === this.#server && isStale(entry));
  }

  #private(key: string): string {
    return JSON.stringify(['private', this.#server, this.#partition, this.#authContext() ?? '', key]);
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
  return typeof kept === 'string' && (kept === changed || kept.startsWith(changed) || changed.startsWith(kept));
}
