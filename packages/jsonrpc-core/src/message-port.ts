/** `@mortise/jsonrpc-core/message-port`: a transport over a `MessagePort`, for talking to workers and frames. */

import { checkOptions } from './check-options.ts';
import { ConnectionClosedError, MessageTooLargeError, ParseError, UsageError } from './errors.ts';
import { readMessageHead } from './malformed.ts';
import type { JsonRpcMessage } from './message.ts';
import { measureMessage, parseJson } from './parse-json.ts';
import { type MessageInfo, resolvedPromise, type Transport } from './transport/transport.ts';
import { serializeMessage } from './serialize-message.ts';
import { emitClose, emitError, toError } from './transport/hold-transport.ts';

/** The members of a `MessagePort` that the transport uses, on the web or from `node:worker_threads`. */
export interface MessagePortLike {
  postMessage(value: unknown): void;
  /** Listens to events of the port. A `message` event has the message in `data`. */
  addEventListener(type: 'message' | 'messageerror' | 'close', fn: (event: object) => void): void;
  start(): void;
  close(): void;
}

/** The options of a `messagePortTransport`. */
export interface MessagePortOptions {
  /** The longest message accepted, in UTF-16 code units. A longer one is reported by `onerror` and dropped. @default 16 Mi */
  readonly maxMessageLength?: number | undefined;
  /** Passed to `onmessage` with each message, together with its size, for example to name the peer. @default none */
  readonly info?: MessageInfo | undefined;
}

/** Sent to tell the peer that this end has closed, because not every platform reports that. No JSON-RPC message is `null`. */
const END = null;
const DEFAULT_MAX_LENGTH = 16 * 1024 * 1024;

/**
 * Makes a transport over one end of a `MessageChannel`. Give the other end to a thread or frame: `worker.postMessage(port, [port])`.
 *
 * Messages travel as JSON text. Gives the guarantees T1 to T14 of `Transport`. Ports have no backpressure, so `send` never waits. `close`
 * closes the port, and the peer's transport with it. Check where a port came from before you use it: whoever holds the other end is the
 * peer.
 */
export function messagePortTransport(port: MessagePortLike, options: MessagePortOptions = {}): Transport {
  checkOptions('messagePortTransport options', options, { maxMessageLength: 0, info: 'object' });
  return new MessagePortTransport(port, options);
}

class MessagePortTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;

  readonly #port: MessagePortLike;
  readonly #maxLength: number;
  readonly #info: MessageInfo | undefined;
  #isStarted = false;
  #closing: Promise<void> | undefined;

  constructor(port: MessagePortLike, { maxMessageLength = DEFAULT_MAX_LENGTH, info }: MessagePortOptions) {
    this.#port = port;
    this.#maxLength = maxMessageLength;
    this.#info = info;
  }

  start(): Promise<void> {
    if (this.#closing) return Promise.reject(new ConnectionClosedError());
    if (this.#isStarted) return Promise.reject(new UsageError('ERR_ALREADY_STARTED'));
    this.#isStarted = true;
    this.#port.addEventListener('message', (event) => this.#onData((event as { readonly data?: unknown }).data));
    this.#port.addEventListener('messageerror', () =>
      emitError(this, new ParseError('A MessagePort message arrived that cannot be deserialized here')),
    );
    this.#port.addEventListener('close', () => void this.#end());
    this.#port.start();
    return resolvedPromise;
  }

  send(message: JsonRpcMessage): Promise<void> {
    if (this.#closing) return Promise.reject(new ConnectionClosedError());
    if (!this.#isStarted) return Promise.reject(new UsageError('ERR_NOT_CONNECTED'));
    try {
      this.#port.postMessage(serializeMessage(message));
    } catch (error) {
      return Promise.reject(toError(error));
    }
    return resolvedPromise;
  }

  close(): Promise<void> {
    if (!this.#closing) this.#port.postMessage(END);
    return this.#end();
  }

  #onData(data: unknown): void {
    if (this.#closing) return;
    if (data === END) return void this.#end();
    try {
      if (typeof data !== 'string') throw new ParseError(`A message on a MessagePort must be JSON text, got ${typeof data}`);
      if (data.length > this.#maxLength) throw toTooLarge(data, this.#maxLength);
      this.onmessage?.(parseJson(data), this.#toInfo(data));
    } catch (error) {
      emitError(this, toError(error));
    }
  }

  #toInfo(text: string): MessageInfo | undefined {
    const bytes = measureMessage(text);
    return bytes === undefined ? this.#info : { ...this.#info, bytes };
  }

  #end(): Promise<void> {
    // Deferred, so that a callback that calls `close` again finds the existing promise.
    this.#closing ??= resolvedPromise.then(() => this.#finish());
    return this.#closing;
  }

  #finish(): void {
    this.#port.close();
    emitClose(this);
  }
}

function toTooLarge(text: string, maxLength: number): MessageTooLargeError {
  const message = `A message is longer than ${maxLength} characters: raise maxMessageLength, or send less`;
  return new MessageTooLargeError(maxLength, message, readMessageHead(text));
}
