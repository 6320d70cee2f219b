/** One modern request: its POST, and its response in a JSON body or an event stream. */

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

/** What a `ModernExchange` needs from the object that started it. */
export interface ExchangeOwner {
  readonly wire: Wire;
  /** Called with each error that belongs to no request. */
  readonly report: (error: Error) => void;
  /** Called when the exchange has its response or has failed. */
  forget(exchange: ModernExchange): void;
}

/** One modern request and its response. The class itself listens to the caller's signal and to the body, which saves objects. */
export class ModernExchange implements MessageListener {
  readonly response: Promise<JsonRpcResponse>;
  readonly request: JsonRpcRequest;
  /** The JSON text of the response, once it has arrived. */
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

  /** Rejects the request, and aborts the HTTP response. Does nothing if the request already has its response or has failed. */
  fail(error: unknown): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#sending?.abort(undefined);
    this.#reader?.stop();
    this.#reject(error);
  }

  /** Called when the caller's `AbortSignal` aborts: cancels the request. */
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

  /** Listens for cancellation by the caller. Uses a callback if there is one, because an `AbortSignal` costs much more CPU time. */
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
    const { response, error } = await readFailure(this.#owner.wire, call, answer, this.request.id);
    if (response === undefined) this.fail(error);
    else this.#succeed(response);
  }

  /** Resolves the request with its response, and gives the HTTP body a moment to end. */
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

  /** Reports a value that is not a JSON-RPC message, and ignores it. In a JSON body the response is then missing, so the request fails. */
  #skip(value: JsonValue): void {
    const { method, id } = isJsonObject(value) ? value : ({} as JsonObject);
    if (method === undefined && id !== undefined) return this.fail(toNoResponse(this.#owner.wire.url, this.request));
    const what =
      method !== undefined && id !== undefined ? `a request of its own (${JSON.stringify(method)})` : 'a value that is not a message';
    // In the modern era servers return `input_required` results instead of sending requests, so the client ignores requests.
    this.#owner.report(new InvalidResponseError(`The server sent ${what} in its response to "${this.request.method}": it was skipped`));
  }
}
