/** A legacy session that somebody else carries: HTTP hosts hand its messages over one by one and keep its state. */

import {
  CancelledError,
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  ProtocolError,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { INVALID_REQUEST, isJsonRpcRequest, isJsonRpcResponse, isRequestId } from '@mortise/jsonrpc-core/messages';
import type { Call, LegacySession, SessionLink, SessionState } from '@mortise/protocol/contracts';
import { toErrorAnswer } from './answer.ts';
import type { ClientLink, LinkRequestOptions } from './client-link.ts';
import { Session, type SessionFacts } from './era/session.ts';
import { ServerClosedError } from './errors.ts';
import { HostedCall } from './hosted-call.ts';
import { PendingAsks } from './pending-asks.ts';
import { serveRaw } from './serve-raw.ts';
import type { ServerCore } from './server-core.ts';
import { toState } from './session-state.ts';

export class HostedSession implements LegacySession, ClientLink {
  readonly #core: ServerCore;
  readonly #link: SessionLink;
  readonly #session: Session;
  readonly #running = new Map<RequestId, HostedCall>();
  #asks: PendingAsks | undefined;
  #isClosed = false;

  /** @param facts What an earlier session came to, where this one goes on from it. */
  constructor(core: ServerCore, link: SessionLink, facts: SessionFacts | undefined) {
    this.#core = core;
    this.#link = link;
    this.#session = new Session(core, this, link);
    if (facts) this.#session.restore(facts);
  }

  get state(): SessionState {
    return toState(this.#session.facts);
  }

  get canRequest(): boolean {
    return this.#link.canRequest;
  }

  get sessionId(): string | undefined {
    return this.#link.sessionId;
  }

  async receive(message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined> {
    const isRequest = isJsonRpcRequest(message);
    // One session never tells another principal that it exists.
    if (call.principal !== this.#link.principal || this.#isClosed)
      return isRequest ? toErrorAnswer(message.id, unknownSession()) : undefined;
    if (isRequest) return this.#serve(message, call);
    if (isJsonRpcResponse(message)) this.#asks?.settle(message);
    else this.#notice(message, call);
    return undefined;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#running.size > 0 || this.#asks) this.#failAll(new ServerClosedError('The session was closed'));
    await this.#session.close();
  }

  #failAll(reason: Error): void {
    for (const call of this.#running.values()) call.cancel(reason);
    this.#running.clear();
    this.#asks?.failAll(reason);
  }

  // ---- the session's way to its client

  send(notification: JsonRpcNotification): Promise<void> {
    return this.#link.send(notification);
  }

  request(method: string, params: JsonObject | undefined, options: LinkRequestOptions): Promise<JsonObject> {
    const { call } = options;
    const carrier = call
      ? (message: JsonRpcNotification | JsonRpcRequest) => call.send(message)
      : (message: JsonRpcNotification | JsonRpcRequest) => this.#link.send(message);
    return (this.#asks ??= new PendingAsks(this.#core.clock)).ask(method, params, options, carrier);
  }

  onChanged(): void {
    this.#link.onStateChange?.(this.state);
  }

  // ---- messages

  /** A cancelled request has no answer, so its promise settles at once with none. */
  async #serve(request: JsonRpcRequest, exchange: Call): Promise<JsonRpcResponse | undefined> {
    if (this.#running.has(request.id)) {
      return toErrorAnswer(request.id, new ProtocolError(INVALID_REQUEST, 'A request with this id is still being served: use a new id'));
    }
    const call = new HostedCall(exchange);
    this.#running.set(request.id, call);
    try {
      const answered = this.#core.rawHandler
        ? serveRaw(request, this.#toRawCarrier(call), () => this.#session.serve(request, call))
        : this.#session.serve(request, call);
      if (!(answered instanceof Promise)) return answered;
      return await Promise.race([answered, call.cancelled]);
    } finally {
      this.#running.delete(request.id);
      call.release();
    }
  }

  #toRawCarrier(host: HostedCall): Parameters<typeof serveRaw>[1] {
    const request = (method: string, params: JsonObject | undefined, options: LinkRequestOptions): Promise<JsonObject> =>
      this.request(method, params, { ...options, call: host });
    return { core: this.#core, host, via: 'channel', sessionId: this.sessionId, request: this.canRequest ? request : undefined };
  }

  #notice(notification: JsonRpcNotification, call: Call): void {
    const { method, params } = notification;
    if (method === 'notifications/cancelled') {
      const id = params?.['requestId'];
      const reason = params?.['reason'];
      if (isRequestId(id)) this.#running.get(id)?.cancel(new CancelledError(typeof reason === 'string' ? reason : undefined));
      return;
    }
    this.#session.notice(notification, call);
  }
}

function unknownSession(): ProtocolError {
  return new ProtocolError(INVALID_REQUEST, 'There is no such session: send "initialize" to open one');
}
