/** In-memory stores for long `requestState` values and replay protection. If several machines serve the same clients, use shared stores. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { ReplayStore, StateStore } from '@mortise/protocol/contracts';

/** Options of `MemoryStateStore` and `MemoryReplayStore`. */
export interface MemoryStoreOptions {
  /** The clock that decides which entries have expired. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** The most characters that all stored request states may have together. Beyond that, the oldest states are dropped. */
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** How many used request states are remembered at most. Beyond that, every request state is rejected until some expire. */
const MAX_CLAIMS = 100_000;

/** Stores long request states in memory, for the server option `requestState.store`. */
export class MemoryStateStore implements StateStore {
  readonly #states = new Map<string, { readonly value: string; readonly expiresAtMs: number }>();
  readonly #clock: Clock;
  #characters = 0;

  constructor(options: MemoryStoreOptions = {}) {
    checkOptions('MemoryStateStore options', options, { clock: 'object' });
    this.#clock = options.clock ?? systemClock;
  }

  async put(id: string, value: string, expiresAtMs: number): Promise<void> {
    this.#remove(id);
    this.#states.set(id, { value, expiresAtMs });
    this.#characters += value.length;
    for (const [oldest, state] of this.#states) {
      if (this.#characters <= MAX_CHARACTERS && state.expiresAtMs > this.#clock.now()) return;
      this.#remove(oldest);
    }
  }

  async get(id: string): Promise<string | undefined> {
    const state = this.#states.get(id);
    return state && state.expiresAtMs > this.#clock.now() ? state.value : undefined;
  }

  async delete(id: string): Promise<void> {
    this.#remove(id);
  }

  #remove(id: string): void {
    this.#characters -= this.#states.get(id)?.value.length ?? 0;
    this.#states.delete(id);
  }
}

/** Allows each request state to be used only once, for the server option `requestState.replay`. */
export class MemoryReplayStore implements ReplayStore {
  readonly #claims = new Map<string, number>();
  readonly #clock: Clock;
  #nextSweepMs = 0;

  constructor(options: MemoryStoreOptions = {}) {
    checkOptions('MemoryReplayStore options', options, { clock: 'object' });
    this.#clock = options.clock ?? systemClock;
  }

  async claim(id: string, expiresAtMs: number): Promise<boolean> {
    const now = this.#clock.now();
    if ((this.#claims.get(id) ?? 0) > now) return false;
    this.#sweep(now);
    if (this.#claims.size >= MAX_CLAIMS) return false;
    this.#claims.set(id, expiresAtMs);
    return true;
  }

  /** Removes expired entries, at most once a second, because scanning the whole map for each request would be slow. */
  #sweep(nowMs: number): void {
    if (nowMs < this.#nextSweepMs) return;
    this.#nextSweepMs = nowMs + 1_000;
    for (const [id, untilMs] of this.#claims) if (untilMs <= nowMs) this.#claims.delete(id);
  }
}
