/**
 * Checks one HTTP request and passes it to the code that responds.
 *
 * Order of the checks: host and origin, path, method, token, media types, body, JSON, era; then, for a modern request, its headers against
 * its body. The token is verified before the body is read, so that unauthorized callers cannot make the server read large bodies.
 */

import type { JsonObject, JsonRpcMessage, JsonRpcRequest, JsonValue } from '@mortise/jsonrpc-core';
import { classifyMessage, isJsonObject, parseJson, PARSE_ERROR, toInvalidRequestError } from '@mortise/jsonrpc-core/messages';
import { findRevision } from '@mortise/protocol';
import { isModernParams } from '@mortise/protocol/wire';
import { isJsonContentType, PROTOCOL_VERSION_HEADER, readAccepts, SESSION_ID_HEADER } from '../../headers.ts';
import type { HttpExchange } from './http-exchange.ts';
import type { SharedState } from './shared-state.ts';
import { acceptSseMessage, openSseChannel } from '../legacy/http-sse.ts';
import { HttpRefusal, toRefusal } from './refusal.ts';
import { endSession, openGetStream } from '../legacy/get-stream.ts';
import { respondToBatch, respondToLegacy } from '../legacy/legacy-post.ts';
import { authorize, isMetadataPath } from './authorize.ts';
import { corsHeaders, preflightHeaders } from './guard.ts';
import { respondToModern } from '../modern/modern-post.ts';

/** What the path of an HTTP request stands for: the MCP endpoint, one of the two HTTP+SSE paths, or protected resource metadata. */
type PathKind = 'mcp' | 'sse-stream' | 'sse-message' | 'metadata';

const METHODS: Readonly<Record<PathKind, readonly string[]>> = {
  mcp: ['POST', 'GET', 'DELETE'],
  'sse-stream': ['GET'],
  'sse-message': ['POST'],
  metadata: ['GET'],
};

/** How deeply JSON that a framework has parsed may be nested. `parseJson` has the same limit. */
const MAX_DEPTH = 128;

/** Responds to one HTTP request. Never rejects: each error becomes an HTTP response. */
export async function routeRequest(http: HttpExchange): Promise<void> {
  const { shared } = http;
  try {
    const pageOrigin = shared.settings.guard.check(http);
    if (pageOrigin !== undefined) http.addHeaders(corsHeaders(http, pageOrigin));
    // A framework that has mounted the handler takes the start of the path away: the option `path` may have it or not.
    const kind = findPathKind(shared, http.target) ?? findPathKind(shared, http.mountPath + http.target);
    if (kind === undefined) throw nothingHere(shared);
    if (http.method === 'OPTIONS') return http.empty(204, preflightHeaders(http));
    checkMethod(http, kind);
    if (shared.isClosing) throw shared.toClosedRefusal();
    if (kind === 'metadata') return http.json(200, JSON.stringify(shared.settings.resourceMetadata));
    if (shared.settings.tokenVerifier !== undefined) await authorize(http, shared.settings.tokenVerifier);
    if (kind === 'sse-message') await acceptSseMessage(http, () => readPostedMessage(http));
    else if (kind === 'sse-stream') openSseChannel(http);
    else if (http.method === 'POST') await routePost(http);
    else await (http.method === 'GET' ? openGetStream(http) : endSession(http));
  } catch (error) {
    refuse(http, error);
  }
}

async function routePost(http: HttpExchange): Promise<void> {
  http.accepts = readAccepts(http.header('accept'));
  if (!http.accepts.json && !http.accepts.sse)
    throw new HttpRefusal(406, 'The response is "application/json" or "text/event-stream": accept both');
  const value = await readPostedJson(http);
  if (http.hasLeft) return;
  const { legacy } = http.shared.settings;
  if (legacy && Array.isArray(value)) return respondToBatch(http, value);
  const message = toMessage(http, value);
  const meta = metaOf(message);
  return legacy && isLegacy(http, message) ? respondToLegacy(http, message) : respondToModern(http, message, meta);
}

async function readPostedMessage(http: HttpExchange): Promise<JsonRpcMessage> {
  return toMessage(http, await readPostedJson(http));
}

/** Checks that a JSON value is a JSON-RPC message. @throws {HttpRefusal} 400: it is none. */
function toMessage(http: HttpExchange, value: JsonValue): JsonRpcMessage {
  const kind = classifyMessage(value);
  if (kind === 'invalid') throw invalidMessage(http, value);
  if (kind === 'request') http.requestId = (value as unknown as JsonRpcRequest).id;
  return value as unknown as JsonRpcMessage;
}

