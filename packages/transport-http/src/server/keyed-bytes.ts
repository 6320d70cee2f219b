/** Counts bytes that are held for a while, in all and by the key of whoever sent them. */

export class KeyedBytes {
  readonly #max: number;
  readonly #maxPerKey: number;
  readonly #byKey: Map<string, number> = new Map();
  #total = 0;

  constructor(max: number, maxPerKey: number) {
    this.#max = max;
    this.#maxPerKey = maxPerKey;
  }

  /** Counts bytes in. @returns false where that would pass a bound; nothing is counted then. */
  take(key: string, bytes: number): boolean {
    const ofKey = (this.#byKey.get(key) ?? 0) + bytes;
    if (ofKey > this.#maxPerKey || this.#total + bytes > this.#max) return false;
    this.#byKey.set(key, ofKey);
    this.#total += bytes;
    return true;
  }

  /** Counts out what was counted in. */
  give(key: string, bytes: number): void {
    const left = (this.#byKey.get(key) ?? 0) - bytes;
    this.#total -= bytes;
    if (left > 0) this.#byKey.set(key, left);
    else this.#byKey.delete(key);
  }
}
