/** A POST of the legacy era: `initialize`, a message of a session, a batch, or a request without a session. */

import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse, JsonValue } from '@mortise/jsonrpc-core';
import { classifyMessage, INVALID_REQUEST, toInvalidRequestError } from '@mortise/jsonrpc-core/messages';
import { findRevision, NEWEST_LEGACY, type Revision } from '@mortise/protocol';
import { ASSUMED_WITHOUT_HEADER } from '@mortise/protocol/revisions';
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../../headers.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import type { HandlerState } from '../http/handler-state.ts';
import { HttpRefusal, SESSION_OVER, toRefusal } from '../http/refusal.ts';
import { HttpSession } from './http-session.ts';
import { LegacyCall } from './legacy-call.ts';
import { LegacyReply, RequestCall } from './legacy-reply.ts';
import { agreedRevision, openStateless } from './stateless.ts';

/** How many messages a batch may hold. */
const MAX_BATCH = 100;

/** The session and revision for the messages of one POST. */
interface Target {
  readonly revision: Revision;
  readonly session: HttpSession;
}

/** Responds to one message. */
export async function respondToLegacy(http: HttpExchange, message: JsonRpcMessage): Promise<void> {
  const named = readVersionHeader(http);
  const isRequest = 'method' in message && 'id' in message;
  const opensSession = isRequest && message.method === 'initialize' && http.header(SESSION_ID_HEADER) === undefined;
  if (opensSession && http.handler.settings.sessions) return openSession(http, message);
  const target = await findTarget(http, named, opensSession);
  if (!isRequest) return accept(http, target, [message]);
  await respond(http, target, [message]);
}

/** Responds to a batch, if the session's revision has batches. */
export async function respondToBatch(http: HttpExchange, values: readonly JsonValue[]): Promise<void> {
  const target = await findTarget(http, readVersionHeader(http));
  const agreed = target.session.revision ?? target.revision;
  if (!agreed.rules.batching) throw new HttpRefusal(400, 'A batch of messages is not accepted here: send one message at a time');
  const fault = findBatchFault(values);
  if (fault !== undefined) throw new HttpRefusal(400, fault);
  const requests: JsonRpcRequest[] = [];
  const others: JsonRpcMessage[] = [];
  const ready: JsonRpcResponse[] = [];
  for (const value of values) {
    const kind = classifyMessage(value);
    if (kind === 'invalid') ready.push(toErrorResponse(value));
    else if (kind === 'request') requests.push(value as unknown as JsonRpcRequest);
    else others.push(value as unknown as JsonRpcMessage);
  }
  if (requests.length === 0 && ready.length === 0) return accept(http, target, others);
  for (const message of others) receive(http, target, message).catch((error: unknown) => http.handler.logFailure(error));
  await respond(http, target, requests, ready);
}

/** @throws {HttpRefusal} 400: the header is not a legacy version. */
export function readVersionHeader(http: HttpExchange): Revision | undefined {
  const value = http.header(PROTOCOL_VERSION_HEADER);
  if (value === undefined) return undefined;
  const revision = findRevision(value);
  if (revision?.era === 'legacy') return revision;
  const remedy = 'send the one that "initialize" agreed on';
  throw new HttpRefusal(400, `The version in the header "MCP-Protocol-Version" is not supported in this session: ${remedy}`);
}

/** @throws {HttpRefusal} 400: the session id is missing. 404: the session does not exist or belongs to another caller. */
export function findSession(http: HttpExchange): Promise<HttpSession> {
  const id = http.header(SESSION_ID_HEADER);
  if (id !== undefined) return http.handler.sessions.find(id, http);
  throw new HttpRefusal(400, 'The header "Mcp-Session-Id" is missing: send "initialize" first, then the id in the header of its response');
}

