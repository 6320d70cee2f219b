/** From lines to a stream: the lines of one tick leave in one write, and a writer that is ahead of its reader waits. */

import type { Writable } from 'node:stream';
import { ConnectionClosedError } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';

/** Writes text to a stream and calls back once the layer below has taken it; `Writable.write` with its encoding given. */
export type WriteText = (text: string, done: (error?: Error | null) => void) => boolean;

/** Where a `LineWriter` writes and how much may wait there. */
export interface LineWriterOptions {
  readonly output: Writable;
  /** Writes to `output`, where its own `write` has been taken away. */
  readonly write: WriteText;
  /** How many bytes may be queued before `write` waits. */
  readonly maxQueuedBytes: number;
  /** Called when a full queue has room again. */
  onRoom(): void;
}

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** Collects the lines of a tick and writes them together. */
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

  /** True while `write` waits. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** How much waits to be taken by the layer below: bytes, or characters where they have not been encoded. */
  get queued(): number {
    return this.#pending.length + this.#options.output.writableLength;
  }

  /**
   * Takes one line. Resolves once it is handed down, which is later only while the queue is full.
   *
   * @param line With its end.
   * @throws {ConnectionClosedError} The stream failed, or the writer was stopped before the line was handed down.
   */
  write(line: string): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    this.#pending += line;
    if (this.#pending.length >= WRITE_AT_ONCE) this.#flush();
    else this.#schedule();
    if (!this.#isFull) return resolvedPromise;
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** Resolves once everything has been taken by the layer below, or cannot be any more. */
  idle(): Promise<void> {
    this.#flush();
    if (this.#writesUnderWay === 0 || this.#failure) return resolvedPromise;
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Takes nothing more; what waits is rejected. */
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
    // A tick that is asked for in a microtask comes after all microtasks: the answers of one chunk of requests leave together.
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
    if (error) this.stop(new ConnectionClosedError('The peer does not read any more', { cause: error }));
    else if (this.#isFull && this.#options.output.writableLength <= this.#options.maxQueuedBytes / 2) this.#makeRoom();
    if (this.#writesUnderWay === 0) this.#onIdle?.();
  };

  #makeRoom(): void {
    this.#isFull = false;
    for (const waiter of this.#waiters.splice(0)) waiter.resolve();
    this.#options.onRoom();
  }
}

/** So much text is not held back for more. */
const WRITE_AT_ONCE = 64 * 1024;
