/** Limits the number of open connections, sessions or streams, in total and by key (such as the caller). */

/** Counts open connections, sessions or streams, with a limit for all keys together and a limit for each key. */
export class KeyedLimit {
  readonly #max: number;
  readonly #maxPerKey: number;
  readonly #counts: Map<string, number> = new Map();
  #total = 0;

  /**
   * @param max The limit for all keys together.
   * @param maxPerKey The limit for each key, such as a caller.
   */
  constructor(max: number, maxPerKey: number) {
    this.#max = max;
    this.#maxPerKey = maxPerKey;
  }

  /** The current count of all keys together. */
  get total(): number {
    return this.#total;
  }

  /** Tells whether one more for this key would exceed the limit for all keys or that for one key; undefined if neither. */
  check(key: string): 'all' | 'key' | undefined {
    if (this.#total >= this.#max) return 'all';
    return (this.#counts.get(key) ?? 0) >= this.#maxPerKey ? 'key' : undefined;
  }

  /** Counts one more for this key. @returns false if that would exceed a limit; nothing is counted then. */
  acquire(key: string): boolean {
    if (this.check(key) !== undefined) return false;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#total++;
    return true;
  }

  /** Counts one less for this key. Does nothing for a key with a count of 0. */
  release(key: string): void {
    const count = this.#counts.get(key);
    if (count === undefined) return;
    this.#total--;
    if (count === 1) this.#counts.delete(key);
    else this.#counts.set(key, count - 1);
  }
}
