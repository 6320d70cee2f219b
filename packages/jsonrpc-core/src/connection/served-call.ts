/** One request that is being served, as its handler sees it. Built for each request, so everything in it is lazy. */

import type { BatchAnswer } from './batch-answer.ts';
import type { InboundCall } from './connection-options.ts';
import type { RequestOptions } from './pending-request.ts';
import type { JsonObject, JsonRpcRequest } from '../message.ts';
import { resolvedPromise } from '../resolved-promise.ts';
import { linkSignals } from '../signals.ts';
import type { MessageInfo, SendOptions } from '../transport/transport.ts';

/** What a call sends through: the connection that it arrived on. */
export interface CallLink {
  notify(method: string, params?: JsonObject, options?: SendOptions): Promise<void>;
  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject>;
}

export class ServedCall implements InboundCall {
  readonly message: JsonRpcRequest;
  readonly info: MessageInfo | undefined;
  /** How many bytes it brought, where the transport tells. */
  readonly bytes: number;
  /** Where the answer goes if the request came in a batch. */
  readonly batch: BatchAnswer | undefined;
  readonly #link: CallLink;
  #isAnswered = false;
  #cancelledBy: Error | undefined;
  #controller: AbortController | undefined;

  constructor(message: JsonRpcRequest, info: MessageInfo | undefined, batch: BatchAnswer | undefined, link: CallLink) {
    this.message = message;
    this.info = info;
    this.bytes = info?.bytes ?? 0;
    this.batch = batch;
    this.#link = link;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#cancelledBy) this.#controller.abort(this.#cancelledBy);
    }
    return this.#controller.signal;
  }

  get isCancelled(): boolean {
    return this.#cancelledBy !== undefined;
  }

  get isSettled(): boolean {
    return this.#isAnswered || this.#cancelledBy !== undefined;
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    if (this.isSettled) return resolvedPromise;
    return this.#link.notify(method, params, { relatedRequestId: this.message.id });
  }

  request(method: string, params?: JsonObject, options?: RequestOptions): Promise<JsonObject> {
    const related = { ...options, relatedRequestId: this.message.id };
    if (!options?.signal) return this.#link.request(method, params, { ...related, signal: this.signal });
    const linked = linkSignals(options.signal, this.signal);
    return this.#link.request(method, params, { ...related, signal: linked.signal }).finally(linked.dispose);
  }

  /** The answer is about to be sent. */
  settle(): void {
    this.#isAnswered = true;
  }

  /** Nobody waits for an answer any more. */
  cancel(reason: Error): void {
    if (this.isSettled) return;
    this.#cancelledBy = reason;
    this.#controller?.abort(reason);
  }
}
