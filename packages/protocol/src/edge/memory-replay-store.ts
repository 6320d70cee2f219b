/** A `ReplayStore` that keeps used ids in memory. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { ReplayStore } from '../contracts/session-stores.ts';

/** The options of `MemoryReplayStore`. */
export interface MemoryReplayStoreOptions {
  /** The clock that decides which claims have expired. @default the system clock */
  readonly clock?: Clock | undefined;
}

/** How many claims are stored at most. When full, `claim` returns false until one expires: dropping one would let its id be used again. */
const MAX_CLAIMS = 100_000;

/** Lets each id be used only once, within this process: for the server option `requestState.replay`, and for DPoP proofs. */
export class MemoryReplayStore implements ReplayStore {
  readonly #claims = new Map<string, number>();
  readonly #clock: Clock;
  #nextSweepMs = 0;

  constructor(options: MemoryReplayStoreOptions = {}) {
    checkOptions('MemoryReplayStore options', options, { clock: 'object' });
    this.#clock = options.clock ?? systemClock;
  }

  async claim(id: string, ttlMs: number): Promise<boolean> {
    const now = this.#clock.now();
    if ((this.#claims.get(id) ?? 0) > now) return false;
    this.#sweep(now);
    if (this.#claims.size >= MAX_CLAIMS) return false;
    this.#claims.set(id, now + ttlMs);
    return true;
  }

  /** Removes expired entries, at most once a second, because scanning the whole map for each claim would be slow. */
  #sweep(nowMs: number): void {
    if (nowMs < this.#nextSweepMs) return;
    this.#nextSweepMs = nowMs + 1_000;
    for (const [id, untilMs] of this.#claims) if (untilMs <= nowMs) this.#claims.delete(id);
  }
}
