/**
 * A POST of the modern era: its headers are checked against its body, so that proxies, which read the headers, and the server, which reads
 * the body, see the same request. Then the endpoint answers: with one JSON body, or with an event stream where something precedes the answer.
 *
 * @see 2026-07-28 basic/transports/streamable-http#server-validation
 */

import { CancelledError, type JsonObject, type JsonRpcMessage, type JsonRpcRequest, type JsonRpcResponse } from '@mortise/jsonrpc-core';
import { classifyMessage, INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { findRevision, NEWEST, type Revision, revisionsOf, supportedVersions } from '@mortise/protocol';
import { HEADER_MISMATCH, META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION, META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import { decodeHeaderValue, isSameParam, METHOD_HEADER, PROTOCOL_VERSION_HEADER, readPath, toParamText } from '../../headers.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { FORBIDDEN, scopeChallenge, watchExpiry } from '../http/authorize.ts';

/** The request that stays open and delivers what changes. */
const LISTEN_METHOD = 'subscriptions/listen';

/** Serves one message. */
export function respondToModern(http: HttpExchange, message: JsonRpcMessage): Promise<void> | void {
  const kind = classifyMessage(message);
  if (kind === 'response')
    throw new HttpRefusal(
      400,
      'A response is not accepted here: modern servers ask through their results, and older ones within a session',
    );
  if (kind === 'notification') return acceptNotification(http, message);
  const request = message as JsonRpcRequest;
  const revision = checkHeaders(http, request);
  return request.method === LISTEN_METHOD ? serveListen(http, request, revision) : answer(http, request, revision);
}

/** The `_meta` of a message; undefined where it has none. */
export function metaOf(message: JsonRpcMessage): JsonObject | undefined {
  const meta = 'method' in message ? message.params?.['_meta'] : undefined;
  return isJsonObject(meta) ? meta : undefined;
}

/**
 * The core has no notification from clients over HTTP, and the specification does not say which headers one needs: those that are there must
 * agree with it.
 */
function acceptNotification(http: HttpExchange, message: JsonRpcMessage): void {
  if (http.header(PROTOCOL_VERSION_HEADER) !== undefined) checkVersionHeader(http, metaOf(message)?.[META_PROTOCOL_VERSION]);
  if ('method' in message && http.header(METHOD_HEADER) !== undefined) checkMethodHeader(http, message.method);
  http.empty(202);
}

async function serveListen(http: HttpExchange, request: JsonRpcRequest, revision: Revision | undefined): Promise<void> {
  if (!http.accepts.sse) throw new HttpRefusal(406, '"subscriptions/listen" is answered with an event stream: accept "text/event-stream"');
  const { handler } = http;
  const { id } = request;
  const release = handler.holdStream(http.limitKey);
  http.endListen = () => {
    http.finish({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta: { [META_SUBSCRIPTION_ID]: id } } }, 200);
    http.cancel(new CancelledError('the server closes'));
  };
  const expiry = watchExpiry(handler.settings.clock, http.auth, () => http.expire());
  try {
    await answer(http, request, revision);
  } finally {
    expiry?.cancel();
    release();
  }
}

async function answer(http: HttpExchange, request: JsonRpcRequest, revision: Revision | undefined): Promise<void> {
  const { handler } = http;
  handler.calls.add(http);
  try {
    const response = await handler.endpoint.handle(request, http);
    const challenge = scopeChallenge(response, http);
    if (challenge !== undefined) http.addHeaders(challenge);
    http.finish(response, challenge === undefined ? statusOf(response, request, revision) : FORBIDDEN);
  } finally {
    handler.end(http);
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

// ---- headers against the body

/**
 * Checks the version, then `Mcp-Method`, `Mcp-Name` where the method has a name, and the `Mcp-Param-*` headers of a tool call.
 *
 * @returns The modern revision that the request names; undefined for any other version, which the endpoint refuses.
 */
function checkHeaders(http: HttpExchange, request: JsonRpcRequest): Revision | undefined {
  const { method, params } = request;
  const { endpoint } = http.handler;
  const meta = metaOf(request);
  const version = meta?.[META_PROTOCOL_VERSION];
  checkVersionHeader(http, version);
  const revision = findRevision(version);
  if (revision?.era !== 'modern') return undefined;
  // The endpoint reports what is missing in `_meta`.
  if (!revision.http.mirrorHeaders || !isJsonObject(meta?.[META_CLIENT_CAPABILITIES])) return revision;
  checkMethodHeader(http, method);
  const facts = revision.requests.get(method);
  const nameParam = facts === undefined ? endpoint.nameParam(method) : facts.nameParam;
  if (nameParam !== undefined) checkMirror(http, 'Mcp-Name', params?.[nameParam]);
  const tool = method === 'tools/call' ? params?.['name'] : undefined;
  const marked = typeof tool === 'string' ? endpoint.paramHeaders(tool, http.principal, http) : undefined;
  // Headers that the tool does not mark mean nothing.
  for (const [name, path] of marked ?? []) checkMirror(http, `Mcp-Param-${name}`, readPath(params?.['arguments'], path));
  return revision;
}

/** @param inBody The version in `_meta`. If the body has none either, the endpoint refuses the request. */
function checkVersionHeader(http: HttpExchange, inBody: unknown): void {
  const header = http.header(PROTOCOL_VERSION_HEADER);
  if (header !== undefined && header === inBody) return;
  const isNamed = typeof inBody === 'string';
  if (!isNamed && !http.handler.settings.legacy && findRevision(header)?.era !== 'modern') throw otherRevision(header);
  if (header === undefined) throw mismatch('MCP-Protocol-Version', `is missing: ${isNamed ? NO_HEADER : NO_VERSION}`);
  if (isNamed) throw mismatch('MCP-Protocol-Version', 'differs from the version in "_meta"');
}

const NO_HEADER = 'send the version that "_meta" names';
const NO_VERSION = 'send "initialize" first, or a modern version both in this header and in "_meta"';

/**
 * Tells a client of an older revision what is spoken where none of those is served: it cannot find out otherwise.
 *
 * @see 2026-07-28 basic/versioning#backward-compatibility
 */
function otherRevision(header: string | undefined): HttpRefusal {
  const spoken = supportedVersions(revisionsOf('modern')).join(', ');
  const remedy = `this server speaks ${spoken} only, so send that version both in this header and in "_meta"`;
  if (header === undefined) return mismatch('MCP-Protocol-Version', `is missing: ${remedy}`);
  return new HttpRefusal(400, `The header "MCP-Protocol-Version" names another version: ${remedy}`, { rpcCode: INVALID_PARAMS });
}

function checkMethodHeader(http: HttpExchange, inBody: string): void {
  const header = http.header(METHOD_HEADER);
  if (header === undefined) throw mismatch('Mcp-Method', 'is missing: send the method of the body');
  if (header !== inBody) throw mismatch('Mcp-Method', 'differs from the method in the body');
}

function checkMirror(http: HttpExchange, name: string, value: unknown): void {
  const header = http.header(name.toLowerCase());
  if (header === undefined) {
    // A value that no header can carry is for the tool's own schema to judge.
    if (toParamText(value) === undefined) return;
    throw mismatch(name, 'is missing: send the value of the body that it repeats');
  }
  const text = decodeHeaderValue(header);
  if (text === undefined) throw mismatch(name, 'has characters that a header may not have, or is not base64');
  if (!isSameParam(text, value)) throw mismatch(name, 'differs from the body');
}

function mismatch(header: string, problem: string): HttpRefusal {
  return new HttpRefusal(400, `The header "${header}" ${problem}`, { rpcCode: HEADER_MISMATCH });
}
