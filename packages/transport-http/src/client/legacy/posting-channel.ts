/** The base class of `LegacyChannel` and `SseChannel`: callbacks, the order of messages, POSTs without a response, and closing. */

import {
  type ClockTimer,
  ConnectionClosedError,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonValue,
  type RequestId,
  type Transport,
} from '@mortise/jsonrpc-core';
import { classifyMessage, measureMessage, serializeMessage } from '@mortise/jsonrpc-core/messages';
import { emitClose, emitError, type SendOptions, toError, type WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { type HttpFailure, isSuccess, readFailure } from '../http-failure.ts';
import type { HttpCall } from '../http-sender.ts';
import { ACCEPT_TIMEOUT_MS, type Sending, type Wire } from '../wire.ts';

export abstract class PostingChannel implements Transport {
  onmessage?: Transport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  protected readonly wire: Wire;
  readonly #accepting = new Set<Sending>();
  /** Settles when the server has accepted the last notification or response. Undefined if none is being sent. */
  #tail: Promise<void> | undefined;
  readonly #queue = new RequestQueue();
  #endTimer: ClockTimer | undefined;
  #closing: Promise<void> | undefined;

  constructor(wire: Wire) {
    this.wire = wire;
  }

  abstract start(): Promise<void>;

  /** Sends a notification, or a response to a request of the server. @throws As `send`. */
  protected abstract notify(message: JsonRpcMessage, text: string): Promise<void>;

  /** Sends a request. @throws As `send`. */
  protected abstract request(message: JsonRpcRequest, text: string, caller: WaitingCaller | undefined): Promise<void>;

  /** Checks that the channel can send. @throws The reason why it cannot. */
  protected abstract assertOpen(): void;

  /** Ends the session and closes all streams. Called once, by `close`. */
  protected abstract end(): void | Promise<void>;

  /**
   * Sends a message as a POST. Messages other than requests are sent one after the other, so that the server accepts them in order.
   * A request that is cancelled before its turn is not sent, nor is the cancellation.
   *
   * @throws {SessionLostError} The server has lost the session. The message was not handled, and the channel ends.
   * @throws {ExchangeHttpError} The server refused the message. {ConnectionClosedError} The HTTP response was incomplete.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    try {
      this.assertOpen();
      const text = serializeMessage(message);
      if (classifyMessage(message) === 'request') return this.#sendRequest(message as JsonRpcRequest, text, options);
      const cancelled = cancelledBy(message);
      if (cancelled !== undefined && this.#queue.leave(cancelled)) return Promise.resolve();
      const done = this.#tail === undefined ? this.notify(message, text) : this.#tail.then(() => this.notify(message, text));
      const leave = (): void => {
        if (this.#tail === tail) this.#tail = undefined;
      };
      const tail: Promise<void> = done.then(leave, leave);
      this.#tail = tail;
      return done;
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Ends the session and closes the channel. */
  close(): Promise<void> {
    this.#endTimer?.cancel();
    // In a microtask, so that a callback that calls `close` again gets the same promise.
    this.#closing ??= Promise.resolve().then(() => this.#close());
    return this.#closing;
  }

  protected get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  protected get isAccepting(): boolean {
    return this.#accepting.size > 0;
  }

  /**
   * Posts a message for which the HTTP body contains no JSON-RPC response.
   *
   * @param request The id and caller of a request whose response arrives on another stream. Without it, the requests behind the message
   * wait for its sign-in.
   * @returns The HTTP error if the server refused the message; undefined if it accepted the message.
   */
  protected async post(
    call: HttpCall,
    request: { readonly id?: RequestId; readonly caller?: WaitingCaller | undefined } = { caller: this.#queue },
  ): Promise<HttpFailure | undefined> {
    const sending = this.wire.send(call, { caller: request.caller, timeoutMs: ACCEPT_TIMEOUT_MS });
    this.#accepting.add(sending);
    try {
      const answer = await sending.answer;
      if (!isSuccess(answer)) return await readFailure(this.wire, call, answer, request.id);
      this.wire.discard(answer);
      return undefined;
    } finally {
      this.#accepting.delete(sending);
    }
  }

  /** Passes a received value to `onmessage`. @param text The JSON text of the value; empty if the client made it itself. */
  protected deliver(value: JsonValue, text: string): void {
    if (this.isClosing) return;
    const bytes = measureMessage(text);
    try {
      // T5: the connection above handles batches and values that are not messages.
      this.onmessage?.(value, bytes === undefined ? undefined : { bytes });
    } catch (error) {
      this.report(toError(error));
    }
  }

  protected report(error: Error): void {
    emitError(this, error);
  }

  /** Reports an error to `onerror` and closes the channel after a delay, in which pending requests may still be rejected on their own. */
  protected endLater(why: Error, delayMs: number): void {
    this.#endTimer?.cancel();
    const end = (): void => {
      this.report(why);
      void this.close();
    };
    this.#endTimer = this.wire.clock.schedule(end, delayMs, { keepAlive: true });
  }

  /** Sends a request once the server has accepted earlier messages. */
  #sendRequest(message: JsonRpcRequest, text: string, caller: WaitingCaller | undefined): Promise<void> {
    if (this.#tail === undefined) return this.request(message, text, caller);
    this.#queue.enter(message.id, caller);
    return this.#tail.then(() => (this.#queue.leave(message.id) ? this.request(message, text, caller) : undefined));
  }

  async #close(): Promise<void> {
    const ended = this.end();
    for (const sending of this.#accepting) sending.abort(new ConnectionClosedError());
    await ended;
    this.wire.close();
    emitClose(this);
  }
}

/** The requests that wait until the server has accepted an earlier message. Their time runs, except while that message needs a sign-in. */
class RequestQueue implements WaitingCaller {
  readonly #waiting = new Map<RequestId, { readonly caller: WaitingCaller | undefined; resume?: (() => void) | undefined }>();
  #isPaused = false;

  enter(id: RequestId, caller: WaitingCaller | undefined): void {
    this.#waiting.set(id, { caller, resume: this.#isPaused ? caller?.pauseTimeout?.() : undefined });
  }

  /** @returns Whether the request was waiting. */
  leave(id: RequestId): boolean {
    this.#waiting.get(id)?.resume?.();
    return this.#waiting.delete(id);
  }

  pauseTimeout(): () => void {
    this.#isPaused = true;
    for (const request of this.#waiting.values()) request.resume = request.caller?.pauseTimeout?.();
    return () => {
      this.#isPaused = false;
      for (const request of this.#waiting.values()) request.resume?.();
    };
  }
}

/** The id of the request that a `notifications/cancelled` names; undefined for any other message. */
export function cancelledBy(message: JsonRpcMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  return message.params?.['requestId'] as RequestId | undefined;
}
