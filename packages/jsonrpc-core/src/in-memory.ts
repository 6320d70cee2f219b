/** Two connected transports within one process, which pass message objects instead of bytes. */

import { checkOptions } from './check-options.ts';
import { ConnectionClosedError, UsageError } from './errors.ts';
import { Fifo } from './collections.ts';
import type { JsonRpcMessage } from './message.ts';
import { parseJson } from './parse-json.ts';
import { type MessageInfo, resolvedPromise, type Transport } from './transport/transport.ts';
import { serializeMessage } from './serialize-message.ts';
import { emitClose, emitError, toError } from './transport/hold-transport.ts';

/** How an in-memory pair passes messages on. */
export interface InMemoryOptions {
  /**
   * `reference` passes the message objects themselves, which is fastest. Neither side may change a message afterwards. `json` writes and parses each
   * message, so that a value that JSON cannot represent fails as it would on a real wire.
   *
   * @default 'reference'
   */
  readonly passBy?: 'reference' | 'json' | undefined;
  /** Passed with every message to both ends, for example to name the sender. @default none */
  readonly info?: MessageInfo | undefined;
}

/** Makes two unstarted transports, each the other's peer. @throws {TypeError} An unknown option. */
export function createInMemoryPair(options: InMemoryOptions = {}): [InMemoryTransport, InMemoryTransport] {
  return InMemoryTransport.createLinkedPair(options);
}

/** How many messages may wait for a reader. While the queue is full, `send` waits. */
const MAX_QUEUED = 1024;

interface WaitingSend {
  readonly item: JsonRpcMessage | string;
  resolve(): void;
  reject(error: Error): void;
}

/** How many messages are delivered in a row before timers and sockets get their turn. Otherwise two busy peers would block them. */
const MAX_DELIVERIES_IN_A_ROW = 2048;

/**
 * One end of an in-memory pair. Gives the guarantees T1 to T14 that `Transport` lists, except those about bytes.
 *
 * Messages arrive in a later microtask, never while `send` runs. An end that closes drops the messages that it has not received yet. The other end
 * still receives everything sent before, and then closes too.
 */
export class InMemoryTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;

  readonly #passesJson: boolean;
  readonly #info: MessageInfo | undefined;
  /** The received messages that are not delivered yet, as objects or as text. */
  readonly #inbox = new Fifo<JsonRpcMessage | string>();
  /** The messages that the peer is sending while the inbox is full. */
  readonly #waiting = new Fifo<WaitingSend>();
  readonly #closed: Promise<void>;
  #resolveClosed: () => void = () => undefined;
  #peer: InMemoryTransport | undefined;
  #state: 'new' | 'open' | 'closed' = 'new';
  #isPeerGone = false;
  #isScheduled = false;
  #delivered = 0;

  private constructor(options: InMemoryOptions) {
    this.#passesJson = options.passBy === 'json';
    this.#info = options.info;
    this.#closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** Makes two unstarted transports, each the other's peer. */
  static createLinkedPair(options: InMemoryOptions = {}): [InMemoryTransport, InMemoryTransport] {
    checkOptions('in-memory options', options, { passBy: 'string', info: 'object' });
    const one = new InMemoryTransport(options);
    const other = new InMemoryTransport(options);
    one.#peer = other;
    other.#peer = one;
    return [one, other];
  }

  /**
   * @throws {UsageError} `ERR_ALREADY_STARTED`: `start` was called before.
   * @throws {ConnectionClosedError} After `close`.
   */
  start(): Promise<void> {
    if (this.#state === 'open') return Promise.reject(new UsageError('ERR_ALREADY_STARTED'));
    if (this.#state === 'closed') return Promise.reject(new ConnectionClosedError());
    this.#state = 'open';
    this.#schedule();
    return resolvedPromise;
  }

  /**
   * @throws {UsageError} `ERR_NOT_CONNECTED`: `start` was not called before.
   * @throws {ConnectionClosedError} Once either end has closed, also while waiting.
   * @throws {UsageError} `ERR_SERIALIZE`: with `passBy: 'json'`, JSON cannot represent the message.
   */
  send(message: JsonRpcMessage): Promise<void> {
    const peer = this.#peer;
    if (this.#state === 'new') return Promise.reject(new UsageError('ERR_NOT_CONNECTED'));
    if (this.#state === 'closed' || this.#isPeerGone || !peer) return Promise.reject(new ConnectionClosedError());
    if (!this.#passesJson) return peer.#accept(message);
    try {
      return peer.#accept(serializeMessage(message));
    } catch (error) {
      return Promise.reject(toError(error));
    }
  }

  close(): Promise<void> {
    if (this.#state !== 'closed') {
      this.#inbox.clear();
      this.#end();
      if (this.#peer) this.#peer.#onPeerGone();
    }
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(item: JsonRpcMessage | string): Promise<void> {
    if (this.#inbox.length >= MAX_QUEUED) {
      return new Promise((resolve, reject) => this.#waiting.push({ item, resolve, reject }));
    }
    this.#inbox.push(item);
    this.#schedule();
    return resolvedPromise;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#state !== 'open') return;
    this.#isScheduled = true;
    queueMicrotask(this.#drain);
  }

  readonly #drain = (): void => {
    this.#isScheduled = false;
    while (this.#state === 'open') {
      const item = this.#inbox.shift();
      if (item === undefined) break;
      if (this.#waiting.length > 0) this.#letOneIn();
      this.#deliver(item);
      if (++this.#delivered % MAX_DELIVERIES_IN_A_ROW === 0) {
        this.#isScheduled = true;
        runInMacrotask(this.#drain);
        return;
      }
    }
    if (this.#isPeerGone && this.#state === 'open') this.#end();
  };

  #letOneIn(): void {
    const next = this.#waiting.shift();
    if (!next) return;
    this.#inbox.push(next.item);
    next.resolve();
  }

  #deliver(item: JsonRpcMessage | string): void {
    try {
      // By reference, a string can arrive too. It is not a message; the reader rejects it.
      const message = this.#passesJson ? parseJson(item as string) : item;
      this.onmessage?.(message, this.#info);
    } catch (error) {
      emitError(this, toError(error));
    }
  }

  #onPeerGone(): void {
    this.#isPeerGone = true;
    this.#schedule();
  }

  #end(): void {
    this.#state = 'closed';
    this.#rejectWaiting();
    if (this.#peer) this.#peer.#rejectWaiting();
    // Deferred, so that `onclose` runs after a callback that is running now.
    queueMicrotask(() => {
      emitClose(this);
      this.#resolveClosed();
    });
  }

  #rejectWaiting(): void {
    if (this.#waiting.length === 0) return;
    const error = new ConnectionClosedError();
    for (const waiting of this.#waiting.takeAll()) waiting.reject(error);
  }
}

/** Runs a function in a later macrotask: by `setImmediate` where it exists, because that is faster than a timer. */
function runInMacrotask(fn: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (fn: () => void) => unknown };
  if (setImmediate) setImmediate(fn);
  else setTimeout(fn, 0);
}
