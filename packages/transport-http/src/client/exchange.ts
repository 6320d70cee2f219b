/** One request, from its POST to its answer in a JSON body or an event stream: what both eras share. */

import {
  ConnectionClosedError,
  InvalidResponseError,
  isMortiseError,
  type JsonRpcRequest,
  type JsonValue,
  ParseError,
} from '@mortise/jsonrpc-core';
import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { describe, type HttpFailure, isSuccess, readFailure, toHttpError, toNoResponse } from './http-failure.ts';
import type { HttpAnswer, HttpCall } from './http-sender.ts';
import { type MessageListener, MessageReader } from './message-reader.ts';
import type { Sending, Wire } from './wire.ts';

export abstract class Exchange<Answer> implements MessageListener {
  readonly answer: Promise<Answer>;
  readonly request: JsonRpcRequest;
  protected readonly wire: Wire;
  protected reader: MessageReader | undefined;
  protected isSettled = false;
  #sending: Sending | undefined;
  #resolve: (answer: Answer) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(wire: Wire, request: JsonRpcRequest) {
    this.wire = wire;
    this.request = request;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  protected send(call: HttpCall, caller: WaitingCaller | undefined): void {
    this.#sending = this.wire.send(call, { caller });
    this.#sending.answer.then(
      (answer) => this.#onAnswer(call, answer),
      (error: unknown) => this.fail(error),
    );
  }

  /** Rejects, and closes what the answer comes over. Does nothing once the exchange is settled. */
  fail(error: unknown): void {
    if (this.isSettled) return;
    this.settle();
    this.abort();
    this.#reject(error);
  }

  /** The answer has come; what it came over is left to end by itself. */
  protected succeed(answer: Answer): void {
    if (this.isSettled) return;
    this.settle();
    this.reader?.finish(this.wire);
    this.#resolve(answer);
  }

  protected settle(): void {
    this.isSettled = true;
  }

  protected abort(): void {
    this.#sending?.abort(undefined);
    this.reader?.stop();
  }

  /** The head of a response that is no error. @throws What makes the response worthless. */
  protected onHead?(answer: HttpAnswer): void;

  /** A response that is an error. */
  protected abstract onFailure(failure: HttpFailure): void;

  /** A body that can hold no message. */
  protected onNoMessage(call: HttpCall, answer: HttpAnswer): void {
    this.fail(toHttpError(call, answer));
    answer.abort();
  }

  abstract onValue(value: JsonValue, text: string): void;

  abstract onGarbage(error: ParseError): void;

  onEnd(error?: Error): void {
    if (!this.isSettled) this.fail(this.#toFailure(error));
  }

  #onAnswer(call: HttpCall, answer: HttpAnswer): void {
    if (this.isSettled) return answer.abort();
    if (!isSuccess(answer)) return void this.#onErrorStatus(call, answer);
    try {
      this.onHead?.(answer);
    } catch (error) {
      answer.abort();
      return this.fail(error);
    }
    this.reader = MessageReader.open(answer, this.wire.maxMessageBytes, this);
    if (this.reader === undefined) this.onNoMessage(call, answer);
  }

  async #onErrorStatus(call: HttpCall, answer: HttpAnswer): Promise<void> {
    const failure = await readFailure(call, answer, this.request.id);
    if (!this.isSettled) this.onFailure(failure);
  }

  #toFailure(error: Error | undefined): Error {
    const { method } = this.request;
    const { url } = this.wire;
    if (error === undefined && this.reader?.isStream !== true) return toNoResponse(url, this.request);
    if (error instanceof ParseError)
      return new InvalidResponseError(`The answer to "${method}" cannot be read: ${error.message}`, { cause: error });
    if (isMortiseError(error) && !(error instanceof ConnectionClosedError)) return error;
    const message = `${describe({ method: 'POST', url })} broke off before "${method}" was answered: whether it was carried out is not known`;
    return new ConnectionClosedError(message, error && { cause: error });
  }
}
