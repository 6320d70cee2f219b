/** What both channels of the legacy era share: callbacks, the order of what is sent, POSTs that are only accepted, and the end. */

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

/** How long a server may take to accept a message that it need not answer. */
const ACCEPT_TIMEOUT_MS = 30_000;

export abstract class PostingChannel implements Transport {
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  protected readonly wire: Wire;
  readonly #accepting = new Set<Sending>();
  /** Settles when the last message that is no request has been accepted. */
  #tail: Promise<void> | undefined;
  #endTimer: ClockTimer | undefined;
  #closing: Promise<void> | undefined;

  constructor(wire: Wire) {
    this.wire = wire;
  }

  abstract start(): Promise<void>;

  /** Sends a message that the server only accepts. @throws As `send`. */
  protected abstract notify(message: JsonRpcMessage, text: string): Promise<void>;

  /** Sends a request. @throws As `send`. */
  protected abstract request(message: JsonRpcRequest, text: string, caller: WaitingCaller | undefined): Promise<void>;

  /** @throws Why nothing can be sent. */
  protected abstract assertOpen(): void;

  /** Closes everything. */
  protected abstract end(): void | Promise<void>;

  /**
   * Sends a message. Messages that are no requests are accepted in the order in which they were sent, though each is a POST of its own.
   *
   * @throws {SessionLostError} The server does not know the session; the message was not carried out, and the channel ends.
   * @throws {ExchangeHttpError} The server refused it. {ConnectionClosedError} Its answer broke off.
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

  /** Ends the session, and everything here. */
  close(): Promise<void> {
    this.#endTimer?.cancel();
    // Later, so that a callback that closes again finds the promise that is already there.
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
   * Posts a message that the server only accepts.
   *
   * @param request The id and the caller of a request whose answer comes elsewhere.
   * @returns How it was refused; undefined where it was accepted.
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

  /** @param text What the value was read from; empty where this side has made it. */
  protected deliver(value: JsonValue, text: string): void {
    if (this.isClosing) return;
    const bytes = measureMessage(text);
    try {
      // T5: a JSON value that is no message, or a batch, is judged by the connection above.
      this.onmessage?.(value as unknown as JsonRpcMessage, bytes === undefined ? undefined : { bytes });
    } catch (error) {
      this.report(toError(error));
    }
  }

  protected report(error: Error): void {
    emitError(this, error);
  }

  /** Reports why the channel ends, and closes it. Later, so that requests that were not carried out are rejected first. */
  protected endLater(why: Error, delayMs: number): void {
    this.#endTimer?.cancel();
    const end = (): void => {
      this.report(why);
      void this.close();
    };
    this.#endTimer = this.wire.clock.schedule(end, delayMs, { keepAlive: true });
  }

  /** Runs once the messages before it have been accepted. The caller's time limit stands still until then: one of them may need a sign-in. */
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
