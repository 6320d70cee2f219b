/** A POST of the legacy era: `initialize`, a message of a session, a batch, or a request without any session. */

import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse, JsonValue } from '@mortise/jsonrpc-core';
import { classifyMessage, INVALID_REQUEST, toInvalidRequestError } from '@mortise/jsonrpc-core/messages';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { findRevision, NEWEST_LEGACY, type Revision } from '@mortise/protocol';
import { ASSUMED_WITHOUT_HEADER } from '@mortise/protocol/revisions';
import type { LegacySession } from '@mortise/protocol/contracts';
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../../headers.ts';
import { type PostCall, UnansweredCall } from '../exchange/post-call.ts';
import type { HttpExchange } from '../http/http-exchange.ts';
import type { HttpHost } from '../http-host.ts';
import { badMessage, missingSession, otherVersion, SESSION_OVER, toRefusal, unknownSession } from '../refusal.ts';
import { closeSession, type HttpSession } from './http-session.ts';
import { LegacyCall, LegacyReply } from './legacy-reply.ts';
import { NoLink } from './stateless.ts';

/** How many messages a batch may hold. */
const MAX_BATCH = 100;

/** How the messages of one POST reach the session that serves them. */
interface Route {
  readonly revision: Revision;
  readonly session: HttpSession | undefined;
  receive(message: JsonRpcMessage, call: PostCall): Promise<JsonRpcResponse | undefined>;
  /** Every message of the POST is done. */
  finish(): void;
}

/** Serves one message. @param message Known to be a message. */
export async function serveLegacyMessage(http: HttpExchange, message: JsonRpcMessage): Promise<void> {
  const named = readVersionHeader(http);
  const { sessions } = http.host.settings;
  const isRequest = 'method' in message && 'id' in message;
  if (isRequest && message.method === 'initialize') {
    if (!sessions) return serveWithoutSession(http, message);
    if (http.header(SESSION_ID_HEADER) === undefined) return serveInitialize(http, message);
  }
  const found = findRoute(http, named);
  const route = found instanceof Promise ? await found : found;
  if (!isRequest) return accept(http, route, [message]);
  await answer(http, route, { requests: [message], ready: [], isBatch: false });
}

/** Serves a batch, where the agreed revision has batches. */
export async function serveLegacyBatch(http: HttpExchange, values: readonly JsonValue[]): Promise<void> {
  const named = readVersionHeader(http);
  const route = await findRoute(http, named);
  const agreed = route.session?.revision ?? route.revision;
  if (!agreed.rules.batching) throw badMessage('A batch of messages is not accepted here: send one message at a time');
  checkBatch(values);
  const requests: JsonRpcRequest[] = [];
  const others: JsonRpcMessage[] = [];
  const ready: JsonRpcResponse[] = [];
  for (const value of values) {
    const kind = classifyMessage(value);
    if (kind === 'invalid') ready.push(toErrorResponse(value));
    else if (kind === 'request') requests.push(value as unknown as JsonRpcRequest);
    else others.push(value as unknown as JsonRpcMessage);
  }
  if (requests.length === 0 && ready.length === 0) return accept(http, route, others);
  for (const message of others) route.receive(message, new UnansweredCall(http)).catch((error: unknown) => http.host.logFailure(error));
  await answer(http, route, { requests, ready, isBatch: true });
}

/** @throws {HttpRefusal} 400 for a value that no legacy revision has. */
export function readVersionHeader(http: HttpExchange): Revision | undefined {
  const value = http.header(PROTOCOL_VERSION_HEADER);
  if (value === undefined) return undefined;
  const revision = findRevision(value);
  if (revision?.era === 'legacy') return revision;
  throw otherVersion(
    'The header "MCP-Protocol-Version" names no version that this session can speak: send the one that "initialize" agreed on',
  );
}

/** @throws {HttpRefusal} 400 without a session's id, 404 for one that is not, or not this caller's. */
export async function findSession(http: HttpExchange): Promise<HttpSession> {
  const id = http.header(SESSION_ID_HEADER);
  if (id === undefined) throw missingSession();
  const session = await http.host.sessions.find(id, http);
  if (session === undefined) throw unknownSession();
  return session;
}

async function serveInitialize(http: HttpExchange, message: JsonRpcRequest): Promise<void> {
  const { host } = http;
  const session = host.sessions.create(http);
  let isAdmitted = false;
  // Nothing may precede this answer: the client learns of its session only from the headers that go with it.
  const call = host.begin(new LegacyCall(new LegacyReply(http, { revision: NEWEST_LEGACY, session, expected: 1, isAlone: true }), message));
  try {
    const response = await host.sessions.receive(session, message, call);
    session.revision = agreedRevision(response);
    if (session.revision !== undefined) {
      await host.sessions.admit(session).catch((error: unknown) => {
        throw toRefusal(error, message.id);
      });
      isAdmitted = true;
      http.addHeaders([SESSION_ID_HEADER, session.id]);
    }
    void call.settle(response);
  } finally {
    host.end(call);
    if (!isAdmitted) await host.sessions.discard(session);
  }
}

