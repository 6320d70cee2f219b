/**
 * A body that is written piece by piece: an event stream, or an answer of megabytes. It writes what is sent in one turn of the event loop
 * at once, makes senders wait for a slow reader, and is cut when waiting does not help.
 */

import type { ClockTimer } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { SSE_KEEP_ALIVE } from '../../sse/encode-event.ts';
import type { SharedState } from './shared-state.ts';

/** How much may wait for a slow reader, in characters: then senders wait, or the stream is cut. */
const MAX_QUEUED = 1024 * 1024;
/** A stream whose senders are asked to wait, and do not, is cut at this many times as much. */
const BURST_FACTOR = 4;
/** A longer text goes out in pieces of this length, so that a reader that takes some of it is seen to. */
const PIECE = 64 * 1024;

/** How often a quiet stream gets a comment. */
const KEEP_ALIVE_MS = 15_000;

/** What a stream does when its reader is slower than its senders. */
export type Overflow = 'wait' | 'cut';

/** Where a body is written to: Node's response, or a web stream. */
export interface ByteSink {
  /** @returns false where the layer below is full: `onDrain` is called when it is not any more. */
  write(text: string): boolean;
  /** What was written and has not been taken by the layer below, in bytes. */
  readonly queuedBytes: number;
  onDrain: (() => void) | undefined;
  end(): void;
  /** Breaks the connection without an end, so that the client sees a loss. */
  destroy(): void;
}

/** How a stream behaves. */
export interface ResponseStreamOptions {
  readonly overflow: Overflow;
  /** Comments are sent when nothing else is, so that no proxy takes the connection for dead. */
  readonly isEvents: boolean;
}

export class ResponseStream {
  readonly #sink: ByteSink;
  readonly #shared: SharedState;
  readonly #options: ResponseStreamOptions;
  /** What the layer below has not been given yet. */
  #queue = '';
  /** The layer below is full, and will say when it is not. */
  #isFull = false;
  /** Runs while the stream is busy: what is sent meanwhile goes out together when it fires. */
  #busy: ReturnType<typeof setTimeout> | undefined;
  #state: 'open' | 'ending' | 'closed' = 'open';
  /** What was sent in this turn, in which no reader can take anything. */
  #sentThisTurn = 0;
  /** The longest text since the stream was last empty: a long one alone is no sign of a slow reader. */
  #longest = 0;
  #hasWritten = true;
  /** Since when the reader is known to have taken nothing of what waits for it. */
  #stalledSinceMs: number | undefined;
  #timer: ClockTimer;
  #closeListeners: (() => void)[] = [];
  /** Senders that wait until there is room. */
  #waiting: (() => void)[] = [];