function metaOf(message: JsonRpcMessage): JsonObject | undefined {
  const meta = 'method' in message ? message.params?.['_meta'] : undefined;
  return isJsonObject(meta) ? meta : undefined;
}

/**
 * Whether a POST belongs to the legacy era. A request that names a modern or an unknown revision is modern, even if it is malformed: its
 * client needs an error of the modern era.
 *
 * @see 2026-07-28 basic/versioning#backward-compatibility
 */
function isLegacy(http: HttpExchange, message: JsonRpcMessage): boolean {
  if ('method' in message && isModernParams(message.params)) return false;
  const version = http.header(PROTOCOL_VERSION_HEADER);
  const isInSession = http.header(SESSION_ID_HEADER) !== undefined;
  // Within a session, an unknown version is a legacy error.
  if (version !== undefined) return (findRevision(version)?.era ?? (isInSession ? 'legacy' : 'modern')) === 'legacy';
  // With sessions on, a request without a session that is not `initialize` is handled as a modern request that lacks its headers.
  if (!http.shared.settings.sessions || isInSession) return true;
  return 'method' in message && (message.method === 'initialize' || !('id' in message));
}

/** Reads the JSON in the body of a POST, or takes the body that a framework has parsed. */
async function readPostedJson(http: HttpExchange): Promise<JsonValue> {
  if (!isJsonContentType(http.header('content-type')))
    throw new HttpRefusal(415, 'The body must be JSON: send "Content-Type: application/json"');
  const encoding = http.header('content-encoding');
  if (encoding !== undefined && encoding !== 'identity')
    throw new HttpRefusal(415, 'The body must not be compressed: send it without Content-Encoding');
  const { parsedBody } = http;
  if (parsedBody === undefined) return parseJson(await http.readBody());
  if (isNestedDeeper(parsedBody, MAX_DEPTH))
    throw new HttpRefusal(400, `The JSON nests more than ${MAX_DEPTH} levels deep: send it flatter`, { rpcCode: PARSE_ERROR });
  return parsedBody as JsonValue;
}

function invalidMessage(http: HttpExchange, value: JsonValue): HttpRefusal {
  const { message, rpcCode, id } = toInvalidRequestError(value);
  http.requestId = id ?? undefined;
  return new HttpRefusal(400, message, { rpcCode });
}

/** Whether a value is nested deeper than the limit. Stops at the limit, which also limits the recursion. */
function isNestedDeeper(value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (maxDepth === 0) return true;
  return Object.values(value).some((member) => isNestedDeeper(member, maxDepth - 1));
}

function findPathKind({ settings }: SharedState, target: string): PathKind | undefined {
  const { path, ssePaths } = settings;
  if (target === path) return 'mcp';
  const query = target.indexOf('?');
  const asked = query === -1 ? target : target.slice(0, query);
  if (isMetadataPath(asked, settings)) return 'metadata';
  if (asked === ssePaths?.stream) return 'sse-stream';
  if (asked === ssePaths?.messages) return 'sse-message';
  return path === undefined || asked === path ? 'mcp' : undefined;
}

/** Makes the error response for an unknown path. It names the right path, which is not secret: the usual reason is a typing error. */
function nothingHere({ settings: { path = '/', ssePaths } }: SharedState): HttpRefusal {
  const sse = ssePaths === undefined ? '' : `, that of HTTP+SSE at "${ssePaths.stream}"`;
  return new HttpRefusal(404, `There is nothing at this path: the MCP endpoint is at "${path}"${sse}`);
}

function checkMethod({ shared, method }: HttpExchange, kind: PathKind): void {
  const hasSessions = shared.settings.legacy && shared.settings.sessions;
  const methods = kind === 'mcp' && !hasSessions ? ['POST'] : METHODS[kind];
  if (methods.includes(method)) return;
  const headers = ['Allow', [...methods, 'OPTIONS'].join(', ')];
  throw new HttpRefusal(405, `This is an MCP endpoint: it does not serve this method, use ${methods.join(', ')}`, { headers });
}

function refuse(http: HttpExchange, error: unknown): void {
  const { shared } = http;
  const refusal = toRefusal(error);
  if (refusal.status === 500) shared.logFailure(refusal.detail.fault ?? error);
  // In older revisions an error needs an id: `null` if none could be read.
  const nullId = findRevision(http.header(PROTOCOL_VERSION_HEADER))?.rules.errorIdOptional === false;
  try {
    http.refuse(refusal, nullId);
  } catch (unsent) {
    // For example, the verifier's challenge is not a valid HTTP header. The client still gets a response.
    shared.settings.logger.log('error', 'A refusal could not be sent', { error: String(unsent) });
    http.refuse(toRefusal(unsent), nullId);
  }
}
