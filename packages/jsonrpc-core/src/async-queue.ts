/** A queue between a producer that pushes and a consumer that reads with `for await`, bounded on purpose. */

import { Fifo } from './fifo.ts';

/** How a queue lets go of its source. */
export interface AsyncQueueOptions {
  /** Called once, when the reader leaves the loop or the queue is closed or fails: releases the source. @default none */
  readonly onEnd?: (() => void) | undefined;
}

/** How many values may wait. */
const MAX_LENGTH = 1024;

interface Reader<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

/**
 * A bounded queue that is read once, as an async iterable.
 *
 * Values come out in the order in which they were pushed. After `close` the reader still gets what waits and then the end;
 * after `fail` it gets what waits and then the error. Leaving the loop drops the rest and calls `onEnd`.
 */
export class AsyncQueue<T> implements AsyncIterableIterator<T, undefined> {
  #onEnd: (() => void) | undefined;
  readonly #values = new Fifo<T>();
  readonly #readers = new Fifo<Reader<T>>();
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: AsyncQueueOptions = {}) {
    this.#onEnd = options.onEnd;
  }

  /** How many values wait. */
  get length(): number {
    return this.#values.length;
  }

  /** True once `close` or `fail` was called, or the reader has left. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Adds a value. Returns false, and drops it, if the queue is full or has ended. */
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

  /** Ends the queue: the reader gets what still waits, then the end. */
  close(): void {
    if (this.#isEnded) return;
    this.#end();
    for (const reader of this.#readers.takeAll()) reader.resolve({ value: undefined, done: true });
  }

  /** Ends the queue with an error: the reader gets what still waits, then the error, once. */
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
