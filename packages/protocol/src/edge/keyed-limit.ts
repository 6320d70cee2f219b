/** Limits the number of open connections, sessions or streams, in total and by key (such as the caller). */

/** A counter with two limits: in total and by key. */
export class KeyedLimit {
  readonly #max: number;
  readonly #maxPerKey: number;
  readonly #counts: Map<string, number> = new Map();
  #total = 0;

  /**
   * @param max The limit in total.
   * @param maxPerKey The limit for one key.
   */
  constructor(max: number, maxPerKey: number) {
    this.#max = max;
    this.#maxPerKey = maxPerKey;
  }

  /** The current count in total. */
  get total(): number {
    return this.#total;
  }

  /** Tells which limit one more would exceed; undefined for none. */
  check(key: string): 'all' | 'key' | undefined {
    if (this.#total >= this.#max) return 'all';
    return (this.#counts.get(key) ?? 0) >= this.#maxPerKey ? 'key' : undefined;
  }

  /** Counts one more. @returns false if that would exceed a limit; nothing is counted then. */
  acquire(key: string): boolean {
    if (this.check(key) !== undefined) return false;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#total++;
    return true;
  }

  /** Counts one less. Does nothing for a key with a count of 0. */
  release(key: string): void {
    const count = this.#counts.get(key);
    if (count === undefined) return;
    this.#total--;
    if (count === 1) this.#counts.delete(key);
    else this.#counts.set(key, count - 1);
  }
}
