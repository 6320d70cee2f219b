/**
 * A response body that is written in pieces: an event stream or a large response. Texts sent in one turn of the event loop are written
 * together. Senders wait for a client that reads slowly, and the stream is aborted if the client reads nothing for too long.
 */

import type { ClockTimer } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { SSE_KEEP_ALIVE } from '../../sse/encode-event.ts';
import type { SharedState } from './shared-state.ts';

/** If more characters than this are queued, senders wait or the stream is aborted. */
const MAX_QUEUED = 1024 * 1024;
/** If senders do not wait, the stream is aborted when the queue is longer than this many times `MAX_QUEUED`. */
const BURST_FACTOR = 4;
/** Longer texts are written in pieces of this length. So a client that reads slowly is distinguished from one that reads nothing. */
const PIECE = 64 * 1024;

/** How often a comment is sent on an event stream without events, which keeps the connection open. */
const KEEP_ALIVE_MS = 15_000;

/** What happens when the client reads too slowly: senders `wait`, or the stream is `cut` (aborted). */
export type Overflow = 'wait' | 'cut';

/** Where a response body is written to: Node's response, or a web stream. */
export interface ByteSink {
  /** Writes a text. @returns false if the sink is full. It calls `onDrain` when it has room again. */
  write(text: string): boolean;
  /** How many bytes are written but not yet sent. */
  readonly queuedBytes: number;
  onDrain: (() => void) | undefined;
  end(): void;
  /** Aborts the connection, so that the client notices that the response is incomplete. */
  destroy(): void;
}

/** The options of a `ResponseStream`. */
export interface ResponseStreamOptions {
  readonly overflow: Overflow;
  /** Whether the body is an event stream. While it has no events, comments are sent, so that proxies keep the connection open. */
  readonly isEvents: boolean;
}

export class ResponseStream {
  readonly #sink: ByteSink;
  readonly #shared: SharedState;
  readonly #options: ResponseStreamOptions;
  /** The text that is not yet written to the sink. */
  #queue = '';
  /** Whether the sink is full. */
  #isFull = false;
  /** The timer that ends the current turn of the event loop. Texts sent before it fires are written together. */
  #busy: ReturnType<typeof setTimeout> | undefined;
  #state: 'open' | 'ending' | 'closed' = 'open';
  /** How many characters were sent in this turn of the event loop. The client could not read any of them yet. */
  #sentThisTurn = 0;
  /** The length of the longest text since the queue was last empty. A queue of one long text does not mean that the client is slow. */
  #longest = 0;
  #hasWritten = true;
  /** When the client stopped reading from the queue; undefined if it reads. */
  #stalledSinceMs: number | undefined;
  #timer: ClockTimer;
  #closeListeners: (() => void)[] = [];
  /** The callbacks of senders that wait until the queue has room. */
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

  /** Whether the stream has ended but the client has not yet read all of it. */
  get isEnding(): boolean {
    return this.#state === 'ending';
  }

  /** Calls `fn` once when the stream has ended or was aborted; immediately if it already has. */
  onClose(fn: () => void): void {
    if (this.isOpen) this.#closeListeners.push(fn);
    else fn();
  }

  /** Sends a text. Resolves when there is room for more or the stream has closed. Never rejects. */
  write(text: string): Promise<void> {
    if (!this.isOpen) return resolvedPromise;
    const queued = this.#queued;
    if (this.#isTooMuch(queued)) {
      this.cut();
      return resolvedPromise;
    }
    this.#add(text, queued);
    if (this.#busy === undefined) {
      // Writes the first text now, and collects later ones until the end of the turn.
      this.#busy = setTimeout(this.#onTurn, 0);
      queueMicrotask(this.#flush);
    }
    return queued + text.length <= MAX_QUEUED ? resolvedPromise : this.#waitForRoom();
  }

  /** Waits for room, then sends a text. Resolves when the text is sent or the stream has closed. Never rejects. */
  writeWhenRoom(text: string): Promise<void> {
    if ((this.#isFull || this.#queue !== '') && this.#queued > MAX_QUEUED) return this.#waitForRoom().then(() => this.writeWhenRoom(text));
    void this.write(text);
    return resolvedPromise;
  }

  /** Sends the queued text and a last one, then ends the stream. */
  end(lastText = ''): void {
    if (!this.isOpen) return;
    if (lastText !== '') this.#add(lastText, this.#queued);
    this.#state = 'ending';
    this.#flush();
    this.#tellClosed();
  }

  /** Aborts the connection: the client has left or reads too slowly, or the server closes. */
  cut(): void {
    if (this.#state === 'closed') return;
    this.#sink.destroy();
    this.#close();
  }

  #close(): void {
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

  /** Whether the client reads too slowly. Texts of the current turn of the event loop do not count. */
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
    this.#busy = undefined;
    this.#flush();
  };

  readonly #flush = (): void => {
    while (!this.#isFull && this.#queue !== '' && this.#state !== 'closed') this.#isFull = !this.#sink.write(this.#takePiece());
    if (!this.#isFull) this.#release();
    if (this.#state !== 'ending' || this.#queue !== '') return;
    this.#sink.end();
    this.#close();
  };

  #takePiece(): string {
    // Does not split a surrogate pair.
    const end = isHighSurrogate(this.#queue.charCodeAt(PIECE - 1)) ? PIECE - 1 : PIECE;
    const piece = this.#queue.length <= PIECE ? this.#queue : this.#queue.slice(0, end);
    this.#queue = this.#queue.slice(piece.length);
    return piece;
  }

  readonly #onDrain = (): void => {
    this.#isFull = false;
    // During a turn, a reader that takes each text at once gets them together at its end.
    if (this.#busy === undefined || this.#queue.length >= PIECE || this.#state === 'ending') this.#flush();
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

  /** Called by a timer: sends a comment on a stream without events, and aborts a stream whose client reads nothing. */
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
