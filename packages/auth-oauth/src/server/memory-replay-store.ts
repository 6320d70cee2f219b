/** An in-memory `ReplayStore`. */

import type { Clock } from '@mortise/jsonrpc-core';
import type { ReplayStore } from '@mortise/protocol/contracts';

/** The most used proofs that are stored. When the store is full, `claim` returns false until one expires: dropping one earlier would let it be used again. */
const MAX_ENTRIES = 100_000;

/** An in-memory `ReplayStore`: remembers the DPoP proofs that were used, within this process. */
export class MemoryReplayStore implements ReplayStore {
  readonly #expiries: Map<string, number> = new Map();
  readonly #maxEntries: number;
  readonly #clock: Clock;
  #nextSweepMs = 0;

  constructor(clock: Clock, maxEntries: number = MAX_ENTRIES) {
    this.#clock = clock;
    this.#maxEntries = maxEntries;
  }

  async claim(id: string, expiresAtMs: number): Promise<boolean> {
    const now = this.#clock.now();
    if ((this.#expiries.get(id) ?? 0) > now) return false;
    this.#sweep(now);
    if (this.#expiries.size >= this.#maxEntries) return false;
    this.#expiries.set(id, expiresAtMs);
    return true;
  }

  /** Deletes expired entries, at most once a second to limit the cost of many claims. */
  #sweep(now: number): void {
    if (now < this.#nextSweepMs) return;
    this.#nextSweepMs = now + 1_000;
    for (const [id, expiresAtMs] of this.#expiries) if (expiresAtMs <= now) this.#expiries.delete(id);
  }
}
