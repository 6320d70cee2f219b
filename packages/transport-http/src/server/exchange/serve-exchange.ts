/**
 * One HTTP request from its first check to its answer. Both faces call it, and nothing else decides anything about the protocol's HTTP.
 *
 * The order of the checks: guard, path, method, token, media types, body, JSON, era; then, for a modern request, its headers against its
 * body. The token is looked at before the body, so that nobody unknown makes the server read megabytes.
 */

import type { JsonRpcMessage, JsonValue } from '@mortise/jsonrpc-core';
import { classifyMessage, parseJson } from '@mortise/jsonrpc-core/messages';
import { type Era, findRevision } from '@mortise/protocol';
import { META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION } from '@mortise/protocol/wire';
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../../headers.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import { isJsonContentType, readAccepts } from '../http/media-types.ts';
import type { HttpHost } from '../http-host.ts';
import { serveSseMessage, serveSseStream } from '../http-sse.ts';
import { invalidMessage, methodNotAllowed, notAcceptable, notFound, tooDeep, toRefusal, unsupportedBody } from '../refusal.ts';
import { serveDelete, serveGet } from '../session/get-stream.ts';
import { serveLegacyBatch, serveLegacyMessage } from '../session/legacy-post.ts';
import { authorize, isMetadataPath } from './authorize.ts';
import { corsHeaders, preflightHeaders } from './guard.ts';
import { metaOf } from './mirror-headers.ts';
import { serveModern } from './modern.ts';

/** What a request is for, by its path. */
type Route = 'mcp' | 'sse-stream' | 'sse-message' | 'metadata';

const METHODS: Readonly<Record<Route, readonly string[]>> = {
  mcp: ['POST', 'GET', 'DELETE'],
  'sse-stream': ['GET'],
  'sse-message': ['POST'],
  metadata: ['GET'],
};

/** How deep JSON may nest. */
const MAX_DEPTH = 128;

/** Serves one request. Never rejects: whatever fails is answered. */
export async function serveExchange(http: HttpExchange): Promise<void> {
  const { host } = http;
  try {
    const origin = host.guard.check(http);
    if (origin !== undefined) http.addHeaders(corsHeaders(host.guard, origin));
    const route = findRoute(host, http.target) ?? findRoute(host, http.mountPath + http.target);
    if (route === undefined) throw notFound(describePaths(host));
    if (http.method === 'OPTIONS') return http.empty(204, preflightHeaders(http));
    checkMethod(http, route);
    host.checkOpen();
    if (route === 'metadata') return http.json(200, JSON.stringify(host.settings.resourceMetadata));
    if (host.settings.tokenVerifier !== undefined) await authorize(http, host.settings.tokenVerifier);
    if (route === 'sse-stream') serveSseStream(http);
    else if (http.method === 'GET') await serveGet(http);
    else if (http.method === 'DELETE') await serveDelete(http);
    else await servePost(http, route);
  } catch (error) {
    refuse(http, error);
  }
}

async function servePost(http: HttpExchange, route: Route): Promise<void> {
  checkBodyHeaders(http);
  if (route === 'sse-message') return serveSseMessage(http, readJson);
  http.accepts = readAccepts(http.header('accept'));
  if (!http.accepts.json && !http.accepts.sse) throw notAcceptable('Answers are "application/json" or "text/event-stream": accept both');
  const value = await readJson(http);
  if (http.hasLeft) return;
  if (Array.isArray(value)) {
    if (!http.host.settings.legacy) throw invalidMessage(value);
    return serveLegacyBatch(http, value);
  }
  if (classifyMessage(value) === 'invalid') throw invalidMessage(value);
  const message = value as unknown as JsonRpcMessage;
  return pickEra(http, message) === 'modern' ? serveModern(http, message) : serveLegacyMessage(http, message);
}

/**
 * Decides which era a POST belongs to. A request that is modern but wrong must get a modern error, so whatever speaks of a modern
 * revision, or of one that nobody here knows, is modern.
 *
 * @see 2026-07-28 basic/versioning#backward-compatibility
 */
