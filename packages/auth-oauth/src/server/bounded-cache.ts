/** A map that forgets: what is too old, and past its bound what was put first. */

import type { Clock } from '@mortise/jsonrpc-core';

interface Entry<V> {
  readonly value: V;
  readonly expiresAtMs: number;
}

export class BoundedCache<V> {
  readonly #entries: Map<string, Entry<V>> = new Map();
  readonly #maxEntries: number;
  readonly #clock: Clock;

  constructor(maxEntries: number, clock: Clock) {
    this.#maxEntries = maxEntries;
    this.#clock = clock;
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs > this.#clock.now()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Keeps a value, unless the key still has one: its time is not made longer. */
  set(key: string, value: V, maxAgeMs: number): void {
    if (this.get(key) !== undefined) return;
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(key, { value, expiresAtMs: this.#clock.now() + maxAgeMs });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
