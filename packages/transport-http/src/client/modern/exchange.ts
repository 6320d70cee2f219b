/** One exchange of the modern era, from its POST to its answer. */

import {
  ConnectionClosedError,
  InvalidResponseError,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type JsonValue,
  MessageTooLargeError,
  ParseError,
} from '@mortise/jsonrpc-core';
import { classifyMessage, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ExchangeOptions } from '@mortise/jsonrpc-core/transport';
import type { Exchanges } from './exchanges.ts';
import { readFailure, toNoMessage, toNoResponse, toOwnResponse } from '../http-failure.ts';
import type { HttpAnswer, HttpCall } from '../http-sender.ts';
import { type MessageListener, MessageReader } from '../message-reader.ts';
import { describe, type Leftover, type Sending } from '../wire.ts';

/** Is the listener of its signal and of its body, so that neither costs an object. */
export class Exchange implements MessageListener, Leftover {
  readonly response: Promise<JsonRpcResponse>;
  /** What the answer was read from. */
  text = '';
  readonly #owner: Exchanges;
  readonly #request: JsonRpcRequest;
  readonly #options: ExchangeOptions;
  #signal: AbortSignal | undefined;
  #call: HttpCall | undefined;
  #sending: Sending | undefined;
  #reader: MessageReader | undefined;
  #isSettled = false;
  #resolve: (response: JsonRpcResponse) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(owner: Exchanges, request: JsonRpcRequest, options: ExchangeOptions) {
    this.#owner = owner;
    this.#request = request;
    this.#options = options;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  start(toCall: () => HttpCall): void {
    this.#listen();
    if (this.#isSettled) return;
    const call = toCall();
    this.#call = call;
    this.#sending = this.#owner.wire.send(call, { caller: this.#options });
    this.#sending.answer.then(
      (answer) => this.#onAnswer(call, answer),
      (error: unknown) => this.fail(error),
    );
  }

  /** The caller's signal has aborted. */
  handleEvent(): void {
    this.fail(this.#signal?.reason);
  }

  /** Whoever can do without a signal is spared one: it costs more than all else here. */
  #listen(): void {
    if (this.#options.onAbort) return this.#options.onAbort((reason) => this.fail(reason));
    this.#signal = this.#options.signal;
    this.#signal?.throwIfAborted();
    this.#signal?.addEventListener('abort', this);
  }

  /** Rejects and lets go of everything. Does nothing once the exchange is settled. */
  fail(error: unknown): void {
    if (this.#isSettled) return;
    this.#settle();
    this.stop();
    this.#reject(error);
  }

  /** Closes what the answer comes over. */
  stop(): void {
    this.#sending?.abort(undefined);
    this.#reader?.stop();
  }

  onValue(value: JsonValue, text: string): void {
    if (this.#isSettled) return;
    const kind = classifyMessage(value);
    if (kind === 'notification') return this.#tell(value as unknown as JsonRpcNotification);
    const response = kind === 'response' ? toOwnResponse(value, this.#request.id) : undefined;
    if (response !== undefined) {
      this.text = text;
      this.#succeed(response);
    } else if (kind !== 'request') this.#refuse(value);
    // In this era servers ask by results: nobody answers such a request.
    else this.#report(`The server sent a request of its own (${JSON.stringify((value as { method?: unknown }).method)}): it was dropped`);
  }

  onGarbage(error: ParseError): void {
    if (!this.#isSettled) this.#owner.settings.report(error);
  }

  onEnd(error?: Error): void {
    if (this.#isSettled) return this.#owner.wire.hasEnded(this);
    this.fail(this.#toFailure(error));
  }

  async #onAnswer(call: HttpCall, answer: HttpAnswer): Promise<void> {
    const { maxMessageBytes } = this.#owner.settings;
    if (this.#isSettled) return answer.abort();
    if (answer.status >= 200 && answer.status < 300) {
      const reader = MessageReader.open(answer, maxMessageBytes, this);
      if (reader === undefined) return this.#refuseAnswer(call, answer);
      this.#reader = reader;
      return;
    }
    const failure = await readFailure(call, answer, this.#request.id);
    if (failure.response === undefined) this.fail(failure.error);
    else this.#succeed(failure.response);
  }

  #refuseAnswer(call: HttpCall, answer: HttpAnswer): void {
    this.fail(toNoMessage(call, answer));
    answer.abort();
  }

  #refuse(value: JsonValue): void {
    const { method } = this.#request;
    // Garbage in a stream is reported and skipped, unless it was meant as the answer.
    const isMeant = this.#reader?.isStream !== true || (isJsonObject(value) && value['method'] === undefined && value['id'] !== undefined);
    if (!isMeant) return this.#report(`The answer to "${method}" holds something that is not a message: it was skipped`);
    this.fail(toNoResponse(this.#call, this.#request));
  }

  #tell(notification: JsonRpcNotification): void {
    try {
      this.#options.onMessage?.(notification);
    } catch (error) {
      this.#owner.settings.report(error instanceof Error ? error : new Error('onMessage threw', { cause: error }));
    }
  }

  #succeed(response: JsonRpcResponse): void {
    if (this.#isSettled) return;
    this.#settle();
    // A body ends by itself now; a stream is given a moment to.
    if (this.#reader?.isStream === true) this.#owner.wire.letEnd(this);
    this.#resolve(response);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#signal?.removeEventListener('abort', this);
    this.#owner.forget(this);
  }

  #report(message: string): void {
    this.#owner.settings.report(new InvalidResponseError(message));
  }

  #toFailure(error: Error | undefined): Error {
    const { method } = this.#request;
    if (error instanceof MessageTooLargeError) return error;
    const cause = error && { cause: error };
    if (error instanceof ParseError) return new InvalidResponseError(`The answer to "${method}" cannot be read: ${error.message}`, cause);
    const what = this.#call === undefined ? 'The exchange' : describe(this.#call);
    return new ConnectionClosedError(`${what} broke off before "${method}" was answered: whether it was carried out is not known`, cause);
  }
}
