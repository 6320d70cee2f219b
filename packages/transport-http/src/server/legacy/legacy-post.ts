/** Handles a POST of the legacy era: `initialize`, a message of a session, a batch, or a request without a session. */

import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse, JsonValue } from '@mortise/jsonrpc-core';
import { classifyMessage, INVALID_REQUEST, toErrorResponse, toInvalidRequestError } from '@mortise/jsonrpc-core/messages';
import { findRevision, type Revision } from '@mortise/protocol';
import type { SessionState } from '@mortise/protocol/contracts';
import { ASSUMED_WITHOUT_HEADER } from '@mortise/protocol/revisions';
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../../headers.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import type { SharedState } from '../http/shared-state.ts';
import { HttpRefusal, SESSION_OVER, toRefusal } from '../http/refusal.ts';
import { HttpSession } from './http-session.ts';
import { LegacyCall } from './legacy-call.ts';
import { LegacyReply, RequestCall } from './legacy-reply.ts';

/** How many messages a JSON-RPC batch may contain. */
const MAX_BATCH = 100;

/** Responds to a POST with one legacy message. */
export async function respondToLegacy(http: HttpExchange, message: JsonRpcMessage): Promise<void> {
  const isRequest = 'method' in message && 'id' in message;
  const opensSession = isRequest && message.method === 'initialize' && http.header(SESSION_ID_HEADER) === undefined;
  if (opensSession && http.shared.settings.sessions) return openSession(http, message);
  const session = await sessionOf(http, opensSession);
  if (!isRequest) return accept(http, session, [message]);
  await respond(http, session, [message]);
}

/** Responds to a POST with a batch of messages, if the session's revision has batches. */
export async function respondToBatch(http: HttpExchange, values: readonly JsonValue[]): Promise<void> {
  const session = await sessionOf(http);
  if (session.revision?.rules.batching !== true)
    throw new HttpRefusal(400, 'A batch of messages is not accepted here: send one message at a time');
  const fault = findBatchFault(values);
  if (fault !== undefined) throw new HttpRefusal(400, fault);
  const requests: JsonRpcRequest[] = [];
  const others: JsonRpcMessage[] = [];
  const ready: JsonRpcResponse[] = [];
  for (const value of values) {
    const kind = classifyMessage(value);
    if (kind === 'invalid') ready.push(toInvalidResponse(value));
    else if (kind === 'request') requests.push(value as unknown as JsonRpcRequest);
    else others.push(value as unknown as JsonRpcMessage);
  }
  if (requests.length === 0 && ready.length === 0) return accept(http, session, others);
  for (const message of others) receive(http, session, message).catch((error: unknown) => http.shared.logFailure(error));
  await respond(http, session, requests, ready);
}

/** Reads the revision from `MCP-Protocol-Version`. @throws {HttpRefusal} 400: the header is not a version of the legacy era. */
function readVersionHeader(http: HttpExchange): Revision | undefined {
  const value = http.header(PROTOCOL_VERSION_HEADER);
  if (value === undefined) return undefined;
  const revision = findRevision(value);
  if (revision?.era === 'legacy') return revision;
  const remedy = 'send the one that "initialize" agreed on';
  throw new HttpRefusal(400, `The version in the header "MCP-Protocol-Version" is not supported in this session: ${remedy}`);
}

/**
 * Finds the session named by `Mcp-Session-Id`. The revision that `initialize` agreed on stays in force, even if a request's version header
 * names another legacy revision.
 *
 * @throws {HttpRefusal} 400 without a session's id or for an unknown version, 404 for a session that does not exist or belongs to another
 * caller.
 */
export async function findSession(http: HttpExchange): Promise<HttpSession> {
  readVersionHeader(http);
  const id = http.header(SESSION_ID_HEADER);
  if (id !== undefined) return http.shared.sessions.find(id, http);
  throw new HttpRefusal(400, 'The header "Mcp-Session-Id" is missing: send "initialize" first, then the id in the header of its response');
}

async function openSession(http: HttpExchange, message: JsonRpcRequest): Promise<void> {
  const { shared } = http;
  readVersionHeader(http);
  const session = shared.sessions.create(http);
  let isAdmitted = false;
  // Nothing may precede this response, because its headers contain the session id.
  const reply = new LegacyReply(http, { session, expected: 1, isAlone: true });
  const call = new RequestCall(reply, message);
  shared.calls.add(call);
  try {
    const response = await shared.sessions.receive(session, message, call);
    session.revision = agreedRevision(response);
    if (session.revision !== undefined) {
      await shared.sessions.admit(session);
      isAdmitted = true;
      http.addHeaders([SESSION_ID_HEADER, session.id]);
    }
    void call.settle(response);
  } finally {
    shared.end(call);
    if (!isAdmitted) await shared.sessions.discard(session);
  }
}

/** Returns the revision in a successful response to `initialize`; undefined for any other response. */
function agreedRevision(response: JsonRpcResponse | undefined): Revision | undefined {
  return response !== undefined && 'result' in response ? findRevision(response.result['protocolVersion']) : undefined;
}