async function openSession(http: HttpExchange, message: JsonRpcRequest): Promise<void> {
  const { handler } = http;
  const session = handler.sessions.create(http);
  let isAdmitted = false;
  // Nothing may precede this response, because its headers contain the session id.
  const reply = new LegacyReply(http, { revision: NEWEST_LEGACY, session, expected: 1, isAlone: true });
  const call = new RequestCall(reply, message);
  handler.calls.add(call);
  try {
    const response = await handler.sessions.receive(session, message, call);
    session.revision = agreedRevision(response);
    if (session.revision !== undefined) {
      await handler.sessions.admit(session);
      isAdmitted = true;
      http.addHeaders([SESSION_ID_HEADER, session.id]);
    }
    void call.settle(response);
  } finally {
    handler.end(call);
    if (!isAdmitted) await handler.sessions.discard(session);
  }
}

async function findTarget(http: HttpExchange, named: Revision | undefined, opensSession = false): Promise<Target> {
  if (http.handler.settings.sessions) {
    const session = await findSession(http);
    return { revision: named ?? session.revision ?? ASSUMED_WITHOUT_HEADER, session };
  }
  if (opensSession) return { revision: NEWEST_LEGACY, session: new HttpSession(http, undefined) };
  const revision = named ?? ASSUMED_WITHOUT_HEADER;
  return { revision, session: await openStateless(http, revision) };
}

/** Called when all messages of the POST are done. */
function release({ session }: Target): void {
  if (!session.canRequest) void session.close();
}

function receive(http: HttpExchange, { session }: Target, message: JsonRpcMessage): Promise<JsonRpcResponse | undefined> {
  return http.handler.sessions.receive(session, message, new LegacyCall(http));
}

/** Handles messages without a response. Stores their changes and passes them to other machines before it responds with 202. */
async function accept(http: HttpExchange, target: Target, messages: readonly JsonRpcMessage[]): Promise<void> {
  try {
    await Promise.all(messages.map((message) => receive(http, target, message)));
  } finally {
    release(target);
  }
  http.empty(202);
}

/** @param ready The error responses to invalid members of a batch. */
async function respond(
  http: HttpExchange,
  target: Target,
  requests: readonly JsonRpcRequest[],
  ready?: readonly JsonRpcResponse[],
): Promise<void> {
  const expected = requests.length + (ready?.length ?? 0);
  const reply = new LegacyReply(http, { ...target, expected, isBatch: ready !== undefined });
  for (const response of ready ?? []) void reply.settle(response);
  try {
    await Promise.all(requests.map((request) => run(http, target, new RequestCall(reply, request))));
  } finally {
    release(target);
  }
}

async function run(http: HttpExchange, target: Target, call: RequestCall): Promise<void> {
  const { handler } = http;
  handler.calls.add(call);
  try {
    // The call ends when its response is handed over, so that closing waits for a slow event store or reader.
    await call.settle(await handle(http, target, call));
  } finally {
    handler.end(call);
  }
}

async function handle(http: HttpExchange, { session }: Target, call: RequestCall): Promise<JsonRpcResponse | undefined> {
  const { request } = call;
  try {
    const response = await http.handler.sessions.receive(session, request, call);
    // A request that the client cancelled has no response. If its session ended, here or on another machine, it gets an error.
    if (response !== undefined || (!session.isEnded && !session.isClosed)) return response;
    return { jsonrpc: '2.0', id: request.id, error: { code: INVALID_REQUEST, message: SESSION_OVER } };
  } catch (error) {
    // An error, for example of a store, must not affect other requests of the batch or a started stream.
    return toFailure(http.handler, request, error);
  }
}

/** Logs why a request failed. @returns An error response without details. */
export function toFailure(handler: HandlerState, { id }: JsonRpcRequest, error: unknown): JsonRpcResponse {
  handler.logFailure(error);
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

function toErrorResponse(value: JsonValue): JsonRpcResponse {
  const { id = null, rpcCode = INVALID_REQUEST, message } = toInvalidRequestError(value);
  return { jsonrpc: '2.0', id, error: { code: rpcCode, message } };
}
