/**
 * A POST of the modern era: its headers are checked against its body, then the endpoint answers. The answer is one JSON body, unless
 * something precedes it: then it ends an event stream.
 *
 * @see 2026-07-28 basic/transports/streamable-http
 */

import {
  CancelledError,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  ProtocolError,
} from '@mortise/jsonrpc-core';
import { classifyMessage, INTERNAL_ERROR, INVALID_PARAMS, isJsonObject, serializeMessage } from '@mortise/jsonrpc-core/messages';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { findRevision, NEWEST, type Revision } from '@mortise/protocol';
import { META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION, META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import { PROTOCOL_VERSION_HEADER } from '../../headers.ts';
import { encodeMessageEvent } from '../../sse/encode-event.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import type { ResponseStream } from '../http/response-stream.ts';
import { badMessage, notAcceptable, serverClosing } from '../refusal.ts';
import { FORBIDDEN, scopeChallenge, watchExpiry } from './authorize.ts';
import { checkMethodIfSent, checkMirrorHeaders, checkVersionHeader, metaOf, refuseOlder } from './mirror-headers.ts';
import { PostCall, writeResponse } from './post-call.ts';

/** The request that stays open and delivers what changes. */
const LISTEN_METHOD = 'subscriptions/listen';

/** Serves one message. @param message Known to be a message. */
export function serveModern(http: HttpExchange, message: JsonRpcMessage): Promise<void> | void {
  const kind = classifyMessage(message);
  if (kind === 'response') throw badMessage('A response is not accepted here: in this revision servers ask through their results');
  if (kind === 'notification') return acceptNotification(http, message);
  const request = message as JsonRpcRequest;
  const revision = checkRequest(http, request);
  if (request.method === LISTEN_METHOD) return serveListen(http, request, revision);
  return answer(new ModernCall(http, request, 'wait'), request, revision);
}

/**
 * The core has no notification from clients over HTTP, and the specification does not say which headers one needs: those that are there must
 * agree with it.
 */
function acceptNotification(http: HttpExchange, message: JsonRpcMessage): void {
  const inBody = metaOf(message)?.[META_PROTOCOL_VERSION];
  if (http.header(PROTOCOL_VERSION_HEADER) !== undefined)
    checkVersionHeader(http, typeof inBody === 'string' ? inBody : undefined, undefined);
  if ('method' in message) checkMethodIfSent(http, message.method, undefined);
  http.empty(202);
}

/** @returns The modern revision that the request names; undefined for a version that is not one, which the endpoint reports. */
function checkRequest(http: HttpExchange, request: JsonRpcRequest): Revision | undefined {
  const meta = metaOf(request);
  const version = meta?.[META_PROTOCOL_VERSION];
  const named = typeof version === 'string' ? version : undefined;
  if (!http.host.settings.legacy && named === undefined) refuseOlder(http, request.id);
  checkVersionHeader(http, named, request.id);
  const revision = findRevision(named);
  if (revision?.era !== 'modern') return undefined;
  if (revision.http.mirrorHeaders && isJsonObject(meta?.[META_CLIENT_CAPABILITIES])) checkMirrorHeaders(http, revision, request);
  return revision;
}

async function serveListen(http: HttpExchange, request: JsonRpcRequest, revision: Revision | undefined): Promise<void> {
  if (!http.accepts.sse)
    throw notAcceptable('"subscriptions/listen" is answered with an event stream: accept "text/event-stream"', request.id);
  const { host } = http;
  const release = host.holdStream(http.limitKey);
  const call = new ListenCall(http, request);
  const expiry = watchExpiry(host.settings.clock, http.auth, () => call.expire());
  try {
    await answer(call, request, revision);
  } finally {
    expiry?.cancel();
    release();
  }
}

async function answer(call: ModernCall, request: JsonRpcRequest, revision: Revision | undefined): Promise<void> {
  const { http } = call;
  http.host.begin(call);
  try {
    const response = await http.host.endpoint.handle(request, call);
    const challenge = scopeChallenge(response, http);
    if (challenge !== undefined) http.addHeaders(challenge);
    call.finish(response, challenge === undefined ? statusOf(response, request, revision) : FORBIDDEN);
  } finally {
    http.host.end(call);
  }
}

function statusOf(response: JsonRpcResponse, request: JsonRpcRequest, revision: Revision | undefined): number {
  if (!('error' in response)) return 200;
  const { http } = revision ?? NEWEST;
  const { code } = response.error;
  const meta = metaOf(request);
  const lacksMeta = typeof meta?.[META_PROTOCOL_VERSION] !== 'string' || !isJsonObject(meta[META_CLIENT_CAPABILITIES]);
  if (code === INVALID_PARAMS && lacksMeta) return http.missingMetaStatus;
  return http.statusByCode.get(code) ?? 200;
}

/** A modern request as its endpoint sees it. In this era leaving is cancelling. */
export class ModernCall extends PostCall {
  protected readonly request: JsonRpcRequest;
  readonly #overflow: 'wait' | 'cut';
  #stream: ResponseStream | undefined;
  #isFinished = false;

  constructor(http: HttpExchange, request: JsonRpcRequest, overflow: 'wait' | 'cut') {
    super(http);
    this.request = request;
    this.#overflow = overflow;
    http.cancelOnLeave(this);
  }

  protected get canStream(): boolean {
    return this.http.accepts.sse && !this.http.host.settings.jsonOnly;
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    if ('id' in message) {
      const reason = `"${message.method}" cannot be sent: in this revision a server asks through its result`;
      return Promise.reject(new ProtocolError(INTERNAL_ERROR, reason));
    }
    if (this.isCancelled || this.#isFinished || !this.canStream) return resolvedPromise;
    try {
      return this.openStream().write(encodeMessageEvent(serializeMessage(message)));
    } catch (error) {
      return Promise.reject(error as Error);
    }
  }

  /** Sends the answer. @param status For an answer that nothing preceded. */
  finish(response: JsonRpcResponse, status: number): void {
    if (this.isCancelled) return;
    this.#isFinished = true;
    const { json } = writeResponse(response);
    if (this.#stream === undefined && this.http.accepts.json) this.http.json(status, json);
    else this.openStream().end(encodeMessageEvent(json));
  }

  /** A stream is cut; a client that has heard nothing yet is asked to come back. */
  override cut(reason: Error): void {
    this.cancel(reason);
    if (this.#stream === undefined) this.http.refuse(serverClosing(this.request.id));
    else this.#stream.cut();
  }

  protected openStream(): ResponseStream {
    if (this.#stream === undefined) {
      this.#stream = this.http.openStream(this.#overflow);
      // At once, and not with the next event of the socket: a handler that only ever sends would never let that come.
      this.#stream.onClose(() => {
        if (!this.#isFinished) this.cancel(new CancelledError('the stream was closed'));
      });
    }
    return this.#stream;
  }
}

/** What a listen delivers has no sender that could wait for a slow reader: its stream is cut instead. */
class ListenCall extends ModernCall {
  constructor(http: HttpExchange, request: JsonRpcRequest) {
    super(http, request, 'cut');
  }

  protected override get canStream(): boolean {
    return true;
  }

  override endListen(): void {
    if (this.isCancelled) return;
    const { id } = this.request;
    this.finish({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta: { [META_SUBSCRIPTION_ID]: id } } }, 200);
    this.cancel(new CancelledError('the server closes'));
  }

  /**
   * Ends the stream and not the subscription: without a result, which would say that there is nothing to come back for. The client is to
   * open it again with a fresh token.
   *
   * @see 2026-07-28 basic/patterns/subscriptions#graceful-closure
   */
  expire(): void {
    if (!this.isCancelled) this.openStream().end();
  }
}
