/** A POST of the modern era: its headers are held against its body, then the endpoint answers. */

import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { classifyMessage, INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { findRevision, NEWEST, type Revision } from '@mortise/protocol';
import { META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import { PROTOCOL_VERSION_HEADER } from '../headers.ts';
import type { PostExchange } from './legacy-post.ts';
import { checkMethodHeaders, checkMethodIfSent, checkParamHeaders, checkVersionHeader, refuseOlder } from './mirror-headers.ts';
import { LISTEN_METHOD, ModernCall } from './modern-call.ts';
import { HttpRefusal } from './refusal.ts';
import { FORBIDDEN, scopeChallenge } from './scope-challenge.ts';
import { watchExpiry } from './token-expiry.ts';

/** Serves one message. @param message Known to be a message. */
export function serveModern(exchange: PostExchange, message: JsonRpcMessage): Promise<void> | void {
  const kind = classifyMessage(message);
  if (kind === 'response')
    throw new HttpRefusal(400, 'A response is not accepted here: in this revision servers ask through their results');
  if (kind === 'notification') return acceptNotification(exchange, message);
  return serveRequest(exchange, message as JsonRpcRequest);
}

/**
 * The core has no notification from clients over HTTP, and what headers one needs is left open: those that are there must agree.
 */
function acceptNotification({ caller, reply }: PostExchange, message: JsonRpcMessage): void {
  const { request } = caller;
  const inBody = readMeta(message, META_PROTOCOL_VERSION);
  if (request.header(PROTOCOL_VERSION_HEADER) !== undefined)
    checkVersionHeader(request, typeof inBody === 'string' ? inBody : undefined, undefined);
  if ('method' in message) checkMethodIfSent(request, message.method, undefined);
  reply.empty(202);
}

async function serveRequest(exchange: PostExchange, message: JsonRpcRequest): Promise<void> {
  const { host, caller, reply, mode } = exchange;
  const { request } = caller;
  const version = readMeta(message, META_PROTOCOL_VERSION);
  const hasMeta = typeof version === 'string' && isJsonObject(readMeta(message, META_CLIENT_CAPABILITIES));
  if (!host.settings.legacy && typeof version !== 'string') refuseOlder(request, message.id);
  checkVersionHeader(request, typeof version === 'string' ? version : undefined, message.id);
  const revision = findModern(version);
  if (hasMeta && revision?.http.mirrorHeaders === true) checkHeaders(exchange, message);
  const isListen = message.method === LISTEN_METHOD;
  if (isListen && !mode.sse)
    throw new HttpRefusal(406, '"subscriptions/listen" is answered with an event stream: accept "text/event-stream"', { id: message.id });
  const release = isListen ? host.holdStream(caller.limitKey) : undefined;
  const call = host.begin(new ModernCall(caller, message, reply, mode));
  const expiry = isListen ? watchExpiry(host.settings.clock, caller.auth, () => call.expire()) : undefined;
  try {
    const response = await host.endpoint.handle(message, call);
    const challenge = scopeChallenge(response, caller, host.settings);
    if (challenge !== undefined) reply.addHeaders(challenge);
    call.finish(response, challenge === undefined ? statusOf(response, revision ?? NEWEST, hasMeta) : FORBIDDEN);
  } finally {
    host.end(call);
    expiry?.cancel();
    release?.();
  }
}

function checkHeaders({ host, caller }: PostExchange, message: JsonRpcRequest): void {
  const { request } = caller;
  const nameParam = host.endpoint.nameParam(message.method);
  checkMethodHeaders(request, message, nameParam);
  if (message.method !== 'tools/call') return;
  const tool = message.params?.['name'];
  const params = typeof tool === 'string' ? host.endpoint.paramHeaders(tool, caller.principal, caller) : undefined;
  if (params !== undefined) checkParamHeaders(request, message, params);
}

/** What a version that is unknown here, or older, asks of headers nobody can say: the endpoint answers that it is not spoken. */
function findModern(version: unknown): Revision | undefined {
  const revision = findRevision(version);
  return revision?.era === 'modern' ? revision : undefined;
}

function statusOf(response: JsonRpcResponse, { http }: Revision, hasMeta: boolean): number {
  if (!('error' in response)) return 200;
  const { code } = response.error;
  if (code === INVALID_PARAMS && !hasMeta) return http.missingMetaStatus;
  return http.statusByCode.get(code) ?? 200;
}

function readMeta(message: JsonRpcMessage, key: string): unknown {
  const meta = 'method' in message ? message.params?.['_meta'] : undefined;
  return isJsonObject(meta) && Object.hasOwn(meta, key) ? meta[key] : undefined;
}
