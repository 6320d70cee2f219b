/** A small transport that keeps every promise, and can be made to break one of them. Bytes and all, so that every case applies. */

import {
  ConnectionClosedError,
  type JsonRpcMessage,
  MessageTooLargeError,
  ParseError,
  type Transport,
  UsageError,
} from '@mortise/jsonrpc-core';
import type { PairOptions, TransportPair, TransportSetup } from '@mortise/transport-testkit';

/** The ways in which the transport can be wrong. */
export type TransportDefect =
  | 'delivers before start'
  | 'loses what came before start'
  | 'starts twice'
  | 'starts after close'
  | 'swaps messages'
  | 'lets short messages overtake'
  | 'delivers within a delivery'
  | 'never resolves send'
  | 'takes messages before start'
  | 'takes messages after close'
  | 'leaves a waiting send'
  | 'calls onclose twice'
  | 'never calls onclose'
  | 'delivers after onclose'
  | 'drops messages on close'
  | 'hangs on a second close'
  | 'hangs on close before start'
  | 'hides garbage'
  | 'dies of garbage'
  | 'judges messages'
  | 'reads invalid UTF-8'
  | 'has no bound'
  | 'has a bound too low'
  | 'stalls after a long message'
  | 'dies of a throwing onmessage'
  | 'hides what onmessage throws'
  | 'dies of a throwing onerror'
  | 'hides what onclose throws'
  | 'ends lines at U+2028'
  | 'decodes chunks alone'
  | 'cuts long messages'
  | 'repeats a message'
  | 'loses a message'
  | 'never waits'
  | 'blocks'
  | 'shares a wire'
  | 'leaves a timer'
  | 'leaves a timer unused';

const ENOUGH_BYTES = 256 * 1024;
const encoder = new TextEncoder();
let sharedEnds: TestEnd[] = [];
const leftTimers: ReturnType<typeof setInterval>[] = [];

/** Clears what "leaves a timer" has left. */
export function clearLeftTimers(): void {
  for (const timer of leftTimers.splice(0)) clearInterval(timer);
}

export function createTestSetup(defect?: TransportDefect): TransportSetup {
  sharedEnds = [];
  return {
    traits: { bound: true, frames: true, chunks: true, backpressure: true, independentStart: true, handles: true },
    async createPair(options) {
      const [client, server] = [new TestEnd(defect, options), new TestEnd(defect, options)];
      client.peer = server;
      server.peer = client;
      sharedEnds.push(client, server);
      if (defect === 'leaves a timer unused') leftTimers.push(setInterval(() => undefined, 60_000));
      const pair: TransportPair = {
        client,
        server,
        async injectFrame(to, frame, chunkBytes = Infinity) {
          const end = to === 'client' ? client : server;
          const bytes = new Uint8Array([...frame, 10]);
          for (let from = 0; from < bytes.length; from += chunkBytes)
            end.receive(bytes.slice(from, Math.min(from + chunkBytes, bytes.length)));
        },
        close: async () => undefined,
      };
      return pair;
    },
  };
}