/** Finds the session of a POST. If the program turned sessions off, opens one that serves only this POST. */
async function sessionOf(http: HttpExchange, isInitialize = false): Promise<HttpSession> {
  if (http.shared.settings.sessions) return findSession(http);
  const named = readVersionHeader(http);
  return isInitialize ? new HttpSession(http, undefined) : openStateless(http, named ?? ASSUMED_WITHOUT_HEADER);
}

/** Opens a session that serves only one POST, as if `initialize` had been sent before. Its state is made once for each revision. */
async function openStateless(http: HttpExchange, revision: Revision): Promise<HttpSession> {
  const { statelessStates, settings } = http.shared;
  let state: SessionState | undefined;
  if (settings.skipsHandshake !== true) {
    state = statelessStates.get(revision) ?? (await makeState(http, revision));
    statelessStates.set(revision, state);
  }
  const session = new HttpSession(http, undefined, state);
  session.revision = revision;
  return session;
}

async function makeState(http: HttpExchange, revision: Revision): Promise<SessionState> {
  const session = new HttpSession(http, undefined);
  const call = new LegacyCall(http);
  const params = { protocolVersion: revision.version, capabilities: {}, clientInfo: { name: 'unknown', version: '0' } };
  try {
    const response = await session.endpointSession.receive({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, call);
    if (agreedRevision(response) !== revision) throw new HttpRefusal(400, `The protocol version ${revision.version} is not supported here`);
    await session.endpointSession.receive({ jsonrpc: '2.0', method: 'notifications/initialized' }, call);
    return session.endpointSession.state;
  } finally {
    await session.close();
  }
}

/** Closes the session if it serves only one POST. Called when the POST is handled. */
function release(session: HttpSession): void {
  if (session.isStateless) void session.close();
}

function receive(http: HttpExchange, session: HttpSession, message: JsonRpcMessage): Promise<JsonRpcResponse | undefined> {
  return http.shared.sessions.receive(session, message, new LegacyCall(http));
}

/** Handles messages that need no response. The client gets status 202 when their changes are stored and other machines have them. */
async function accept(http: HttpExchange, session: HttpSession, messages: readonly JsonRpcMessage[]): Promise<void> {
  try {
    await Promise.all(messages.map((message) => receive(http, session, message)));
  } finally {
    release(session);
  }
  http.empty(202);
}

/** Handles requests and sends their responses. @param ready For a batch: the error responses to its invalid members. */
async function respond(
  http: HttpExchange,
  session: HttpSession,
  requests: readonly JsonRpcRequest[],
  ready?: readonly JsonRpcResponse[],
): Promise<void> {
  const expected = requests.length + (ready?.length ?? 0);
  const reply = new LegacyReply(http, { session, expected, requests: requests.map(({ id }) => id), isBatch: ready !== undefined });
  for (const response of ready ?? []) void reply.settle(response);
  try {
    await Promise.all(requests.map((request) => respondToRequest(http, session, new RequestCall(reply, request))));
  } finally {
    release(session);
  }
}

async function respondToRequest({ shared }: HttpExchange, session: HttpSession, call: RequestCall): Promise<void> {
  const { request } = call;
  shared.calls.add(call);
  try {
    // An error, such as one of the session store, must not affect other requests of the batch, or a stream that has begun.
    const response = await shared.sessions.receive(session, request, call).catch((error: unknown) => toFailure(shared, request, error));
    // A request that its client cancelled has no response. A request whose session ended, here or on another machine, gets an error.
    const isOver = response === undefined && (session.isEnded || session.isClosed);
    // The call ends when its response is handed over, so that closing waits for a slow event store or reader.
    await call.settle(isOver ? toSessionOver(request) : response);
  } finally {
    shared.end(call);
  }
}

function toSessionOver({ id }: JsonRpcRequest): JsonRpcResponse {
  return { jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message: SESSION_OVER } };
}

/** Logs why a request failed. @returns An error response to the client without details. */
export function toFailure(shared: SharedState, { id }: JsonRpcRequest, error: unknown): JsonRpcResponse {
  shared.logFailure(error);
  const { rpcCode, message } = toRefusal(error);
  return { jsonrpc: '2.0', id, error: { code: rpcCode, message } };
}

function findBatchFault(values: readonly JsonValue[]): string | undefined {
  if (values.length === 0) return 'A batch must contain at least one message';
  if (values.length > MAX_BATCH) return `A batch may contain at most ${MAX_BATCH} messages: send several batches`;
  const kinds = new Set(values.map((value) => classifyMessage(value)));
  if (kinds.has('response') && kinds.has('request')) return 'A batch must not contain both requests and responses';
  return values.some(isInitialize) ? '"initialize" may not be part of a batch: send it alone' : undefined;
}

function isInitialize(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && (value as { readonly method?: unknown }).method === 'initialize';
}

function toInvalidResponse(value: JsonValue): JsonRpcResponse {
  const { id = null, rpcCode = INVALID_REQUEST, message } = toInvalidRequestError(value);
  return toErrorResponse({ code: rpcCode, message }, id);
}
