/** A queue, an async queue and a map helper for values that are added and removed often. */

/** A first-in, first-out queue whose `shift` takes constant time, unlike an array's. */
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
    // Emptied so that the value can be garbage-collected.
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

  /** Removes all values from the queue and returns them. */
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

/** How many values an `AsyncQueue` can hold. */
const MAX_LENGTH = 1024;

interface Reader<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

/**
 * A bounded queue that is read once, as an async iterable.
 *
 * Values come out in the order in which they were pushed. After `close` the reader gets the remaining values and then the end. After `fail` it gets
 * the remaining values and then the error. Leaving the loop drops the rest and calls `onEnd`.
 */
export class AsyncQueue<T> implements AsyncIterableIterator<T, undefined> {
  #onEnd: (() => void) | undefined;
  readonly #values = new Fifo<T>();
  readonly #readers = new Fifo<Reader<T>>();
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;

  /** @param onEnd Called once to release the queue's source, when the reader leaves the loop or the queue is closed or fails. */
  constructor(onEnd?: () => void) {
    this.#onEnd = onEnd;
  }

  /** How many values are queued. */
  get length(): number {
    return this.#values.length;
  }

  /** Whether the queue has ended: after `close` or `fail`, or after the reader has left the loop. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Adds a value. Returns false, and drops the value, if the queue is full or has ended. */
  push(value: T): boolean {
    if (this.#isEnded) return false;
    const reader = this.#readers.shift();
    if (reader) {
      reader.resolve({ value, done: false });
      return true;
    }
    if (this.length >= MAX_LENGTH) return false;
    this.#values.push(value);
    return true;
  }

  /** Ends the queue. The reader gets the remaining values and then the end. */
  close(): void {
    if (this.#isEnded) return;
    this.#end();
    for (const reader of this.#readers.takeAll()) reader.resolve({ value: undefined, done: true });
  }

  /** Ends the queue with an error. The reader gets the remaining values, then the error, once. */
  fail(error: unknown): void {
    if (this.#isEnded) return;
    const [first, ...others] = this.#readers.takeAll();
    if (first) first.reject(error);
    else this.#failure = { error };
    this.#end();
    for (const reader of others) reader.resolve({ value: undefined, done: true });
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.length > 0) return Promise.resolve({ value: this.#values.shift() as T, done: false });
    if (this.#failure) {
      const { error } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(error as Error);
    }
    if (this.#isEnded) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => this.#readers.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#values.clear();
    this.#failure = undefined;
    this.close();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(): void {
    this.#isEnded = true;
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.();
  }
}

const RENEW_AFTER = 2048;

/**
 * Returns a fresh copy of the map after every 2,048 deletions, else the same map. This keeps a map fast whose entries are added and removed often.
 *
 * V8 grows a map by a new table that the old one points to. Once an old table is in the old generation, V8 keeps every newer table and all values
 *    that were ever in them until the next full collection. Measured on Node 20 with 64 calls in flight, that was more than a third of the time of a
 *    call in memory. A fresh map ends the chain.
 *
 * @param deletions How many entries have been deleted so far.
 */
export function renewMap<Id, Value>(map: Map<Id, Value>, deletions: number): Map<Id, Value> {
  return deletions % RENEW_AFTER === 0 ? new Map(map) : map;
}
