/** Counts what is open, in all and by the key of whoever opened it. */

/** A count with two bounds. */
export class KeyedLimit {
  readonly #max: number;
  readonly #maxPerKey: number;
  readonly #counts: Map<string, number> = new Map();
  #total = 0;

  constructor(max: number, maxPerKey: number) {
    this.#max = max;
    this.#maxPerKey = maxPerKey;
  }

  get total(): number {
    return this.#total;
  }

  /** Counts one more. @returns false where that would pass a bound; nothing is counted then. */
  acquire(key: string): boolean {
    const count = this.#counts.get(key) ?? 0;
    if (this.#total >= this.#max || count >= this.#maxPerKey) return false;
    this.#counts.set(key, count + 1);
    this.#total++;
    return true;
  }

  release(key: string): void {
    const count = this.#counts.get(key);
    if (count === undefined) return;
    this.#total--;
    if (count === 1) this.#counts.delete(key);
    else this.#counts.set(key, count - 1);
  }
}