/** `initialize` where the program turned sessions off. */
function serveWithoutSession(http: HttpExchange, message: JsonRpcRequest): Promise<void> {
  const route = toStatelessRoute(http.host, NEWEST_LEGACY, http.host.endpoint.openSession(new NoLink(http)));
  return answer(http, route, { requests: [message], ready: [], isBatch: false });
}

/** The revision in a successful answer to `initialize`. */
function agreedRevision(response: JsonRpcResponse | undefined): Revision | undefined {
  return response !== undefined && 'result' in response ? findRevision(response.result['protocolVersion']) : undefined;
}

function findRoute(http: HttpExchange, named: Revision | undefined): Route | Promise<Route> {
  const { host } = http;
  if (host.settings.sessions) return findSessionRoute(http, named);
  const revision = named ?? ASSUMED_WITHOUT_HEADER;
  const session = host.openStateless(revision, http);
  if (session instanceof Promise) return session.then((opened) => toStatelessRoute(host, revision, opened));
  return toStatelessRoute(host, revision, session);
}

async function findSessionRoute(http: HttpExchange, named: Revision | undefined): Promise<Route> {
  const session = await findSession(http);
  const revision = named ?? session.revision ?? ASSUMED_WITHOUT_HEADER;
  return { revision, session, receive: (message, call) => http.host.sessions.receive(session, message, call), finish: () => undefined };
}

function toStatelessRoute({ settings }: HttpHost, revision: Revision, session: LegacySession): Route {
  return {
    revision,
    session: undefined,
    receive: (message, call) => session.receive(message, call),
    finish: () => void closeSession(session, settings.logger),
  };
}

/** Takes messages that are not answered. What they changed is stored, and handed to other machines, before the client gets its 202. */
async function accept(http: HttpExchange, route: Route, messages: readonly JsonRpcMessage[]): Promise<void> {
  const { sessionStore, messageBus } = http.host.settings;
  const received = Promise.all(messages.map((message) => route.receive(message, new UnansweredCall(http)))).finally(() => route.finish());
  if (sessionStore !== undefined || messageBus !== undefined) await received;
  http.empty(202);
  await received;
}

interface Work {
  readonly requests: readonly JsonRpcRequest[];
  /** Answers to members of a batch that are no messages. */
  readonly ready: readonly JsonRpcResponse[];
  readonly isBatch: boolean;
}

async function answer(http: HttpExchange, route: Route, { requests, ready, isBatch }: Work): Promise<void> {
  const { revision, session } = route;
  const reply = new LegacyReply(http, { revision, session, expected: requests.length + ready.length, isBatch });
  for (const response of ready) void reply.settle(response);
  const [only] = requests;
  try {
    // One request, as nearly always: nothing is gathered.
    if (only !== undefined && requests.length === 1) await run(http, route, new LegacyCall(reply, only));
    else await Promise.all(requests.map((request) => run(http, route, new LegacyCall(reply, request))));
  } finally {
    route.finish();
  }
}

async function run({ host }: HttpExchange, route: Route, call: LegacyCall): Promise<void> {
  const { request } = call;
  host.begin(call);
  let response: JsonRpcResponse | undefined;
  try {
    response = (await route.receive(request, call)) ?? whyUnanswered(route, request);
  } catch (error) {
    // A store that fails, say. Others of the batch, and a stream that has begun, are not to suffer: who asked gets an answer.
    response = toFailure(host, request, error);
  } finally {
    // The call ends once its answer is handed over, which a slow log or reader delays: closing waits for that.
    const handedOver = call.settle(response);
    if (handedOver === resolvedPromise) host.end(call);
    else void handedOver.finally(() => host.end(call));
  }
}

/** A request that its client cancelled has no answer. One whose session ended under it, here or on another machine, has. */
function whyUnanswered({ session }: Route, { id }: JsonRpcRequest): JsonRpcResponse | undefined {
  if (session?.isEnded !== true && session?.isClosed !== true) return undefined;
  return { jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message: SESSION_OVER } };
}

/** Logs why a request failed. @returns Its answer, which says nothing of that. */
export function toFailure(host: HttpHost, { id }: JsonRpcRequest, error: unknown): JsonRpcResponse {
  host.logFailure(error);
  return { jsonrpc: '2.0', id, error: toRefusal(error).rpcError };
}

function checkBatch(values: readonly JsonValue[]): void {
  if (values.length === 0) throw badMessage('A batch must hold at least one message');
  if (values.length > MAX_BATCH) throw badMessage(`A batch may hold at most ${MAX_BATCH} messages: send several`);
  const kinds = new Set(values.map((value) => classifyMessage(value)));
  if (kinds.has('response') && kinds.has('request')) throw badMessage('A batch may not hold both requests and responses');
  if (values.some((value) => isInitialize(value))) throw badMessage('"initialize" may not be part of a batch: send it alone');
}

function isInitialize(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && (value as { readonly method?: unknown }).method === 'initialize';
}

function toErrorResponse(value: JsonValue): JsonRpcResponse {
  const { id = null, rpcCode = INVALID_REQUEST, message } = toInvalidRequestError(value);
  return { jsonrpc: '2.0', id, error: { code: rpcCode, message } };
}