function pickEra(http: HttpExchange, message: JsonRpcMessage): Era {
  if (!http.host.settings.legacy) return 'modern';
  const meta = metaOf(message);
  if (meta?.[META_PROTOCOL_VERSION] !== undefined || meta?.[META_CLIENT_CAPABILITIES] !== undefined) return 'modern';
  const version = http.header(PROTOCOL_VERSION_HEADER);
  if (version === undefined) return isLegacyWithoutVersion(http, message) ? 'legacy' : 'modern';
  const revision = findRevision(version);
  if (revision !== undefined) return revision.era;
  // Inside a session an unknown version is that session's error.
  return http.header(SESSION_ID_HEADER) === undefined ? 'modern' : 'legacy';
}

/** With sessions on, what neither opens nor names one is read as a modern request that forgot its headers (ledger C-07). */
function isLegacyWithoutVersion(http: HttpExchange, message: JsonRpcMessage): boolean {
  if (!http.host.settings.sessions || http.header(SESSION_ID_HEADER) !== undefined) return true;
  return 'method' in message && (message.method === 'initialize' || !('id' in message));
}

/** Reads the body, or takes what a framework in front has made of it. */
async function readJson(http: HttpExchange): Promise<JsonValue> {
  const { parsedBody } = http;
  if (parsedBody === undefined) return parseJson(await http.readBody(), { maxDepth: MAX_DEPTH });
  if (isNestedDeeper(parsedBody, MAX_DEPTH)) throw tooDeep(MAX_DEPTH);
  return parsedBody as JsonValue;
}

/** Stops at the bound, so its own depth is bounded too. */
function isNestedDeeper(value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (maxDepth === 0) return true;
  return Object.values(value).some((member) => isNestedDeeper(member, maxDepth - 1));
}

/** What every POST is held to, whichever of the endpoints it is for. */
function checkBodyHeaders(http: HttpExchange): void {
  if (!isJsonContentType(http.header('content-type')))
    throw unsupportedBody('The body must be JSON: send "Content-Type: application/json"');
  const encoding = http.header('content-encoding');
  if (encoding !== undefined && encoding !== 'identity') throw unsupportedBody('The body must not be compressed: send it as it is');
}

function findRoute({ settings }: HttpHost, target: string): Route | undefined {
  const { path, ssePaths } = settings;
  if (target === path) return 'mcp';
  const query = target.indexOf('?');
  const asked = query === -1 ? target : target.slice(0, query);
  if (isMetadataPath(asked, settings)) return 'metadata';
  if (asked === ssePaths?.stream) return 'sse-stream';
  if (asked === ssePaths?.messages) return 'sse-message';
  return path === undefined || asked === path ? 'mcp' : undefined;
}

function describePaths({ settings: { path = '/', ssePaths } }: HttpHost): string {
  const sse = ssePaths === undefined ? '' : `, that of HTTP+SSE at "${ssePaths.stream}"`;
  return `the MCP endpoint is at "${path}"${sse}`;
}

function checkMethod({ host, method }: HttpExchange, route: Route): void {
  if (method === 'POST' && route === 'mcp') return;
  const hasSessions = host.settings.legacy && host.settings.sessions;
  const methods = route === 'mcp' && !hasSessions ? ['POST'] : METHODS[route];
  if (!methods.includes(method)) throw methodNotAllowed(methods);
}

function refuse(http: HttpExchange, error: unknown): void {
  const { host } = http;
  const refusal = toRefusal(error);
  if (refusal.status === 500) host.logFailure(refusal.detail.fault ?? error);
  // Older revisions have no error without an id: where none could be read it is `null` there.
  const nullId = findRevision(http.header(PROTOCOL_VERSION_HEADER))?.rules.errorIdOptional === false;
  try {
    http.refuse(refusal, nullId);
  } catch (unsent) {
    // A verifier's challenge that HTTP cannot carry, say. Who asked is answered all the same.
    host.settings.logger.log('error', 'A refusal could not be sent', { error: String(unsent) });
    http.refuse(toRefusal(unsent), nullId);
  }
}
