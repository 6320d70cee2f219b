/** `ReplayStore` within one process. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { ReplayStore } from '@mortise/protocol/contracts';
import { AuthOptionError } from '../errors.ts';

/** The options of `MemoryReplayStore`. */
export interface MemoryReplayStoreOptions {
  /** Past it nothing new can be claimed until something expires, since forgetting would let a thing be used twice. @default 100_000 */
  readonly maxEntries?: number | undefined;
  /** Says what has expired. @default systemClock */
  readonly clock?: Clock | undefined;
}

/** Remembers what was claimed until it expires. */
export class MemoryReplayStore implements ReplayStore {
  readonly #expiries: Map<string, number> = new Map();
  readonly #maxEntries: number;
  readonly #clock: Clock;
  #nextSweepMs = 0;

  /** @throws {AuthOptionError} `ERR_AUTH_OPTION`: an option is wrong. */
  constructor(options: MemoryReplayStoreOptions = {}) {
    checkOptions('MemoryReplayStore', options, { maxEntries: 0, clock: 'object' }, AuthOptionError);
    this.#maxEntries = options.maxEntries ?? 100_000;
    this.#clock = options.clock ?? systemClock;
  }

  async claim(id: string, expiresAtMs: number): Promise<boolean> {
    const now = this.#clock.now();
    if ((this.#expiries.get(id) ?? 0) > now) return false;
    this.#sweep(now);
    if (this.#expiries.size >= this.#maxEntries) return false;
    this.#expiries.set(id, expiresAtMs);
    return true;
  }

  /** At most once a second, so that a flood of claims does not walk the whole map each time. */
  #sweep(now: number): void {
    if (now < this.#nextSweepMs) return;
    this.#nextSweepMs = now + 1_000;
    for (const [id, expiresAtMs] of this.#expiries) if (expiresAtMs <= now) this.#expiries.delete(id);
  }
}
