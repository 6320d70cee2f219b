/** `AuthorizationStore`: where the authorization proxy keeps registrations, grants, codes and tokens. */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';

/**
 * Stores registrations, grants, codes and tokens.
 *
 * Keys are `kind:id`, where the id is random or a digest, so keys contain no secrets. Tokens of the provider are encrypted before they are
 * stored.
 *
 * A1  `get` and `take` return what the last finished `put` wrote, and undefined after its expiry.
 * A2  `take` is atomic across all machines: exactly one caller with a given key gets the value.
 */
export interface AuthorizationStore {
  get(key: string): Promise<JsonObject | undefined>;
  put(key: string, value: JsonObject, expiresAtMs: number): Promise<void>;
  /** Gets a value and deletes it, in one atomic step. */
  take(key: string): Promise<JsonObject | undefined>;
  delete(key: string): Promise<void>;
}

/** The maximum number of entries of one kind, such as codes. Beyond it, the entry that expires first is dropped. */
const MAX_ENTRIES_PER_KIND = 10_000;

interface Entry {
  readonly value: JsonObject;
  readonly expiresAtMs: number;
}

/** An in-memory `AuthorizationStore`. Each kind of entry has a limit: registrations, which anyone can make, replace only each other. */
export class MemoryAuthorizationStore implements AuthorizationStore {
  readonly #kinds: Map<string, Map<string, Entry>> = new Map();
  readonly #maxEntries: number;
  readonly #clock: Clock;

  constructor(clock: Clock, maxEntriesPerKind: number = MAX_ENTRIES_PER_KIND) {
    this.#clock = clock;
    this.#maxEntries = maxEntriesPerKind;
  }

  get(key: string): Promise<JsonObject | undefined> {
    const entry = this.#kindOf(key).get(key);
    return Promise.resolve(entry !== undefined && entry.expiresAtMs > this.#clock.now() ? entry.value : undefined);
  }

  put(key: string, value: JsonObject, expiresAtMs: number): Promise<void> {
    const kind = this.#kindOf(key);
    if (!kind.has(key) && kind.size >= this.#maxEntries) this.#makeRoom(kind);
    kind.set(key, { value, expiresAtMs });
    return Promise.resolve();
  }

  take(key: string): Promise<JsonObject | undefined> {
    const value = this.get(key);
    this.#kindOf(key).delete(key);
    return value;
  }

  delete(key: string): Promise<void> {
    this.#kindOf(key).delete(key);
    return Promise.resolve();
  }

  #kindOf(key: string): Map<string, Entry> {
    const name = key.slice(0, key.indexOf(':'));
    const kind = this.#kinds.get(name) ?? new Map<string, Entry>();
    if (kind.size === 0) this.#kinds.set(name, kind);
    return kind;
  }

  #makeRoom(kind: Map<string, Entry>): void {
    const now = this.#clock.now();
    let first: readonly [string, Entry] | undefined;
    for (const pair of kind) {
      if (pair[1].expiresAtMs <= now) kind.delete(pair[0]);
      else if (first === undefined || pair[1].expiresAtMs < first[1].expiresAtMs) first = pair;
    }
    if (kind.size >= this.#maxEntries && first !== undefined) kind.delete(first[0]);
  }
}
