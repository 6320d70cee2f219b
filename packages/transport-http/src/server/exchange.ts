/**
 * One HTTP request from its first check to its answer. Both faces call it, and nothing else decides anything about the protocol's HTTP.
 *
 * The order of the checks: guard, path, method, rate, token, media types, body, JSON, era; then, for a modern request, its headers
 * against its body. A token is looked at before the body, so that nobody unknown makes the server read megabytes.
 */

import { isMortiseError, type JsonRpcMessage, type JsonValue } from '@mortise/jsonrpc-core';
import { classifyMessage, parseJson, PARSE_ERROR } from '@mortise/jsonrpc-core/messages';
import { findRevision } from '@mortise/protocol';
import type { AuthInfo } from '@mortise/protocol/contracts';
import { PROTOCOL_VERSION_HEADER } from '../headers.ts';
import { verifyToken } from './bearer.ts';
import { checkBodyHeaders, checkParsedBody } from './check-body.ts';
import { corsHeaders, preflightHeaders } from './cors.ts';
import { serveDelete, serveGet } from './get-stream.ts';
import { Caller, toRequestUrl } from './hosted-call.ts';
import type { HttpHost } from './http-host.ts';
import type { HttpRequest, HttpSink } from './http-request.ts';
import { type PostExchange, serveLegacyBatch, serveLegacyMessage } from './legacy-post.ts';
import { readAccepts } from './media-types.ts';
import { serveModern } from './modern-post.ts';
import { pickEra } from './pick-era.ts';
import { busyRefusal, HttpRefusal, invalidRefusal, toRefusal } from './refusal.ts';
import { Reply } from './reply.ts';
import { serveSseMessage, serveSseStream } from './sse-endpoints.ts';
import { isMetadataPath, metadataUrlOf } from './well-known.ts';

/** What a request is for, by its path. */
type Door = 'mcp' | 'sse-stream' | 'sse-message' | 'metadata';

const METHODS: Readonly<Record<Door, readonly string[]>> = {
  mcp: ['POST', 'GET', 'DELETE'],
  'sse-stream': ['GET'],
  'sse-message': ['POST'],
  metadata: ['GET'],
};

/** Serves one request. Never rejects: whatever fails is answered. */
export async function serveExchange(host: HttpHost, request: HttpRequest, sink: HttpSink): Promise<void> {
  const reply = new Reply(sink, host.pulse);
  try {
    const origin = host.guard.check(request);
    reply.addHeaders(corsHeaders(host.guard, origin));
    const door = findDoor(host, request.target) ?? findDoor(host, request.mountPath + request.target);
    if (door === undefined) throw new HttpRefusal(404, describeDoors(host));
    if (request.method === 'OPTIONS') return reply.empty(204, preflightHeaders(request));
    checkMethod(host, request, door);
    host.checkOpen();
    if (door === 'metadata') return reply.json(200, JSON.stringify(host.settings.resourceMetadata));
    await serveDoor(host, { request, reply, door });
  } catch (error) {
    refuse(host, { request, reply }, error);
  }
}

interface Visit {
  readonly request: HttpRequest;
  readonly reply: Reply;
  readonly door: Door;
}

function serveDoor(host: HttpHost, visit: Visit): Promise<void> | void {
  const { settings } = host;
  if (settings.tokenVerifier !== undefined || settings.rateLimit !== undefined) return admit(host, visit);
  return serveCaller(host, visit, new Caller(visit.request, visit.request.auth, settings));
}

async function admit(host: HttpHost, visit: Visit): Promise<void> {
  const { request, reply } = visit;
  const auth = host.settings.tokenVerifier === undefined ? request.auth : await authorize(host, request, reply);
  const caller = new Caller(request, auth, host.settings);
  if (host.settings.rateLimit !== undefined) await checkRate(host, caller);
  await serveCaller(host, visit, caller);
}

function serveCaller(host: HttpHost, { request, reply, door }: Visit, caller: Caller): Promise<void> | void {
  if (door === 'sse-stream') return serveSseStream(host, caller, reply, request.mountPath + (host.settings.ssePaths?.messagePath ?? ''));
  if (door === 'sse-message') return serveSseMessage(host, caller, reply);
  if (request.method === 'GET') return serveGet(host, caller, reply);
  if (request.method === 'DELETE') return serveDelete(host, caller, reply);
  return servePost(host, caller, reply);
}

