/** One request of the legacy era: its POST, and the stream of its answer, however often that is opened again. */

import { ConnectionClosedError, type JsonRpcRequest, type JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';
import type { SseEvent } from '../../sse/decode-events.ts';
import { Exchange } from '../exchange.ts';
import { describe, type HttpFailure, toOwnResponse } from '../http-failure.ts';
import type { HttpAnswer, HttpCall } from '../http-sender.ts';
import { EventStream, type StreamListener, type StreamOwner } from './event-stream.ts';

/** How a request ended: with a value to deliver, a refusal, or neither where its answer comes elsewhere or is not waited for. */
export interface LegacyReply {
  /** The answer, or an array that holds it. */
  readonly value?: JsonValue;
  /** What it was read from. */
  readonly text?: string;
  readonly failure?: HttpFailure;
}

/** Whose request it is. */
export interface LegacyExchangeOwner extends StreamOwner {
  /** The head of a response that is no error. @throws What makes the response worthless. */
  onHead(request: JsonRpcRequest, answer: HttpAnswer): void;
  /** What comes before the answer. */
  deliver(value: JsonValue, text: string): void;
  report(error: Error): void;
}

export class LegacyExchange extends Exchange<LegacyReply> implements StreamListener {
  readonly #owner: LegacyExchangeOwner;
  readonly #caller: WaitingCaller | undefined;
  #stream: EventStream | undefined;

  constructor(owner: LegacyExchangeOwner, request: JsonRpcRequest, call: HttpCall, caller: WaitingCaller | undefined) {
    super(owner.wire, request);
    this.#owner = owner;
    this.#caller = caller;
    this.send(call, caller);
  }

  /** The server has been asked to cancel the request: closes what the answer would come over. */
  cancel(): void {
    this.abort();
    this.succeed({});
  }

  onValue(value: JsonValue, text: string): void {
    if (this.isSettled) return;
    const { id } = this.request;
    const members = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
    const isAnswered = members.some((member) => isJsonObject(member) && member['method'] === undefined && member['id'] === id);
    const answer = isAnswered ? value : (toOwnResponse(value, id) as JsonValue | undefined);
    if (answer === undefined) return this.#owner.deliver(value, text);
    this.succeed({ value: answer, text });
    this.#stream?.finish();
  }

  onGarbage(error: Error): void {
    this.#owner.report(error);
  }

  onEvent(event: SseEvent): void {
    if (event.id === undefined && event.retryMs === undefined) return;
    this.#stream ??= new EventStream(this.#owner, this, { needsCursor: true, caller: this.#caller });
    this.#stream.onEvent(event);
  }

  override onEnd(error?: Error): void {
    if (this.#stream) this.#stream.onEnd(error);
    else super.onEnd(error);
  }

  onRefused(call: HttpCall, answer: HttpAnswer): void {
    answer.abort();
    const why = `${describe(call)} does not give the stream: HTTP status ${answer.status}`;
    this.fail(new ConnectionClosedError(`The answer to "${this.request.method}" broke off, and ${why}`));
  }

  onOver(error: Error): void {
    super.onEnd(error);
  }

  protected override onHead(answer: HttpAnswer): void {
    this.#owner.onHead(this.request, answer);
  }

  protected onFailure(failure: HttpFailure): void {
    this.succeed({ failure });
  }

  protected override onNoMessage(call: HttpCall, answer: HttpAnswer): void {
    if (answer.status !== 202) return super.onNoMessage(call, answer);
    // Some servers answer on the stream of the session.
    this.wire.discard(answer);
    this.succeed({});
  }

  protected override abort(): void {
    super.abort();
    this.#stream?.stop();
  }
}
