/** A `SessionStore` that keeps legacy sessions in memory. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { SessionPut, SessionRecord, SessionStore } from '../contracts/session-stores.ts';

/** The options of `MemorySessionStore`. */
export interface MemorySessionStoreOptions {
  /** The maximum number of sessions. Beyond it, a new session replaces the one that was idle longest. @default 100000 */
  readonly maxSessions?: number | undefined;
  /** The clock that decides which sessions have expired. @default the system clock */
  readonly clock?: Clock | undefined;
}

interface Kept {
  readonly record: SessionRecord;
  readonly expiresAtMs: number;
}

/** The most expired sessions that one `put` deletes. */
const DELETED_AT_ONCE = 100;

/** A `SessionStore` in memory. Fulfils the guarantees S1 to S4 of `SessionStore`. Sessions are lost when the process ends. */
export class MemorySessionStore implements SessionStore {
  /** The sessions, the least recently used first. */
  readonly #records = new Map<string, Kept>();
  readonly #maxSessions: number;
  readonly #clock: Clock;

  /** @throws {TypeError} An option is unknown, or `maxSessions` is not a number of 1 or more. */
  constructor(options: MemorySessionStoreOptions = {}) {
    checkOptions('MemorySessionStore options', options, { maxSessions: 1, clock: 'object' });
    this.#maxSessions = options.maxSessions ?? 100_000;
    this.#clock = options.clock ?? systemClock;
  }

  /** The number of stored sessions, including expired ones that are not yet deleted. */
  get size(): number {
    return this.#records.size;
  }

  async get(id: string, ttlMs: number): Promise<SessionRecord | undefined> {
    const record = this.#find(id);
    if (record === undefined) return undefined;
    this.#keep(record, ttlMs);
    return structuredClone(record);
  }

  async put(record: Omit<SessionRecord, 'version'>, expectedVersion: number, ttlMs: number): Promise<SessionPut> {
    const present = this.#find(record.id);
    if ((present?.version ?? 0) !== expectedVersion) return { isWritten: false, ...(present && { present: structuredClone(present) }) };
    this.#keep({ ...structuredClone(record), version: expectedVersion + 1 }, ttlMs);
    this.#makeRoom();
    return { isWritten: true };
  }

  async delete(id: string): Promise<void> {
    this.#records.delete(id);
  }

  #find(id: string): SessionRecord | undefined {
    const kept = this.#records.get(id);
    return kept !== undefined && kept.expiresAtMs > this.#clock.now() ? kept.record : undefined;
  }

  /** Stores a session at the end of the map, so that the map is ordered by last use. */
  #keep(record: SessionRecord, ttlMs: number): void {
    this.#records.delete(record.id);
    this.#records.set(record.id, { record, expiresAtMs: this.#clock.now() + ttlMs });
  }

  /** Deletes sessions beyond `maxSessions`, and some that have expired, from the least recently used on. */
  #makeRoom(): void {
    const now = this.#clock.now();
    let left = DELETED_AT_ONCE;
    for (const [id, { expiresAtMs }] of this.#records) {
      if (this.#records.size <= this.#maxSessions && (expiresAtMs > now || left-- === 0)) return;
      this.#records.delete(id);
    }
  }
}
