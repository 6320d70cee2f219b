/** One modern request, from its POST to its response in a JSON body or an event stream. */

import {
  InvalidResponseError,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type JsonValue,
} from '@mortise/jsonrpc-core';
import { classifyMessage, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { type ExchangeOptions, toError } from '@mortise/jsonrpc-core/transport';
import { isSuccess, readFailure, toHttpError, toLostResponse, toNoResponse, toOwnResponse } from './http-failure.ts';
import type { HttpAnswer, HttpCall } from './http-sender.ts';
import { type MessageListener, MessageReader } from './message-reader.ts';
import type { Sending, Wire } from './wire.ts';

/** Whose exchange it is. */
export interface ExchangeOwner {
  readonly wire: Wire;
  /** Takes faults that belong to no request. */
  readonly report: (error: Error) => void;
  /** The exchange is settled. */
  forget(exchange: ModernExchange): void;
}

/** Listens to its signal and its body itself, so that neither costs an object. */
export class ModernExchange implements MessageListener {
  readonly response: Promise<JsonRpcResponse>;
  readonly request: JsonRpcRequest;
  /** What the response was read from. */
  text = '';
  readonly #owner: ExchangeOwner;
  readonly #options: ExchangeOptions;
  #signal: AbortSignal | undefined;
  #sending: Sending | undefined;
  #reader: MessageReader | undefined;
  #isSettled = false;
  #resolve: (response: JsonRpcResponse) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(owner: ExchangeOwner, request: JsonRpcRequest, options: ExchangeOptions) {
    this.#owner = owner;
    this.request = request;
    this.#options = options;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  start(call: HttpCall): void {
    this.#listen();
    if (this.#isSettled) return;
    this.#sending = this.#owner.wire.send(call, { caller: this.#options });
    this.#sending.answer.then(
      (answer) => this.#onAnswer(call, answer),
      (error: unknown) => this.fail(error),
    );
  }

  /** Rejects, and closes what the response comes over. Does nothing once the exchange is settled. */
  fail(error: unknown): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#sending?.abort(undefined);
    this.#reader?.stop();
    this.#reject(error);
  }

  /** The caller's signal has aborted. */
  handleEvent(): void {
    this.fail(this.#signal?.reason);
  }

  onValue(value: JsonValue, text: string): void {
    if (this.#isSettled) return;
    const kind = classifyMessage(value);
    const response = kind === 'response' ? toOwnResponse(value, this.request.id) : undefined;
    if (response !== undefined) {
      this.text = text;
      this.#succeed(response);
    } else if (kind === 'notification') this.#notify(value as unknown as JsonRpcNotification);
    else if (this.#reader?.isStream === true) this.#skip(value as JsonObject);
  }

  onGarbage(error: Error): void {
    if (!this.#isSettled) this.#owner.report(error);
  }

  onEnd(error?: Error): void {
    if (this.#isSettled) return;
    this.fail(toLostResponse(this.#owner.wire.url, this.request, { error, isStream: this.#reader?.isStream === true }));
  }

  /** Callers that need no signal do without one: it costs more than all else here. */
  #listen(): void {
    if (this.#options.onAbort) return this.#options.onAbort((reason) => this.fail(reason));
    this.#signal = this.#options.signal;
    this.#signal?.throwIfAborted();
    this.#signal?.addEventListener('abort', this);
  }

  #onAnswer(call: HttpCall, answer: HttpAnswer): void {
    if (this.#isSettled) return answer.abort();
    if (!isSuccess(answer)) return void this.#onErrorStatus(call, answer);
    this.#reader = MessageReader.open(answer, this.#owner.wire.maxMessageBytes, this);
    if (this.#reader !== undefined) return;
    this.fail(toHttpError(call, answer));
    answer.abort();
  }

  async #onErrorStatus(call: HttpCall, answer: HttpAnswer): Promise<void> {
    const { response, error } = await readFailure(call, answer, this.request.id);
    if (response === undefined) this.fail(error);
    else this.#succeed(response);
  }

  /** The response has come; what it came over is left to end by itself. */
  #succeed(response: JsonRpcResponse): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#reader?.finish(this.#owner.wire);
    this.#resolve(response);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#signal?.removeEventListener('abort', this);
    this.#owner.forget(this);
  }

  #notify(notification: JsonRpcNotification): void {
    try {
      this.#options.onMessage?.(notification);
    } catch (error) {
      this.#owner.report(toError(error));
    }
  }

  /** What is no message is reported and skipped, unless it was meant as the response: nothing else will come then. */
  #skip(value: JsonValue): void {
    const { method, id } = isJsonObject(value) ? value : ({} as JsonObject);
    if (method === undefined && id !== undefined) return this.fail(toNoResponse(this.#owner.wire.url, this.request));
    const what =
      method !== undefined && id !== undefined ? `a request of its own (${JSON.stringify(method)})` : 'something that is no message';
    // In this era a server asks by its results: a request of its own is not answered.
    this.#owner.report(new InvalidResponseError(`The server sent ${what} in its answer to "${this.request.method}": it was skipped`));
  }
}
