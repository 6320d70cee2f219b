/** Counts what is open, in all and by the key of whoever opened it: connections, sessions, streams. */

/** A count with two bounds. */
export class KeyedLimit {
  readonly #max: number;
  readonly #maxPerKey: number;
  readonly #counts: Map<string, number> = new Map();
  #total = 0;

  /**
   * @param max How many may be open in all.
   * @param maxPerKey How many of them by one key.
   */
  constructor(max: number, maxPerKey: number) {
    this.#max = max;
    this.#maxPerKey = maxPerKey;
  }

  /** How many are open in all. */
  get total(): number {
    return this.#total;
  }

  /** Which bound one more would pass; undefined for none. */
  check(key: string): 'all' | 'key' | undefined {
    if (this.#total >= this.#max) return 'all';
    return (this.#counts.get(key) ?? 0) >= this.#maxPerKey ? 'key' : undefined;
  }

  /** Counts one more. @returns false where that would pass a bound; nothing is counted then. */
  acquire(key: string): boolean {
    if (this.check(key) !== undefined) return false;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#total++;
    return true;
  }

  /** Counts one less. Does nothing for a key that has none open. */
  release(key: string): void {
    const count = this.#counts.get(key);
    if (count === undefined) return;
    this.#total--;
    if (count === 1) this.#counts.delete(key);
    else this.#counts.set(key, count - 1);
  }
}
