/** An in-memory store for long `requestState` values. If several machines serve the same clients, use a shared store. */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { StateStore } from '@mortise/protocol/contracts';

/** The options of `MemoryStateStore`. */
export interface MemoryStateStoreOptions {
  /** The clock that decides which entries have expired. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** The most characters that all stored request states may have together. Beyond that, the oldest states are dropped. */
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Stores long request states in memory, for the server option `requestState.store`. */
export class MemoryStateStore implements StateStore {
  readonly #states = new Map<string, { readonly value: string; readonly expiresAtMs: number }>();
  readonly #clock: Clock;
  #characters = 0;

  constructor(options: MemoryStateStoreOptions = {}) {
    checkOptions('MemoryStateStore options', options, { clock: 'object' });
    this.#clock = options.clock ?? systemClock;
  }

  async put(id: string, value: string, ttlMs: number): Promise<void> {
    this.#remove(id);
    this.#states.set(id, { value, expiresAtMs: this.#clock.now() + ttlMs });
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
