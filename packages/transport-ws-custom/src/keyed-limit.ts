/** Counts what is open, in all and by whoever opened it. */

export class KeyedLimit {
  readonly #max: number;
  readonly #maxPerKey: number;
  readonly #counts = new Map<string, number>();
  #total = 0;

  constructor(max: number, maxPerKey: number) {
    this.#max = max;
    this.#maxPerKey = maxPerKey;
  }

  get total(): number {
    return this.#total;
  }

  /** Which bound one more would pass. */
  check(key: string): 'all' | 'key' | undefined {
    if (this.#total >= this.#max) return 'all';
    return (this.#counts.get(key) ?? 0) >= this.#maxPerKey ? 'key' : undefined;
  }

  /** Counts one more. @returns Takes it back, once. */
  acquire(key: string): () => void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#total++;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#release(key);
    };
  }

  #release(key: string): void {
    const count = this.#counts.get(key) ?? 0;
    this.#total--;
    if (count <= 1) this.#counts.delete(key);
    else this.#counts.set(key, count - 1);
  }
}
