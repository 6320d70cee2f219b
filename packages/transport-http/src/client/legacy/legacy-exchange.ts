/** One request of the legacy era: its POST, and the event stream with its response, which can be resumed if it breaks. */

import { ConnectionClosedError, type JsonRpcRequest, type JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { describe, type HttpFailure, isSuccess, readFailure, toHttpError, toLostResponse, toOwnResponse } from '../http-failure.ts';
import type { HttpAnswer, HttpCall } from '../http-sender.ts';
import { EventStream, type StreamListener, type StreamOwner } from './event-stream.ts';

/** How a request ended: with a response, or refused. Neither is set if the response arrives on another stream or is no longer needed. */
export interface LegacyReply {
  /** The JSON-RPC response, or a batch that contains it. */
  readonly value?: JsonValue;
  /** The JSON text of `value`. */
  readonly text?: string;
  readonly failure?: HttpFailure;
}

/** What a `LegacyExchange` needs from the channel that sends the request. */
export interface LegacyExchangeOwner extends StreamOwner {
  /** Called with the headers of a successful HTTP response to the request. @throws An error that makes the HTTP response unusable. */
  onHead(request: JsonRpcRequest, answer: HttpAnswer): void;
  /** Called with each message that arrives on the stream before the response to the request. */
  deliver(value: JsonValue, text: string): void;
  report(error: Error): void;
}

export class LegacyExchange implements StreamListener {
  readonly reply: Promise<LegacyReply>;
  readonly request: JsonRpcRequest;
  readonly #owner: LegacyExchangeOwner;
  readonly #stream: EventStream;
  #resolve: (reply: LegacyReply) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(owner: LegacyExchangeOwner, request: JsonRpcRequest, call: HttpCall, caller: WaitingCaller | undefined) {
    this.#owner = owner;
    this.request = request;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#stream = new EventStream(owner, this, { needsCursor: true, caller });
    this.#stream.open(call);
  }

  /** Closes the stream of the response. Called after `notifications/cancelled` was sent for the request. */
  cancel(): void {
    this.#stream.stop();
    this.#resolve({});
  }

  fail(error: unknown): void {
    this.#stream.stop();
    this.#reject(error);
  }

  onHead(answer: HttpAnswer): void {
    this.#owner.onHead(this.request, answer);
  }

  onValue(value: JsonValue, text: string): void {
    const { id } = this.request;
    const members = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
    const isResponse = members.some((member) => isJsonObject(member) && member['method'] === undefined && member['id'] === id);
    const response = isResponse ? value : (toOwnResponse(value, id) as JsonValue | undefined);
    if (response === undefined) return this.#owner.deliver(value, text);
    this.#stream.finish();
    this.#resolve({ value: response, text });
  }

  onGarbage(error: Error): void {
    this.#owner.report(error);
  }

  onRefused(call: HttpCall, answer: HttpAnswer): void {
    const { wire } = this.#owner;
    if (call.method === 'GET') {
      answer.abort();
      const why = `${describe(call)} did not open it again: HTTP status ${answer.status}`;
      this.#reject(new ConnectionClosedError(`The event stream for "${this.request.method}" broke off, and ${why}`));
    } else if (!isSuccess(answer)) {
      void readFailure(wire, call, answer, this.request.id).then((failure) => this.#resolve({ failure }));
    } else if (answer.status === 202) {
      // Some servers send the response on the session's GET stream.
      wire.discard(answer);
      this.#resolve({});
    } else {
      this.#reject(toHttpError(call, answer));
      answer.abort();
    }
  }

  onOver(error: Error | undefined, isStream: boolean): void {
    // Without an HTTP response the error says why there is none.
    this.fail(this.#stream.wasGiven ? toLostResponse(this.#owner.wire.url, this.request, { error, isStream }) : error);
  }
}
