/** The base class of both legacy channels: callbacks, the order of messages, POSTs without a response, and closing. */

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
import { emitClose, emitError, type MessageInfo, type SendOptions, toError, type WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { type HttpFailure, isSuccess, readFailure } from '../http-failure.ts';
import type { HttpCall } from '../http-sender.ts';
import type { Sending, Wire } from '../wire.ts';

/** The timeout for accepting a message that needs no response. */
const ACCEPT_TIMEOUT_MS = 30_000;

export abstract class PostingChannel implements Transport {
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  protected readonly wire: Wire;
  readonly #accepting = new Set<Sending>();
  /** Settles when the last message other than a request has been accepted. */
  #tail: Promise<void> | undefined;
  #endTimer: ClockTimer | undefined;
  #closing: Promise<void> | undefined;

  constructor(wire: Wire) {
    this.wire = wire;
  }

  abstract start(): Promise<void>;

  /** Sends a message that needs no response. @throws As `send`. */
  protected abstract notify(message: JsonRpcMessage, text: string): Promise<void>;

  /** Sends a request. @throws As `send`. */
  protected abstract request(message: JsonRpcRequest, text: string, caller: WaitingCaller | undefined): Promise<void>;

  /** @throws The reason why the channel cannot send. */
  protected abstract assertOpen(): void;

  /** Closes everything. */
  protected abstract end(): void | Promise<void>;

  /**
   * Sends a message as a POST. Messages other than requests are sent one after the other, so that the server accepts them in order.
   *
   * @throws {SessionLostError} The server has lost the session. The message was not handled, and the channel ends.
   * @throws {ExchangeHttpError} The server refused the message. {ConnectionClosedError} The HTTP response was incomplete.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    try {
      this.assertOpen();
      const text = serializeMessage(message);
      if (classifyMessage(message) === 'request')
        return this.#inTurn(() => this.request(message as JsonRpcRequest, text, options), options);
      const done = this.#inTurn(() => this.notify(message, text));
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
   * Posts a message that the server accepts without a response in the HTTP body.
   *
   * @param request The id and caller of a request whose response arrives on another stream.
   * @returns The refusal; undefined if the message was accepted.
   */
  protected async post(
    call: HttpCall,
    request: { readonly id?: RequestId; readonly caller?: WaitingCaller | undefined } = {},
  ): Promise<HttpFailure | undefined> {
    const sending = this.wire.send(call, { caller: request.caller, timeoutMs: ACCEPT_TIMEOUT_MS });
    this.#accepting.add(sending);
    try {
      const answer = await sending.answer;
      if (!isSuccess(answer)) return await readFailure(call, answer, request.id);
      this.wire.discard(answer);
      return undefined;
    } finally {
      this.#accepting.delete(sending);
    }
  }

  /** @param text The JSON text of the value; empty if this side made the value. */
  protected deliver(value: JsonValue, text: string): void {
    if (this.isClosing) return;
    const bytes = measureMessage(text);
    try {
      // T5: the connection above handles batches and values that are not messages.
      this.onmessage?.(value as unknown as JsonRpcMessage, bytes === undefined ? undefined : { bytes });
    } catch (error) {
      this.report(toError(error));
    }
  }

  protected report(error: Error): void {
    emitError(this, error);
  }

  /** Reports an error and closes the channel, after a delay in which pending requests may still be rejected on their own. */
  protected endLater(why: Error, delayMs: number): void {
    this.#endTimer?.cancel();
    const end = (): void => {
      this.report(why);
      void this.close();
    };
    this.#endTimer = this.wire.clock.schedule(end, delayMs, { keepAlive: true });
  }

  /** Runs after earlier messages are accepted. The caller's timeout pauses until then, because one of them may need a sign-in. */
  #inTurn(run: () => Promise<void>, caller?: WaitingCaller): Promise<void> {
    if (this.#tail === undefined) return run();
    const resume = caller?.pauseTimeout?.();
    return this.#tail.then(() => {
      resume?.();
      return run();
    });
  }

  async #close(): Promise<void> {
    const ended = this.end();
    for (const sending of this.#accepting) sending.abort(new ConnectionClosedError());
    await ended;
    this.wire.close();
    emitClose(this);
  }
}
