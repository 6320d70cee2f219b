/**
 * One open event stream: gathers what is sent in one turn of the event loop into one write, makes senders wait for a slow reader, and
 * is cut when waiting does not help.
 */

import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { SSE_KEEP_ALIVE } from '../sse/encode-event.ts';
import { Beat } from './beat.ts';
import type { ByteSink } from './http-request.ts';
import type { Settings } from './options.ts';

/** How much more than the bound may lie in a stream whose senders wait, or come from one turn, in which no reader can take anything. */
const BURST_FACTOR = 4;

/** What a stream does when its reader is slower than its senders. */
export type Overflow = 'wait' | 'cut';

export class SseStream {
  readonly #bytes: ByteSink;
  readonly #pulse: StreamPulse;
  readonly #overflow: Overflow;
  #pending = '';
  /** Runs while the stream is busy: what is sent meanwhile goes out together when it fires. */
  #busy: ReturnType<typeof setTimeout> | undefined;
  #isOpen = true;
  #hasWritten = true;
  /** In a row, with nothing taken since the one before; -1 while nothing is there to take. */
  #idleLooks = -1;
  /** How much was untaken when it was last looked at, with what was written since. */
  #toTake = 0;
  /** What was sent in this turn, in characters. */
  #fresh = 0;
  /** The longest text since the stream was last empty: one that is long is no sign of a slow reader. */
  #longest = 0;
  #closeListeners: (() => void)[] = [];
  /** The layer below is full, and tells when it is not any more. */
  #willDrain = false;
  #drained: Promise<void> | undefined;
  #resolveDrained: (() => void) | undefined;

  constructor(bytes: ByteSink, pulse: StreamPulse, overflow: Overflow) {
    this.#bytes = bytes;
    this.#pulse = pulse;
    this.#overflow = overflow;
    bytes.onDrain = this.#onDrain;
    pulse.add(this);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Calls `fn` once when the stream has ended or was cut; at once if it has. */
  onClose(fn: () => void): void {
    if (this.#isOpen) this.#closeListeners.push(fn);
    else fn();
  }

  /**
   * Sends a piece of the stream. Resolves once it is handed to the layer below, or the stream has closed; never rejects.
   */
  write(text: string): Promise<void> {
    if (!this.#isOpen) return resolvedPromise;
    const queuedBefore = this.#queued;
    if (this.#isOver(queuedBefore)) {
      this.cut();
      return resolvedPromise;
    }
    this.#longest = queuedBefore === 0 ? text.length : Math.max(this.#longest, text.length);
    this.#fresh += text.length;
    this.#pending += text;
    this.#hasWritten = true;
    if (this.#busy === undefined) {
      // The first goes at once. A handler that awaits each of its steps lets microtasks pass, but not the turn.
      this.#busy = setTimeout(this.#onTurn, 0);
      queueMicrotask(this.#flush);
    }
    return queuedBefore + text.length <= this.#pulse.maxQueuedBytes ? resolvedPromise : this.#waitForDrain();
  }

  /** Sends a piece that can wait, such as an answer, once there is room. Resolves when it is sent or the stream has closed; never rejects. */
  writeWhenRoom(text: string): Promise<void> {
    const room = this.room;
    if (room !== undefined) return room.then(() => this.writeWhenRoom(text));
    void this.write(text);
    return resolvedPromise;
  }

  /** Resolves when there may be room again, or the stream has closed; undefined where there is room. */
  get room(): Promise<void> | undefined {
    const isToldOfRoom = this.#willDrain || this.#pending !== '';
    return isToldOfRoom && this.#queued > this.#pulse.maxQueuedBytes ? this.#waitForDrain() : undefined;
  }

  /** Sends what is left and ends the stream. */
  end(lastText = ''): void {
    if (!this.#isOpen) return;
    this.#pending += lastText;
    this.#flush();
    this.#bytes.end();
    this.closed();
  }

  /** Breaks the connection: the reader is too slow, or the server closes for good. */
  cut(): void {
    if (!this.#isOpen) return;
    this.#pending = '';
    this.#bytes.destroy();
    this.closed();
  }

  /** The connection is gone, whoever ended it. */
  closed(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#pending = '';
    clearTimeout(this.#busy);
    this.#pulse.delete(this);
    this.#release();
    for (const listener of this.#closeListeners.splice(0)) listener();
  }

  /** Called in a steady rhythm: keeps a quiet connection alive and ends one whose reader takes nothing. */
  look(maxIdleLooks: number): void {
    const { queuedBytes: queued, untaken } = this.#bytes;
    // What is left may be more than before though its reader takes what it can: others write on.
    if (queued === 0) this.#idleLooks = -1;
    else this.#idleLooks = untaken < this.#toTake ? 0 : this.#idleLooks + 1;
    this.#toTake = untaken;
    if (this.#idleLooks >= maxIdleLooks) this.cut();
    else if (!this.#hasWritten && queued === 0) this.#bytes.write(SSE_KEEP_ALIVE);
    this.#hasWritten = false;
  }

  get #queued(): number {
    return this.#isOpen ? this.#bytes.queuedBytes + this.#pending.length : 0;
  }

  #isOver(queued: number): boolean {
    const max = this.#pulse.maxQueuedBytes;
    if (queued > max * BURST_FACTOR + this.#longest) return true;
    return this.#overflow === 'cut' && queued - this.#fresh > max + this.#longest;
  }

  readonly #onTurn = (): void => {
    this.#fresh = 0;
    this.#busy = this.#pending === '' ? undefined : setTimeout(this.#onTurn, 0);
    this.#flush();
  };

  readonly #flush = (): void => {
    if (!this.#isOpen || this.#pending === '') return;
    const text = this.#pending;
    this.#pending = '';
    const untakenBefore = this.#bytes.untaken;
    this.#willDrain = !this.#bytes.write(text);
    this.#toTake += this.#bytes.untaken - untakenBefore;
    if (!this.#willDrain) this.#release();
  };

  #waitForDrain(): Promise<void> {
    this.#drained ??= new Promise<void>((resolve) => (this.#resolveDrained = resolve));
    return this.#drained;
  }

  readonly #onDrain = (): void => {
    this.#willDrain = false;
    this.#release();
  };

  readonly #release = (): void => {
    const resolve = this.#resolveDrained;
    this.#drained = undefined;
    this.#resolveDrained = undefined;
    resolve?.();
  };
}

/** One timer for all open streams. */
export class StreamPulse {
  readonly maxQueuedBytes: number;
  readonly #beat: Beat;
  readonly #maxIdleLooks: number;
  readonly #streams: Set<SseStream> = new Set();

  constructor(settings: Pick<Settings, 'clock' | 'keepAliveMs' | 'stallMs' | 'maxQueuedBytes'>) {
    this.maxQueuedBytes = settings.maxQueuedBytes;
    const everyMs = Math.min(settings.keepAliveMs, settings.stallMs);
    this.#maxIdleLooks = Math.max(1, Math.ceil(settings.stallMs / everyMs));
    this.#beat = new Beat(settings.clock, everyMs, () => this.#lookAtAll());
  }

  /** How many streams are open. */
  get size(): number {
    return this.#streams.size;
  }

  add(stream: SseStream): void {
    this.#streams.add(stream);
    this.#beat.start();
  }

  delete(stream: SseStream): void {
    this.#streams.delete(stream);
  }

  close(): void {
    for (const stream of this.#streams) stream.cut();
    this.#beat.stop();
  }

  #lookAtAll(): boolean {
    for (const stream of this.#streams) stream.look(this.#maxIdleLooks);
    return this.#streams.size > 0;
  }
}