class TestEnd implements Transport {
  onmessage?: ((message: JsonRpcMessage) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  peer: TestEnd | undefined;
  readonly #defect: TransportDefect | undefined;
  readonly #maxBytes: number;
  #state: 'new' | 'open' | 'closed' = 'new';
  #isPeerGone = false;
  #isDead = false;
  #wire: Uint8Array[] = [];
  #wireBytes = 0;
  #held = new Uint8Array();
  #decoded = '';
  #decoder = new TextDecoder();
  #waiting: { resolve(): void; reject(error: Error): void }[] = [];
  #isScheduled = false;
  #count = 0;
  #delayed: Uint8Array | undefined;
  #closing: Promise<void> | undefined;

  constructor(defect: TransportDefect | undefined, options: PairOptions = {}) {
    this.#defect = defect;
    this.#maxBytes = options.maxMessageBytes ?? Infinity;
  }

  async start(): Promise<void> {
    if (this.#state === 'open' && !this.#has('starts twice')) throw new Error('started twice');
    if (this.#state === 'closed' && !this.#has('starts after close')) throw new ConnectionClosedError();
    if (this.#state === 'closed') return;
    this.#state = 'open';
    if (this.#has('leaves a timer')) leftTimers.push(setInterval(() => undefined, 60_000));
    if (this.#has('loses what came before start')) this.#wire = [];
    this.#schedule();
  }

  async send(message: JsonRpcMessage): Promise<void> {
    if (this.#state === 'new' && !this.#has('takes messages before start')) throw new UsageError('ERR_NOT_CONNECTED');
    if ((this.#state === 'closed' || this.#isPeerGone) && !this.#has('takes messages after close')) throw new ConnectionClosedError();
    let text = JSON.stringify(message);
    if (this.#has('cuts long messages')) text = text.slice(0, 200_000);
    const bytes = encoder.encode(`${text}\n`);
    const count = this.#count++;
    if (this.#has('loses a message') && count === 5000) return;
    if (this.#has('swaps messages') && count === 50) return void (this.#delayed = bytes);
    if (this.#has('lets short messages overtake') && bytes.length > 50_000) await new Promise((resolve) => setTimeout(resolve, 5));
    this.#transmit(bytes);
    if (this.#delayed) this.#transmit(this.#delayed);
    this.#delayed = undefined;
    if (this.#has('repeats a message') && count === 5000) this.#transmit(bytes);
    if (this.#has('never resolves send')) await new Promise(() => undefined);
    if (this.peer && this.peer.#wireBytes > ENOUGH_BYTES && !this.#has('never waits')) await this.peer.#room();
    if (this.#has('blocks') && count === 30) await new Promise(() => undefined);
  }

  close(): Promise<void> {
    if (this.#closing && this.#has('hangs on a second close')) return new Promise(() => undefined);
    if (this.#state === 'new' && this.#has('hangs on close before start')) return new Promise(() => undefined);
    return (this.#closing ??= this.#end());
  }

  receive(bytes: Uint8Array): void {
    if (this.#state === 'closed') return;
    this.#wire.push(bytes);
    this.#wireBytes += bytes.length;
    if (this.#has('delivers before start')) return this.#read();
    if (this.#has('delivers within a delivery')) return this.#state === 'open' ? this.#read() : undefined;
    this.#schedule();
  }

  #transmit(bytes: Uint8Array): void {
    if (this.#has('shares a wire')) for (const end of sharedEnds) if (end !== this && end !== this.peer) end.receive(bytes);
    this.peer?.receive(bytes);
  }

  #room(): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#state !== 'open') return;
    this.#isScheduled = true;
    const read = (): void => {
      this.#isScheduled = false;
      this.#read();
    };
    if (this.#has('drops messages on close')) setTimeout(read, 1);
    else queueMicrotask(read);
  }

  #read(): void {
    for (let chunk = this.#wire.shift(); chunk && !this.#isDead; chunk = this.#wire.shift()) {
      this.#wireBytes -= chunk.length;
      if (this.#wireBytes < ENOUGH_BYTES) for (const { resolve } of this.#waiting.splice(0)) resolve();
      this.#cut(chunk);
      if (this.#state === 'closed') return;
    }
    if (this.#isPeerGone && this.#state === 'open') void this.close();
  }

  #cut(chunk: Uint8Array): void {
    if (this.#has('decodes chunks alone')) return this.#cutText(new TextDecoder().decode(chunk), /\n/);
    if (this.#has('ends lines at U+2028')) return this.#cutText(this.#decoder.decode(chunk, { stream: true }), /[\n\u2028]/);
    const bytes = new Uint8Array(this.#held.length + chunk.length);
    bytes.set(this.#held);
    bytes.set(chunk, this.#held.length);
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      this.#onFrame(bytes.subarray(from, end));
      from = end + 1;
    }
    this.#held = bytes.slice(from);
  }

  #cutText(text: string, lineEnd: RegExp): void {
    const lines = (this.#decoded + text).split(lineEnd);
    this.#decoded = lines.pop() ?? '';
    for (const line of lines) this.#onFrame(encoder.encode(line));
  }

  #onFrame(frame: Uint8Array): void {
    if (this.#isDead || (this.#state === 'closed' && !this.#has('delivers after onclose'))) return;
    const maxBytes = this.#has('has no bound') ? Infinity : this.#has('has a bound too low') ? this.#maxBytes - 1 : this.#maxBytes;
    if (frame.length > maxBytes) {
      this.#isDead = this.#has('stalls after a long message');
      return this.#report(new MessageTooLargeError(maxBytes));
    }
    const message = this.#parse(frame);
    if (message !== undefined) this.#deliver(message);
  }

  #parse(frame: Uint8Array): JsonRpcMessage | undefined {
    try {
      const text = new TextDecoder('utf-8', { fatal: !this.#has('reads invalid UTF-8') }).decode(frame);
      const message = JSON.parse(text) as JsonRpcMessage;
      if (this.#has('judges messages') && (message as { jsonrpc?: unknown } | null)?.jsonrpc !== '2.0') throw new Error('not a message');
      return message;
    } catch (error) {
      this.#isDead = this.#has('dies of garbage');
      if (!this.#has('hides garbage')) this.#report(new ParseError('garbage', { cause: error }));
      return undefined;
    }
  }

  #deliver(message: JsonRpcMessage): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.#isDead = this.#has('dies of a throwing onmessage');
      if (!this.#has('hides what onmessage throws')) this.#report(error as Error);
    }
  }

  #report(error: Error): void {
    try {
      this.onerror?.(error);
    } catch {
      this.#isDead = this.#has('dies of a throwing onerror');
    }
  }

  async #end(): Promise<void> {
    this.#state = 'closed';
    const { peer } = this;
    const closed = new ConnectionClosedError();
    const waiting = [...this.#waiting.splice(0), ...(peer ? peer.#waiting.splice(0) : [])];
    if (!this.#has('leaves a waiting send')) for (const { reject } of waiting) reject(closed);
    if (peer) {
      peer.#isPeerGone = true;
      if (this.#has('drops messages on close')) peer.#wire = [];
      if (!this.#has('never calls onclose')) peer.#schedule();
    }
    await Promise.resolve();
    for (let calls = this.#has('calls onclose twice') ? 2 : 1; calls > 0; calls--) {
      try {
        this.onclose?.();
      } catch (error) {
        if (!this.#has('hides what onclose throws')) this.#report(error as Error);
      }
    }
    if (this.#has('delivers after onclose')) this.#read();
  }

  #has(defect: TransportDefect): boolean {
    return this.#defect === defect;
  }
}
