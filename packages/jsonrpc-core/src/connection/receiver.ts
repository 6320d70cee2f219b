/** What arrives: tells messages apart and hands each to who deals with it; garbage is judged, reported and answered. */

import { INVALID_REQUEST } from '../error-codes.ts';
import { InvalidRequestError, InvalidResponseError, RemoteError } from '../errors.ts';
import { classifyMessage, isRequestId } from '../guards.ts';
import { measureMessage } from '../parse-json.ts';
import type { MessageHead } from '../message-head.ts';
import type { JsonRpcErrorObject, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, RequestId } from '../message.ts';
import type { MessageInfo } from '../transport/transport.ts';
import type { Answers } from './answers.ts';
import type { BatchAnswer } from './batch-answer.ts';
import type { ConnectionOptions } from './connection-options.ts';
import type { InboundCalls } from './inbound-calls.ts';
import { judgeMalformed, toErrorResponse } from './malformed.ts';
import type { RequestTable } from './request-table.ts';

/** What reading needs of the connection. */
export interface ReceiverHost {
  readonly isOpen: boolean;
  /** Runs a callback of the program and reports what it throws. */
  attempt(fn: () => unknown): void;
  /** Reports an error that ends nothing. Does not throw. */
  report(error: Error): void;
}

export class Receiver {
  readonly #options: ConnectionOptions;
  readonly #requests: RequestTable;
  readonly #inbound: InboundCalls;
  readonly #answers: Answers;
  readonly #host: ReceiverHost;

  constructor(options: ConnectionOptions, calls: { requests: RequestTable; inbound: InboundCalls; answers: Answers }, host: ReceiverHost) {
    this.#options = options;
    this.#requests = calls.requests;
    this.#inbound = calls.inbound;
    this.#answers = calls.answers;
    this.#host = host;
  }

  /** Reads one value. Throws what a callback of the program throws. */
  receive(value: unknown, info: MessageInfo | undefined, batch?: BatchAnswer): void {
    switch (classifyMessage(value)) {
      case 'response':
        return this.#onResponse(value as JsonRpcResponse);
      case 'request':
        return this.#inbound.serve(value as JsonRpcRequest, info, batch);
      case 'notification':
        return this.#onNotification(value as JsonRpcNotification, info);
      default:
        if (!batch && Array.isArray(value) && this.#options.isBatchingOn?.() === true) this.#onBatch(value, info);
        else this.#onMalformed(value, batch);
    }
  }

  #onResponse(response: JsonRpcResponse): void {
    if (this.#requests.settle(response)) return;
    if (response.id === undefined || response.id === null) {
      if ('error' in response) this.#host.report(new RemoteError(response.error));
      return;
    }
    this.#host.report(
      new InvalidResponseError(`An answer came for id ${JSON.stringify(response.id)}, which no request waits for: it was ignored`),
    );
  }

  #onNotification(notification: JsonRpcNotification, info: MessageInfo | undefined): void {
    const { method, params } = notification;
    if (method === 'notifications/cancelled') {
      const id = params?.['requestId'];
      if (!isRequestId(id) || this.#inbound.cancel(id, params?.['reason'])) return;
    } else if (method === 'notifications/progress') this.#requests.progress(params);
    this.#host.attempt(() => this.#options.onNotification?.(notification, info));
  }

  #onBatch(members: readonly unknown[], info: MessageInfo | undefined): void {
    const maxBatch = this.#options.maxBatch ?? 1000;
    if (members.length === 0) return this.#reportAndRefuse('A batch must not be empty', INVALID_REQUEST);
    if (members.length > maxBatch)
      return this.#reportAndRefuse(`A batch may hold ${maxBatch} messages at most: send smaller ones`, INVALID_REQUEST);
    const batch = this.#answers.openBatch();
    const isTold = info?.bytes !== undefined;
    for (const member of members) this.receive(member, isTold ? { ...info, bytes: measureMember(member) } : info, batch);
    batch.seal();
  }

  #onMalformed(value: unknown, batch: BatchAnswer | undefined): void {
    const { error, meantAs, id } = judgeMalformed(value);
    this.#host.report(error);
    if (meantAs === 'response') this.#requests.settleMalformed(id);
    const isAnswer = meantAs === 'either' && this.#requests.settleMalformed(id, 'has neither a result nor an error');
    const isRequest = !isAnswer && (meantAs === 'either' || meantAs === 'request');
    if (!isRequest || this.#options.isAnswering?.() === false) return;
    batch?.expect();
    this.#answers.give(this.#toMalformedAnswer({ code: error.rpcCode, message: error.message }, id), batch);
  }

  /** Settles what could not be read: a request is answered with an error under its id, and who waits for an answer is told why it is none. */
  refuseUnread(error: Error, message: string, code: number, head: MessageHead | undefined): void {
    if (head?.kind === 'response') this.#requests.settleMalformed(head.id, `cannot be read: ${message}`, error);
    else this.refuse(message, code, head?.id);
  }

  #reportAndRefuse(message: string, code: number): void {
    this.#host.report(new InvalidRequestError(message, code));
    this.refuse(message, code);
  }

  /** Answers what could not be read at all. */
  refuse(message: string, code: number, id?: RequestId): void {
    if (!this.#host.isOpen || this.#options.isAnswering?.() === false) return;
    this.#answers.give(this.#toMalformedAnswer({ code, message }, id), undefined);
  }

  #toMalformedAnswer(error: JsonRpcErrorObject, id: RequestId | undefined): JsonRpcResponse {
    return toErrorResponse(id, error, this.#options.isErrorIdOptional?.() === true);
  }
}

/** Each by itself: one may be nearly the whole batch, and be in flight long after all others. What asks nothing does not stay. */
function measureMember(member: unknown): number | undefined {
  if (classifyMessage(member) !== 'request') return undefined;
  try {
    return measureMessage(JSON.stringify(member));
  } catch {
    // It came by reference and holds what JSON cannot carry.
    return undefined;
  }
}
