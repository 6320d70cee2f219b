/** A `SessionStore` that keeps legacy sessions in memory. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { SessionRecord, SessionStore } from '../contracts/session-stores.ts';

/** The options of `MemorySessionStore`. */
export interface MemorySessionStoreOptions {
  /** The maximum number of sessions. Beyond it, a new session replaces the one that was idle longest. @default 100000 */
  readonly maxSessions?: number | undefined;
  /** The clock that decides which sessions have expired. @default the system clock */
  readonly clock?: Clock | undefined;
}

/** A `SessionStore` in memory. Fulfils the guarantees S1 to S4 of `SessionStore`. Sessions are lost when the process ends. */
export class MemorySessionStore implements SessionStore {
  readonly #records = new Map<string, SessionRecord>();
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

  get(id: string): Promise<SessionRecord | undefined> {
    const record = this.#find(id);
    return Promise.resolve(record === undefined ? undefined : structuredClone(record));
  }

  put(record: Omit<SessionRecord, 'version'>, expectedVersion: number): Promise<boolean> {
    const version = this.#find(record.id)?.version ?? 0;
    if (version !== expectedVersion) return Promise.resolve(false);
    this.#keep({ ...structuredClone(record), version: version + 1 });
    this.#makeRoom();
    return Promise.resolve(true);
  }

  touch(id: string, expiresAtMs: number): Promise<boolean> {
    const record = this.#find(id);
    if (record !== undefined) this.#keep({ ...record, expiresAtMs });
    return Promise.resolve(record !== undefined);
  }

  delete(id: string): Promise<void> {
    this.#records.delete(id);
    return Promise.resolve();
  }

  deleteExpired(nowMs: number): Promise<number> {
    const before = this.#records.size;
    for (const [id, { expiresAtMs }] of this.#records) if (expiresAtMs <= nowMs) this.#records.delete(id);
    return Promise.resolve(before - this.#records.size);
  }

  #find(id: string): SessionRecord | undefined {
    const record = this.#records.get(id);
    return record !== undefined && record.expiresAtMs > this.#clock.now() ? record : undefined;
  }

  /** Stores a session at the end of the map, so that the map is ordered by last use. */
  #keep(record: SessionRecord): void {
    this.#records.delete(record.id);
    this.#records.set(record.id, record);
  }

  #makeRoom(): void {
    for (const id of this.#records.keys()) {
      if (this.#records.size <= this.#maxSessions) return;
      this.#records.delete(id);
    }
  }
}
