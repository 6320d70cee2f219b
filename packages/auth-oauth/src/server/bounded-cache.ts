/** A map that forgets: values that are too old, and past 1,000 the one that came first. */

import type { Clock } from '@mortise/jsonrpc-core';

const MAX_ENTRIES = 1_000;

export class BoundedCache<V> {
  readonly #entries: Map<string, { readonly value: V; readonly expiresAtMs: number }> = new Map();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined && entry.expiresAtMs > this.#clock.now()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Keeps a value, unless the key still has one: its time is not made longer. */
  set(key: string, value: V, maxAgeMs: number): void {
    if (this.get(key) !== undefined) return;
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(key, { value, expiresAtMs: this.#clock.now() + maxAgeMs });
  }
}
