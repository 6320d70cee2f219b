/** One request of the legacy era: its POST, and the stream of its answer, however often that is opened again. */

import {
  ConnectionClosedError,
  InvalidResponseError,
  isMortiseError,
  type JsonRpcRequest,
  type JsonValue,
  ParseError,
} from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { type HttpFailure, readFailure, toNoMessage, toNoResponse, toOwnResponse } from '../http-failure.ts';
import type { HttpAnswer, HttpCall } from '../http-sender.ts';
import { describe, type Sending } from '../wire.ts';
import { ReopeningStream, type StreamListener, type StreamOwner, toRefusalText } from './reopening-stream.ts';

/** A request on its way out. */
export interface Outgoing {
  readonly message: JsonRpcRequest;
  readonly text: string;
  readonly caller: WaitingCaller | undefined;
}

/** Whose request it is. */
export interface PostOwner extends StreamOwner {
  toPost(message: JsonRpcRequest, text: string): HttpCall;
  /** @param text What it was read from. */
  deliver(value: JsonValue, text: string): void;
  /** The answer to a request has come, and is delivered next. */
  onAnswered(message: JsonRpcRequest, answer: JsonValue): void;
  report(error: Error): void;
  /** The head of an answer that is no error. @throws What makes the answer worthless. */
  onAccepted(message: JsonRpcRequest, answer: HttpAnswer): void;
  /** An answer that is an error. @returns Whether it was dealt with: nothing more is to be done for the request. */
  onFailure(post: RequestPost, call: HttpCall, failure: HttpFailure): boolean | Promise<boolean>;
  /** The request is over. */
  forget(post: RequestPost): void;
}

export class RequestPost implements StreamListener {
  readonly message: JsonRpcRequest;
  /** Whose time stands still while somebody signs in for it. */
  readonly caller: WaitingCaller | undefined;
  /** Resolves when the answer has been delivered, or when there will be none and nobody waits for it; rejects with why there is none. */
  readonly done: Promise<void>;
  readonly #owner: PostOwner;
  readonly #call: HttpCall;
  readonly #sending: Sending;
  #stream: ReopeningStream | undefined;
  #isOver = false;
  #resolve: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(owner: PostOwner, { message, text, caller }: Outgoing) {
    this.message = message;
    this.caller = caller;
    this.#owner = owner;
    this.#call = owner.toPost(message, text);
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#sending = owner.wire.send(this.#call, { caller });
    this.#sending.answer.then((answer) => this.#onAnswer(answer)).catch((error: unknown) => this.fail(error));
  }

  /** Lets go of everything. @param error Why there is no answer; left out where nobody waits for one any more. */
  stop(error?: Error): void {
    if (this.#isOver) return;
    this.#end();
    this.#sending.abort(undefined);
    this.#stream?.stop();
    if (error === undefined) this.#resolve();
    else this.#reject(error);
  }

  fail(error: unknown): void {
    this.stop(error instanceof Error ? error : new Error('The request failed', { cause: error }));
  }

  onValue(value: JsonValue, text: string): void {
    const { id } = this.message;
    const members = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
    const isAnswered = members.some((member) => isJsonObject(member) && member['method'] === undefined && member['id'] === id);
    const own = isAnswered ? undefined : (toOwnResponse(value, id) as JsonValue | undefined);
    if (isAnswered || own !== undefined) this.#succeed(own ?? value, text);
    else this.#owner.deliver(value, text);
  }

  onGarbage(error: ParseError): void {
    this.#owner.report(error);
  }

  onRefused(call: HttpCall, answer: HttpAnswer): void {
    this.fail(new ConnectionClosedError(`The answer to "${this.message.method}" broke off, and ${toRefusalText(call, answer)}`));
    answer.abort();
  }

  onOver(error: Error | undefined): void {
    const { method } = this.message;
    if (error instanceof ParseError) {
      this.fail(new InvalidResponseError(`The answer to "${method}" cannot be read: ${error.message}`, { cause: error }));
    } else if (error === undefined) this.fail(toNoResponse(this.#call, this.message));
    else if (isMortiseError(error) && !(error instanceof ConnectionClosedError)) this.fail(error);
    else {
      const message = `${describe(this.#call)} broke off before "${method}" was answered: whether it was carried out is not known`;
      this.fail(new ConnectionClosedError(message, { cause: error }));
    }
  }

  async #onAnswer(answer: HttpAnswer): Promise<void> {
    if (this.#isOver) return answer.abort();
    const { status } = answer;
    if (status < 200 || status > 299) return this.#onFailure(answer);
    this.#owner.onAccepted(this.message, answer);
    this.#stream = new ReopeningStream(this.#owner, this, { needsCursor: true, caller: this.caller });
    if (this.#stream.read(answer)) return;
    if (status !== 202) throw toNoMessage(this.#call, answer);
    // Some servers answer on the stream of the session.
    this.#owner.wire.discard(answer);
    this.#end();
    this.#resolve();
  }

  async #onFailure(answer: HttpAnswer): Promise<void> {
    const failure = await readFailure(this.#call, answer, this.message.id);
    if (this.#isOver) return;
    if (await this.#owner.onFailure(this, this.#call, failure)) return this.stop();
    if (failure.response === undefined) this.fail(failure.error);
    else this.#succeed(failure.response as unknown as JsonValue, '');
  }

  #succeed(value: JsonValue, text: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream?.letEnd();
    this.#owner.onAnswered(this.message, value);
    this.#owner.deliver(value, text);
    this.#end();
    this.#resolve();
  }

  #end(): void {
    this.#isOver = true;
    this.#owner.forget(this);
  }
}