  constructor(sink: ByteSink, shared: SharedState, options: ResponseStreamOptions) {
    this.#sink = sink;
    this.#shared = shared;
    this.#options = options;
    sink.onDrain = this.#onDrain;
    this.#timer = this.#schedule();
    shared.streams.add(this);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Whether it has ended, and its reader has not taken all of it. */
  get isEnding(): boolean {
    return this.#state === 'ending';
  }

  /** Calls `fn` once when the stream has ended or was cut; at once if it has. */
  onClose(fn: () => void): void {
    if (this.isOpen) this.#closeListeners.push(fn);
    else fn();
  }

  /** Sends a text. Resolves once there is room for more, or the stream has closed; never rejects. */
  write(text: string): Promise<void> {
    if (!this.isOpen) return resolvedPromise;
    const queued = this.#queued;
    if (this.#isTooMuch(queued)) {
      this.cut();
      return resolvedPromise;
    }
    this.#add(text, queued);
    if (this.#busy === undefined) {
      // The first goes at once. A handler that awaits each of its steps lets microtasks pass, but not the turn.
      this.#busy = setTimeout(this.#onTurn, 0);
      queueMicrotask(this.#flush);
    }
    return queued + text.length <= MAX_QUEUED ? resolvedPromise : this.#waitForRoom();
  }

  /** Sends a text that can wait, such as an answer, once there is room. Resolves when it is sent or the stream has closed; never rejects. */
  writeWhenRoom(text: string): Promise<void> {
    if ((this.#isFull || this.#queue !== '') && this.#queued > MAX_QUEUED) return this.#waitForRoom().then(() => this.writeWhenRoom(text));
    void this.write(text);
    return resolvedPromise;
  }

  /** Sends what is left and ends the stream. */
  end(lastText = ''): void {
    if (!this.isOpen) return;
    if (lastText !== '') this.#add(lastText, this.#queued);
    this.#state = 'ending';
    this.#flush();
    this.#tellClosed();
  }

  /** Breaks the connection: the reader is too slow, or the server closes for good. */
  cut(): void {
    if (this.#state === 'closed') return;
    this.#sink.destroy();
    this.closed();
  }

  /** The connection is gone, whoever ended it. */
  closed(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#queue = '';
    clearTimeout(this.#busy);
    this.#timer.cancel();
    this.#shared.streams.delete(this);
    this.#shared.checkIdle();
    this.#tellClosed();
  }

  get #queued(): number {
    return this.#sink.queuedBytes + this.#queue.length;
  }

  /** Not for the turn that its sender is still in. */
  get #waitsForReader(): boolean {
    return this.#sink.queuedBytes > 0 || (this.#isFull && this.#queue !== '');
  }

  #isTooMuch(queued: number): boolean {
    if (queued > MAX_QUEUED * BURST_FACTOR + this.#longest) return true;
    return this.#options.overflow === 'cut' && queued - this.#sentThisTurn > MAX_QUEUED + this.#longest;
  }

  #add(text: string, queued: number): void {
    this.#longest = queued === 0 ? text.length : Math.max(this.#longest, text.length);
    this.#sentThisTurn += text.length;
    this.#queue += text;
    this.#hasWritten = true;
  }

  readonly #onTurn = (): void => {
    this.#sentThisTurn = 0;
    this.#busy = this.#queue === '' ? undefined : setTimeout(this.#onTurn, 0);
    this.#flush();
  };

  readonly #flush = (): void => {
    while (!this.#isFull && this.#queue !== '' && this.#state !== 'closed') this.#isFull = !this.#sink.write(this.#takePiece());
    if (!this.#isFull) this.#release();
    if (this.#state !== 'ending' || this.#queue !== '') return;
    this.#sink.end();
    this.closed();
  };

  #takePiece(): string {
    // Not between the two halves of a character.
    const end = isHighSurrogate(this.#queue.charCodeAt(PIECE - 1)) ? PIECE - 1 : PIECE;
    const piece = this.#queue.length <= PIECE ? this.#queue : this.#queue.slice(0, end);
    this.#queue = this.#queue.slice(piece.length);
    return piece;
  }

  readonly #onDrain = (): void => {
    this.#isFull = false;
    this.#flush();
    this.#stalledSinceMs = this.#waitsForReader ? this.#shared.settings.clock.monotonicMs() : undefined;
  };

  #waitForRoom(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #tellClosed(): void {
    this.#release();
    for (const listener of this.#closeListeners.splice(0)) listener();
  }

  #schedule(): ClockTimer {
    const { clock, stallMs } = this.#shared.settings;
    return clock.schedule(this.#look, Math.min(KEEP_ALIVE_MS, stallMs));
  }

  /** Keeps a quiet connection alive, and ends one whose reader takes nothing. */
  readonly #look = (): void => {
    const { clock, stallMs } = this.#shared.settings;
    if (!this.#waitsForReader) {
      this.#stalledSinceMs = undefined;
      if (!this.#hasWritten && this.isOpen && this.#options.isEvents) this.#sink.write(SSE_KEEP_ALIVE);
    } else {
      const now = clock.monotonicMs();
      this.#stalledSinceMs ??= now;
      if (now - this.#stalledSinceMs >= stallMs) return this.cut();
    }
    this.#hasWritten = false;
    this.#timer = this.#schedule();
  };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
