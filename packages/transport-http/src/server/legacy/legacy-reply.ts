/**
 * The HTTP response to one legacy POST: a JSON body, or an event stream if a message precedes the JSON-RPC response or the client must be
 * able to resume. The HTTP response to a batch contains several JSON-RPC responses.
 *
 * @see 2025-11-25 basic/transports#sending-messages-to-the-server
 */

import type { ClockTimer, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, RequestId } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { NEWEST_LEGACY, type Revision } from '@mortise/protocol';
import { INSUFFICIENT_SCOPE } from '@mortise/protocol/wire';
import { scopeChallenge } from '../http/authorize.ts';
import { type HttpExchange, writeResponse } from '../http/http-exchange.ts';
import type { HttpSession } from './http-session.ts';
import { LegacyCall, rejectUnreachable } from './legacy-call.ts';
import { createStreamId, SessionStream } from './session-stream.ts';

/** What decides whether the HTTP response to a legacy POST is JSON or an event stream. */
export interface LegacyReplyTerms {
  readonly session: HttpSession;
  /** How many responses the POST gets. */
  readonly expected: number;
  /** The ids of the requests that the endpoint handles. @default none */
  readonly requests?: readonly RequestId[];
  readonly isBatch?: boolean;
  /** Whether nothing but the response may be sent. Set for `initialize`, whose response is JSON if the client accepts JSON. */
  readonly isAlone?: boolean;
}

/** How long an event stream waits before it starts, because a call with missing scopes needs HTTP status 403 instead. */
const HOLD_MS = 200;
/** The error message for requests that have no response when the handler closes. */
const CLOSED = 'The server has closed';

export class LegacyReply {
  readonly http: HttpExchange;
  readonly #terms: LegacyReplyTerms;
  readonly #responses: JsonRpcResponse[] = [];
  #open: number;
  #stream: SessionStream | undefined;
  #holdTimer: ClockTimer | undefined;

  constructor(http: HttpExchange, terms: LegacyReplyTerms) {
    this.http = http;
    this.#terms = terms;
    this.#open = terms.expected;
    if (!this.canPause) return;
    // An event id at the start lets a client resume and fetch the response. The stream of a verified caller starts a little later, because
    // missing scopes need status 403.
    if (http.auth === undefined) this.#openStream();
    else this.#holdTimer = http.shared.settings.clock.schedule(() => this.#stream ?? this.#openStream(), HOLD_MS);
  }

  /** Whether the connection may be closed before the response is sent, so that the client resumes the stream later. */
  get canPause(): boolean {
    return this.#canStream && this.#revision.http.polling && this.#terms.session.eventLog !== undefined;
  }

