/** First in, first out, at constant cost however many wait; an array's own `shift` moves all the others. */
export class Fifo<T> {
  #values: T[] = [];
  #head = 0;

  get length(): number {
    return this.#values.length - this.#head;
  }

  push(value: T): void {
    this.#values.push(value);
  }

  shift(): T | undefined {
    if (this.#head >= this.#values.length) return undefined;
    const value = this.#values[this.#head];
    // The slot is emptied so that what was taken can be collected.
    this.#values[this.#head] = undefined as T;
    this.#head++;
    if (this.#head === this.#values.length) {
      this.#values.length = 0;
      this.#head = 0;
    } else if (this.#head >= 1024 && this.#head * 2 >= this.#values.length) {
      this.#values = this.#values.slice(this.#head);
      this.#head = 0;
    }
    return value;
  }

  /** Takes everything out. */
  takeAll(): T[] {
    const values = this.#values.slice(this.#head);
    this.clear();
    return values;
  }

  clear(): void {
    this.#values.length = 0;
    this.#head = 0;
  }
}