async function servePost(host: HttpHost, caller: Caller, reply: Reply): Promise<void> {
  const { request } = caller;
  checkBodyHeaders(request);
  const accepts = readAccepts(request.header('accept'));
  if (!accepts.json && !accepts.sse) throw new HttpRefusal(406, 'Answers are "application/json" or "text/event-stream": accept both');
  const { jsonOnly, maxDepth } = host.settings;
  const { parsedBody } = request;
  const value = parsedBody === undefined ? parseJson(await host.readBody(caller), { maxDepth }) : checkParsedBody(parsedBody, maxDepth);
  if (reply.hasLeft) return;
  const exchange: PostExchange = { host, caller, reply, mode: { json: accepts.json, sse: accepts.sse, jsonOnly } };
  if (Array.isArray(value)) await serveArray(exchange, value);
  else await serveValue(exchange, value);
}

function serveValue(exchange: PostExchange, value: JsonValue): Promise<void> | void {
  if (classifyMessage(value) === 'invalid') throw invalidRefusal(value);
  const message = value as unknown as JsonRpcMessage;
  const isModern = pickEra(exchange.host, exchange.caller.request, message) === 'modern';
  return isModern ? serveModern(exchange, message) : serveLegacyMessage(exchange, message);
}

function serveArray(exchange: PostExchange, values: readonly JsonValue[]): Promise<void> {
  if (!exchange.host.settings.legacy) throw invalidRefusal(values);
  return serveLegacyBatch(exchange, values);
}

function findDoor({ settings }: HttpHost, target: string): Door | undefined {
  const { path, ssePaths } = settings;
  if (target === path) return 'mcp';
  const query = target.indexOf('?');
  const asked = query === -1 ? target : target.slice(0, query);
  if (isMetadataPath(asked, settings)) return 'metadata';
  if (asked === ssePaths?.path) return 'sse-stream';
  if (asked === ssePaths?.messagePath) return 'sse-message';
  return path === undefined || asked === path ? 'mcp' : undefined;
}

/** What a client that took the wrong path is told: the right ones are no secret, and a slip is the most common reason. */
function describeDoors({ settings: { path = '/', ssePaths } }: HttpHost): string {
  const sse = ssePaths === undefined ? '' : `, that of HTTP+SSE at "${ssePaths.path}"`;
  return `There is nothing at this path: the MCP endpoint is at "${path}"${sse}`;
}

function checkMethod({ settings }: HttpHost, { method }: HttpRequest, door: Door): void {
  if (method === 'POST' && door === 'mcp') return;
  const hasSessions = settings.legacy && settings.sessions;
  const methods = door === 'mcp' && !hasSessions ? ['POST'] : METHODS[door];
  if (methods.includes(method)) return;
  throw new HttpRefusal(405, `The method is not served here: use ${methods.join(', ')}`, {
    headers: ['Allow', [...methods, 'OPTIONS'].join(', ')],
  });
}

async function authorize(host: HttpHost, request: HttpRequest, reply: Reply): Promise<AuthInfo | undefined> {
  const { tokenVerifier, baseUrl } = host.settings;
  if (tokenVerifier === undefined) return request.auth;
  const controller = new AbortController();
  reply.leaver = { onLeave: () => controller.abort() };
  const url = toRequestUrl(request, baseUrl);
  const auth = await verifyToken(request, {
    verifier: tokenVerifier,
    url,
    metadataUrl: metadataUrlOf(request, host.settings),
    signal: controller.signal,
  });
  reply.leaver = undefined;
  return auth;
}

async function checkRate({ settings }: HttpHost, caller: Caller): Promise<void> {
  const retryAfterSeconds = await settings.rateLimit?.(caller.subject);
  if (retryAfterSeconds !== undefined) throw busyRefusal('Too many requests: come back later', retryAfterSeconds, { status: 429 });
}

function refuse(host: HttpHost, { request, reply }: Pick<Visit, 'request' | 'reply'>, error: unknown): void {
  const refusal =
    isMortiseError(error) && error.code === 'ERR_PARSE' ? new HttpRefusal(400, error.message, { rpcCode: PARSE_ERROR }) : toRefusal(error);
  if (refusal.status === 500) host.logFailure(refusal.detail.fault ?? error);
  try {
    reply.refuse(refusal, wantsNullId(request));
  } catch (unsent) {
    // A verifier's challenge that HTTP cannot carry, say. Who asked is answered all the same.
    host.settings.logger.log('error', 'A refusal could not be sent', { error: String(unsent) });
    reply.refuse(toRefusal(unsent), wantsNullId(request));
  }
}

/** Older revisions have no error without an id; where none could be read it is `null` there. */
function wantsNullId(request: HttpRequest): boolean {
  return findRevision(request.header(PROTOCOL_VERSION_HEADER))?.rules.errorIdOptional === false;
}