  /** The revision of the session. Before `initialize` has agreed on one, errors are those of the newest legacy revision. */
  get #revision(): Revision {
    return this.#terms.session.revision ?? NEWEST_LEGACY;
  }

  get #canStream(): boolean {
    return this.http.accepts.sse && !this.http.shared.settings.jsonOnly && this.#terms.isAlone !== true;
  }

  /** Sends a notification or request that belongs to one of the requests in the POST. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    const { session } = this.#terms;
    const isOver = this.#open === 0;
    const canStream = this.#canStream && !isOver;
    const stream = canStream ? (this.#stream ?? this.#openStream()) : undefined;
    if (stream !== undefined && (stream.isReachable || !('id' in message))) return stream.send(message);
    // A request that cannot use this stream may use the client's GET stream. A notification is dropped.
    if (!('id' in message)) {
      if (!isOver && this.http.shared.settings.jsonOnly) this.http.shared.warnOfJsonOnly(message.method);
      return resolvedPromise;
    }
    if (session.isConnected) return session.send(message);
    if (canStream) return rejectUnreachable(message, 'the client closed the stream of its call');
    const why = isOver ? 'the response to its call is sent' : 'the response to its call is JSON only';
    return rejectUnreachable(message, `${why}, and the client has no GET stream open`);
  }

  /** Closes the connection before the response is sent. The client resumes the stream after `retryMs` milliseconds. */
  pause(retryMs: number): void {
    if (this.#open > 0) (this.#stream ?? this.#openStream()).pause(retryMs);
  }

  /**
   * Called when one request of the POST has ended.
   *
   * @param response undefined if the client cancelled the request.
   * @returns Resolves when the HTTP response is handed over, which a slow event store or client delays. Never rejects.
   */
  settle(response: JsonRpcResponse | undefined): Promise<void> {
    if (response !== undefined) {
      if (this.#stream === undefined) this.#responses.push(response);
      else sendResponse(this.#stream, response, this.#open === 1);
    }
    return --this.#open === 0 ? this.#finish() : resolvedPromise;
  }

  #finish(): Promise<void> {
    if (this.#stream === undefined && this.#wantsStream()) this.#openStream();
    this.#holdTimer?.cancel();
    const stream = this.#stream;
    if (stream !== undefined) {
      const finished = stream.finish();
      return finished === resolvedPromise ? finished : finished.then(() => this.#terms.session.deletePost(stream));
    }
    const [only] = this.#responses;
    if (only === undefined) this.http.empty(202);
    else if (this.#terms.isBatch === true) this.http.json(200, `[${this.#responses.map((each) => writeResponse(each).json).join(',')}]`);
    else this.#answer(only);
    return resolvedPromise;
  }

  /** Whether to send a JSON-RPC response as an event stream: the client accepts only streams, or must be able to resume. */
  #wantsStream(): boolean {
    const [first] = this.#responses;
    if (first === undefined || (this.http.accepts.json && !this.canPause)) return false;
    return this.#terms.isBatch === true || scopeChallenge(first, this.http) === undefined;
  }

  #answer(response: JsonRpcResponse): void {
    const challenge = scopeChallenge(response, this.http);
    if (challenge !== undefined) this.http.addHeaders(challenge);
    const code = 'error' in response ? response.error.code : undefined;
    const status = challenge === undefined ? this.#revision.http.statusByCode.get(code ?? 0) : INSUFFICIENT_SCOPE;
    this.http.json(status ?? 200, writeResponse(response).json);
  }

  #openStream(): SessionStream {
    const { session, isAlone } = this.#terms;
    // The response to `initialize` cannot be resumed, because the client does not know the session id yet.
    const log = this.#revision.http.resumable && isAlone !== true ? session.eventLog : undefined;
    const stream = new SessionStream(log === undefined ? '' : createStreamId('post'), log);
    this.#stream = stream;
    if (log !== undefined) session.addPost(stream);
    const about = log && { node: this.http.shared.sessions.node, requests: [...(this.#terms.requests ?? [])] };
    stream.connect(this.http.openStream('wait'), this.canPause ? this.http.shared.settings.retryMs : undefined, about);
    const responses = this.#responses.splice(0);
    for (const [n, response] of responses.entries()) sendResponse(stream, response, this.#open === 0 && n === responses.length - 1);
    return stream;
  }
}

function sendResponse(stream: SessionStream, response: JsonRpcResponse, isLast: boolean): void {
  const { message, json } = writeResponse(response);
  stream.sendAnswer(message, json, isLast);
}

/** The `Call` that the endpoint gets with a legacy request. */
export class RequestCall extends LegacyCall {
  readonly request: JsonRpcRequest;
  readonly #reply: LegacyReply;
  #isSettled = false;

  constructor(reply: LegacyReply, request: JsonRpcRequest) {
    super(reply.http);
    this.request = request;
    this.#reply = reply;
  }

  get closeStream(): ((retryMs?: number) => void) | undefined {
    if (!this.#reply.canPause) return undefined;
    return (retryMs = this.#reply.http.shared.settings.retryMs) => {
      if (!this.isCancelled) this.#reply.pause(retryMs);
    };
  }

  override send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if (!this.isCancelled) return this.#reply.send(message);
    if (!('id' in message)) return resolvedPromise;
    return rejectUnreachable(message, CLOSED);
  }

  /** Called when the endpoint has handled the request, also if `cut` has responded already. @param response As of `LegacyReply.settle`. */
  settle(response: JsonRpcResponse | undefined): Promise<void> {
    if (this.#isSettled) return resolvedPromise;
    this.#isSettled = true;
    return this.#reply.settle(response);
  }

  /** Cancels the request because the server closes, and responds with an error at once: the endpoint may never respond. */
  override cut(reason: Error): void {
    this.cancel(reason);
    void this.settle({ jsonrpc: '2.0', id: this.request.id, error: { code: INTERNAL_ERROR, message: CLOSED } });
  }
}
