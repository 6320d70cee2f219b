/** One request that is being served, as its handler sees it. Made for each request, so everything in it is lazy. */

import { Cancellation } from '../cancellation.ts';
import type { JsonObject, JsonRpcRequest, JsonRpcResponse } from '../message.ts';
import { linkSignals } from '../signals.ts';
import { type MessageInfo, resolvedPromise, type SendOptions } from '../transport/transport.ts';
import type { RequestOptions } from './pending-request.ts';

/** What a call sends through: the connection that it came by. */
export interface CallLink {
  notify(method: string, params?: JsonObject, options?: SendOptions): Promise<void>;
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject>;
}

/** The answers to one batch, which are sent together once all are there (JSON-RPC 2.0 section 6). */
export interface Batch {
  readonly answers: JsonRpcResponse[];
  /** How many bytes the answers have that are there. */
  bytes: number;
  /** How many answers are still to come; one more while the members of the batch are read. */
  waiting: number;
}

/**
 * One request that is being served. Its `signal` aborts when the peer cancels (with a `CancelledError`) or the connection closes
 * (with a `ConnectionClosedError`).
 */
export class InboundCall extends Cancellation {
  /** The request itself. */
  readonly message: JsonRpcRequest;
  /** What the transport said about the request. */
  readonly info: MessageInfo | undefined;
  /** Where the answer goes if the request came in a batch. */
  readonly batch: Batch | undefined;
  readonly #link: CallLink;
  #isAnswered = false;

  constructor(message: JsonRpcRequest, info: MessageInfo | undefined, batch: Batch | undefined, link: CallLink) {
    super();
    this.message = message;
    this.info = info;
    this.batch = batch;
    this.#link = link;
  }

  /** True once the call is answered or cancelled: nothing more is sent that belongs to it. */
  get isSettled(): boolean {
    return this.#isAnswered || this.isCancelled;
  }

  /** Sends a notification that belongs to this call. Does nothing once the call is settled. */
  notify(method: string, params?: JsonObject): Promise<void> {
    if (this.isSettled) return resolvedPromise;
    return this.#link.notify(method, params, { relatedRequestId: this.message.id });
  }

  /** Asks the peer something that belongs to this call. Is cancelled together with it. See `Connection.request`. */
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    const { signal, dispose } = linkSignals(options?.signal, this.signal);
    return this.#link.request(method, params, { ...options, relatedRequestId: this.message.id, signal }).finally(dispose);
  }

  /** The answer is about to be sent. */
  settle(): void {
    this.#isAnswered = true;
  }

  /** No answer is wanted any more. Does nothing once the call is settled. */
  override cancel(reason: unknown): void {
    if (!this.isSettled) super.cancel(reason);
  }
}
