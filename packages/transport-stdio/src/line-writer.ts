/** Writes lines to a stream: all lines of one tick in one write. Waits while the reader of the stream is slow (backpressure). */

import type { Writable } from 'node:stream';
import { ConnectionClosedError } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';

/** Writes UTF-8 text to a stream, as `Writable.write` does, and calls `done` once the stream has taken it. */
export type WriteText = (text: string, done: (error?: Error | null) => void) => boolean;

/** The stream, the limit and the callback of a `LineWriter`. */
export interface LineWriterOptions {
  readonly output: Writable;
  /** Writes text to `output`. On standard output this is the original `write`, because `guardStdout` replaces `output.write`. */
  readonly write: WriteText;
  /** The most bytes that may be queued for a slow reader. Above this, calls of `LineWriter.write` wait. */
  readonly maxQueuedBytes: number;
  /** Called when the queue was full and has room again. */
  onRoom(): void;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** Collects the lines of one tick of the event loop, and writes them to a stream together. */
export class LineWriter {
  readonly #options: LineWriterOptions;
  readonly #waiters: Waiter[] = [];
  #pending = '';
  #isScheduled = false;
  #writesUnderWay = 0;
  #isFull = false;
  #failure: ConnectionClosedError | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: LineWriterOptions) {
    this.#options = options;
  }

  /** True while so many bytes are queued for the reader that calls of `write` wait. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** How much text waits for the reader: the bytes in the stream, plus the characters of lines that are not in the stream yet. */
  get queued(): number {
    return this.#pending.length + this.#options.output.writableLength;
  }

  /**
   * Writes one line. Resolves at once, unless more than `maxQueuedBytes` are queued for the reader.
   *
   * @param line The text with its line end.
   * @throws {ConnectionClosedError} The stream failed, or the writer was stopped while this call waited.
   */
  write(line: string): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#pending += line;
    if (this.#pending.length >= WRITE_AT_ONCE) this.#flush();
    else this.#schedule();
    if (!this.#isFull) return resolvedPromise;
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** Resolves once the stream has taken all lines, or has failed. */
  idle(): Promise<void> {
    this.#flush();
    if (this.#writesUnderWay === 0 || this.#failure) return resolvedPromise;
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Accepts no more lines, and rejects the calls of `write` that wait. */
  stop(error: ConnectionClosedError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#pending = '';
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
    this.#onIdle?.();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // `nextTick` called in a microtask runs after all microtasks, so all responses to one chunk of requests leave together.
    process.nextTick(this.#flushScheduled);
  }

  readonly #flushScheduled = (): void => {
    this.#isScheduled = false;
    this.#flush();
  };

  #flush(): void {
    if (this.#pending.length === 0) return;
    const text = this.#pending;
    this.#pending = '';
    this.#writesUnderWay++;
    const hasRoom = this.#options.write(text, this.#onWritten);
    if (!hasRoom && this.#options.output.writableLength > this.#options.maxQueuedBytes) this.#isFull = true;
  }

  readonly #onWritten = (error?: Error | null): void => {
    this.#writesUnderWay--;
    if (error) this.stop(new ConnectionClosedError('The peer no longer reads messages', { cause: error }));
    else if (this.#isFull && this.#options.output.writableLength <= this.#options.maxQueuedBytes / 2) this.#makeRoom();
    if (this.#writesUnderWay === 0) this.#onIdle?.();
  };

  #makeRoom(): void {
    this.#isFull = false;
    for (const waiter of this.#waiters.splice(0)) waiter.resolve();
    this.#options.onRoom();
  }
}

/** Once this many characters are collected, they are written without waiting for the end of the tick. */
const WRITE_AT_ONCE = 64 * 1024;
