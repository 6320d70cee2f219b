/**
 * One exchange of the modern era: a POST and its answer, which is one JSON body unless something precedes it.
 *
 * @see 2026-07-28 basic/transports/streamable-http
 */

import { CancelledError, type JsonRpcNotification, type JsonRpcRequest, type JsonRpcResponse, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import { encodeMessageEvent } from '../sse/encode-event.ts';
import { type Caller, HostedCall } from './hosted-call.ts';
import type { LeaveListener } from './http-request.ts';
import type { Accepts } from './media-types.ts';
import { closingRefusal } from './refusal.ts';
import type { Reply } from './reply.ts';
import type { SseStream } from './sse-stream.ts';
import { toJsonText } from './to-json-text.ts';
import { writeMessage } from './write-message.ts';

/** The request that stays open and delivers what changes. */
export const LISTEN_METHOD = 'subscriptions/listen';

/** How an exchange may be answered. */
export interface AnswerMode extends Accepts {
  /** The program wants JSON alone: what would precede the answer is dropped. */
  readonly jsonOnly: boolean;
}

export class ModernCall extends HostedCall implements LeaveListener {
  readonly #request: JsonRpcRequest;
  readonly #reply: Reply;
  readonly #mode: AnswerMode;
  #stream: SseStream | undefined;
  #isFinished = false;

  constructor(caller: Caller, request: JsonRpcRequest, reply: Reply, mode: AnswerMode) {
    super(caller);
    this.#request = request;
    this.#reply = reply;
    this.#mode = mode;
    // In this era leaving is cancelling.
    reply.leaver = this;
  }

  onLeave(): void {
    this.cancel(new CancelledError('the client closed the connection'));
  }

  get isListen(): boolean {
    return this.#request.method === LISTEN_METHOD;
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if ('id' in message) {
      return Promise.reject(
        new ProtocolError(INTERNAL_ERROR, `"${message.method}" cannot be sent: in this revision a server asks through its result`),
      );
    }
    if (this.isCancelled || this.#isFinished || !this.#mode.sse || (this.#mode.jsonOnly && !this.isListen)) return resolvedPromise;
    try {
      return this.#openStream().write(encodeMessageEvent(writeMessage(message)));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Sends the answer. @param status For an answer that nothing preceded. */
  finish(response: JsonRpcResponse, status: number): void {
    if (this.isCancelled) return;
    this.#isFinished = true;
    const json = toJsonText(response);
    if (this.#stream === undefined && this.#mode.json) this.#reply.json(status, json);
    else this.#openStream().end(encodeMessageEvent(json));
  }

  /** Ends a listen from the server's side, with its result. Any other call is left alone. */
  endListen(): void {
    if (!this.isListen || this.isCancelled) return;
    const { id } = this.#request;
    this.finish({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta: { [META_SUBSCRIPTION_ID]: id } } }, 200);
    this.cancel(new CancelledError('the server closes'));
  }

  /**
   * Ends the stream of a listen and not the subscription: without a result, which would say that there is nothing to come back for. The
   * client is to open it again with a fresh token.
   *
   * @see 2026-07-28 basic/patterns/subscriptions#graceful-closure
   */
  expire(): void {
    if (!this.isCancelled) this.#openStream().end();
  }

  /** Breaks off, because the server closes: a stream is cut, and who has heard nothing yet is told to come back. */
  override cut(reason: Error): void {
    this.cancel(reason);
    if (this.#stream === undefined) this.#reply.refuse(closingRefusal({ id: this.#request.id }));
    else this.#stream.cut();
  }

  #openStream(): SseStream {
    if (this.#stream === undefined) {
      // What a call sends may wait for its reader; what a listen delivers has no sender that could.
      this.#stream = this.#reply.openStream(this.isListen ? 'cut' : 'wait');
      this.#stream.onClose(this.#onClose);
    }
    return this.#stream;
  }

  /** At once, and not with the next event of the socket: a handler that only ever sends would never let that come. */
  readonly #onClose = (): void => {
    if (!this.#isFinished) this.cancel(new CancelledError('the stream was closed'));
  };
}
