/**
 * Handles a POST of the modern era. Checks that its headers agree with its body, so that proxies, which read the headers, and the server
 * see the same request. The endpoint then responds with JSON, or with an event stream if it sends notifications first.
 *
 * @see 2026-07-28 basic/transports/streamable-http#server-validation
 */

import {
  CancelledError,
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type JsonValue,
  ProtocolError,
} from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { findRevision, NEWEST, type Revision, revisionsOf, supportedVersions } from '@mortise/protocol';
import type { HttpRules } from '@mortise/protocol/revisions';
import {
  HEADER_MISMATCH,
  INSUFFICIENT_SCOPE,
  META_CLIENT_CAPABILITIES,
  META_PROTOCOL_VERSION,
  META_SUBSCRIPTION_ID,
} from '@mortise/protocol/wire';
import { decodeHeaderValue, isSameParam, METHOD_HEADER, PROTOCOL_VERSION_HEADER, readPath, toParamText } from '../../headers.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { scopeChallenge, watchExpiry } from '../http/authorize.ts';

/** Responds to a POST with one modern message. @param meta The message's `_meta`. */
export function respondToModern(http: HttpExchange, message: JsonRpcMessage, meta: JsonObject | undefined): Promise<void> | void {
  if (!('method' in message))
    throw new HttpRefusal(
      400,
      'A response is not accepted here: answer a modern server by sending the request again with "inputResponses", a legacy server within its session',
    );
  const version = meta?.[META_PROTOCOL_VERSION];
  if (!('id' in message)) return acceptNotification(http, message, version);
  checkVersionHeader(http, version);
  const revision = findRevision(version);
  const hasMeta = typeof version === 'string' && isJsonObject(meta?.[META_CLIENT_CAPABILITIES]);
  const isModern = revision?.era === 'modern';
  // The endpoint reports missing `_meta` members and unsupported versions.
  if (isModern && hasMeta && revision.http.mirrorHeaders) checkMirrors(http, message, revision);
  const terms = { rules: (isModern ? revision : NEWEST).http, hasMeta };
  return revision?.requests.get(message.method)?.listens === true ? listen(http, message, terms) : respond(http, message, terms);
}

/** What decides the HTTP status of a JSON-RPC response, besides the response itself. */
interface StatusTerms {
  readonly rules: HttpRules;
  /** Whether the request has all members of `_meta` that the revision requires. */
  readonly hasMeta: boolean;
}

/**
 * Accepts a notification with status 202. The specification requires no headers for notifications, so only headers that are present are
 * compared with the body.
 */
function acceptNotification(http: HttpExchange, { method }: JsonRpcNotification, version: JsonValue | undefined): void {
  if (http.header(PROTOCOL_VERSION_HEADER) !== undefined) checkVersionHeader(http, version);
  if (http.header(METHOD_HEADER) !== undefined) checkMethodHeader(http, method);
  http.empty(202);
}

/** Serves `subscriptions/listen`. Counts its response as an open stream, and ends it when the token expires. */
async function listen(http: HttpExchange, request: JsonRpcRequest, terms: StatusTerms): Promise<void> {
  const { shared } = http;
  const { id, method } = request;
  if (!http.accepts.sse) throw new HttpRefusal(406, `The response to "${method}" is an event stream: accept "text/event-stream"`);
  const release = shared.holdStream(http.limitKey);
  http.endListen = () => {
    http.finish({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta: { [META_SUBSCRIPTION_ID]: id } } }, 200);
    http.cancel(new CancelledError('the server is closing'));
  };
  const expiry = watchExpiry(shared.settings.clock, http.auth, () => http.expire());
  try {
    await respond(http, request, terms);
  } finally {
    expiry?.cancel();
    release();
  }
}

async function respond(http: HttpExchange, request: JsonRpcRequest, terms: StatusTerms): Promise<void> {
  const { shared } = http;
  shared.calls.add(http);
  try {
    const response = await shared.server.handle(request, http);
    const challenge = scopeChallenge(response, http);
    if (challenge !== undefined) http.addHeaders(challenge);
    http.finish(response, challenge === undefined ? statusOf(response, terms) : INSUFFICIENT_SCOPE);
  } finally {
    shared.end(http);
  }
}

function statusOf(response: JsonRpcResponse, { rules, hasMeta }: StatusTerms): number {
  if (!('error' in response)) return 200;
  const { code } = response.error;
  if (code === INVALID_PARAMS && !hasMeta) return rules.missingMetaStatus;
  return rules.statusByCode.get(code) ?? 200;
}

// ---- headers against the body

/** Checks that `Mcp-Method`, `Mcp-Name` where the method has a name, and the `Mcp-Param-*` headers of a tool call agree with the body. */
function checkMirrors(http: HttpExchange, { method, params }: JsonRpcRequest, revision: Revision): void {
  const { server } = http.shared;
  checkMethodHeader(http, method);
  const facts = revision.requests.get(method);
  const nameParam = facts === undefined ? server.nameParam(method) : facts.nameParam;
  if (nameParam === undefined) return;
  const name = params?.[nameParam];
  checkMirror(http, 'Mcp-Name', name);
  if (facts?.paramHeaders !== 'sent' || typeof name !== 'string') return;
  // Ignores `Mcp-Param-*` headers for arguments that the tool's schema does not mark.
  try {
    for (const [header, path] of server.paramHeaders(name) ?? [])
      checkMirror(http, `Mcp-Param-${header}`, readPath(params?.['arguments'], path));
  } catch (error) {
    if (!(error instanceof HttpRefusal)) throw error;
    // Only the endpoint knows whether the caller may see the tool at all.
    http.paramFault = new ProtocolError(HEADER_MISMATCH, error.message);
  }
}

/**
 * Checks `MCP-Protocol-Version`.
 *
 * @param inBody The version in `_meta`, which the header must equal. If only it is missing, the endpoint refuses.
 */
function checkVersionHeader(http: HttpExchange, inBody: unknown): void {
  const header = http.header(PROTOCOL_VERSION_HEADER);
  if (header !== undefined && header === inBody) return;
  const isNamed = typeof inBody === 'string';
  if (!isNamed && !http.shared.settings.legacy && findRevision(header)?.era !== 'modern') throw otherRevision(header);
  if (header === undefined) throw mismatch('MCP-Protocol-Version', `is missing: ${isNamed ? NO_HEADER : NO_VERSION}`);
  if (isNamed) throw mismatch('MCP-Protocol-Version', 'differs from the version in "_meta"');
}

const NO_HEADER = 'send the version that "_meta" names';
const NO_VERSION = 'send "initialize" first, or a modern version both in this header and in "_meta"';

/**
 * Makes the error response for a legacy client of a server that does not serve the legacy era. It lists the supported versions.
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
    // No header can carry this value. The tool's schema decides whether it is valid.
    if (toParamText(value) === undefined) return;
    throw mismatch(name, 'is missing: send the value of the argument in the body');
  }
  const text = decodeHeaderValue(header);
  if (text === undefined) throw mismatch(name, 'has characters that a header must not have, or invalid base64');
  if (!isSameParam(text, value)) throw mismatch(name, 'differs from the body');
}

function mismatch(header: string, problem: string): HttpRefusal {
  return new HttpRefusal(400, `The header "${header}" ${problem}`, { rpcCode: HEADER_MISMATCH });
}
