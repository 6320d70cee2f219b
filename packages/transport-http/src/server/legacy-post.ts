/** A POST of the legacy era: `initialize`, a message of a session, a batch, or a request without any session. */

import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse, JsonValue } from '@mortise/jsonrpc-core';
import { classifyMessage, INVALID_REQUEST, toInvalidRequestError } from '@mortise/jsonrpc-core/messages';
import { findRevision, NEWEST_LEGACY, type Revision } from '@mortise/protocol';
import { ASSUMED_WITHOUT_HEADER } from '@mortise/protocol/revisions';
import type { LegacySession } from '@mortise/protocol/contracts';
import { PROTOCOL_VERSION_HEADER, SESSION_ID_HEADER } from '../headers.ts';
import { closeSession } from './close-session.ts';
import type { Caller, HostedCall } from './hosted-call.ts';
import type { HostedSession } from './hosted-session.ts';
import type { HttpHost } from './http-host.ts';
import type { HttpRequest } from './http-request.ts';
import { LegacyAnswer, LegacyCall } from './legacy-answer.ts';
import type { AnswerMode } from './modern-call.ts';
import { HttpRefusal, SESSION_OVER, toRefusal, unknownSession } from './refusal.ts';
import type { Reply } from './reply.ts';
import { scopeChallenge } from './scope-challenge.ts';
import { NoLink, QuietCall } from './stateless-sessions.ts';

/** A POST whose body has been read. */
export interface PostExchange {
  readonly host: HttpHost;
  readonly caller: Caller;
  readonly reply: Reply;
  readonly mode: AnswerMode;
}

/** How the messages of one POST reach whoever serves them. */
interface Route {
  readonly revision: Revision;
  readonly session: HostedSession | undefined;
  receive(message: JsonRpcMessage, call: HostedCall): Promise<JsonRpcResponse | undefined>;
  /** Every message of the POST is done. */
  finish(): void;
}

/** Serves one message. @param message Known to be a message. */
export function serveLegacyMessage(exchange: PostExchange, message: JsonRpcMessage): Promise<void> {
  const { request } = exchange.caller;
  const named = readVersionHeader(request);
  const isRequest = 'method' in message && 'id' in message;
  if (isRequest && message.method === 'initialize') {
    if (!exchange.host.settings.sessions) return serveSessionlessInitialize(exchange, message);
    if (request.header(SESSION_ID_HEADER) === undefined) return serveInitialize(exchange, message);
  }
  return isRequest ? serveLegacyRequest(exchange, named, message) : acceptMessage(exchange, named, message);
}

async function acceptMessage(exchange: PostExchange, named: Revision | undefined, message: JsonRpcMessage): Promise<void> {
  await accept(exchange, await findRoute(exchange, named), [message]);
}

/** One request, as nearly always: nothing is gathered, and only the endpoint is waited for. */
async function serveLegacyRequest(exchange: PostExchange, named: Revision | undefined, request: JsonRpcRequest): Promise<void> {
  const found = findRoute(exchange, named);
  const route = found instanceof Promise ? await found : found;
  const legacyAnswer = createAnswer(exchange, { ...AS_ONE, revision: route.revision, session: route.session });
  try {
    await run(exchange, { route, legacyAnswer }, request);
  } finally {
    route.finish();
  }
}

/** Serves a batch, where the agreed revision has batches. */
export async function serveLegacyBatch(exchange: PostExchange, values: readonly JsonValue[]): Promise<void> {
  const named = readVersionHeader(exchange.caller.request);
  const route = await findRoute(exchange, named);
  const agreed = route.session?.revision ?? route.revision;
  if (!agreed.rules.batching) throw new HttpRefusal(400, 'A batch of messages is not accepted here: send one message at a time');
  checkBatch(values, exchange.host.settings.maxBatch);
  const requests: JsonRpcRequest[] = [];
  const others: JsonRpcMessage[] = [];
  const ready: JsonRpcResponse[] = [];
  for (const value of values) {
    const kind = classifyMessage(value);
    if (kind === 'invalid') ready.push(toErrorResponse(value));
    else if (kind === 'request') requests.push(value as unknown as JsonRpcRequest);
    else others.push(value as unknown as JsonRpcMessage);
  }
  if (requests.length === 0 && ready.length === 0) return accept(exchange, route, others);
  for (const message of others) {
    route.receive(message, new QuietCall(exchange.caller)).catch((error: unknown) => exchange.host.logFailure(error));
  }
  await answer(exchange, route, { requests, ready, isBatch: true });
}

/** @throws {HttpRefusal} 400 for a value that no legacy revision has. */
export function readVersionHeader(request: HttpRequest): Revision | undefined {
  const value = request.header(PROTOCOL_VERSION_HEADER);
  if (value === undefined) return undefined;
  const revision = findRevision(value);
  if (revision?.era === 'legacy') return revision;
  throw new HttpRefusal(
    400,
    'The header "MCP-Protocol-Version" names no version that this session can speak: send the one that "initialize" agreed on',
  );
}

/** @throws {HttpRefusal} 400 without a session's id, 404 for one that is not, or not this caller's. */
export async function findSession(host: HttpHost, caller: Caller): Promise<HostedSession> {
  const id = caller.request.header(SESSION_ID_HEADER);
  if (id === undefined)
    throw new HttpRefusal(400, 'The header "Mcp-Session-Id" is missing: send "initialize" first, then the id that its answer gave');
  const session = await host.sessions.find(id, caller);
  if (session === undefined) throw unknownSession();
  return session;
}

async function serveInitialize(exchange: PostExchange, message: JsonRpcRequest): Promise<void> {
  const { host, caller, reply } = exchange;
  const session = host.sessions.create(caller);
  let isAdmitted = false;
  try {
    // Nothing may precede this answer: the client learns of its session only from the headers that go with it.
    const alone = { ...exchange, mode: { ...exchange.mode, jsonOnly: true } };
    const legacyAnswer = createAnswer(alone, { revision: NEWEST_LEGACY, session, isResumable: false, expected: 1, isBatch: false });
    const call = host.begin(new LegacyCall(caller, message, legacyAnswer, host.settings.retryMs));
    try {
      const response = await host.sessions.receive(session, message, call);
      session.revision = agreedRevision(response);
      if (session.revision !== undefined) {
        await admit(exchange, session, message);
        isAdmitted = true;
        reply.addHeaders([SESSION_ID_HEADER, session.id]);
      }
      void call.settle(response);
    } finally {
      host.end(call);
    }
  } finally {
    if (!isAdmitted) await host.sessions.discard(session);
  }
}

/** @throws {HttpRefusal} 500: the session cannot be kept. */
async function admit({ host }: PostExchange, session: HostedSession, { id }: JsonRpcRequest): Promise<void> {
  try {
    await host.sessions.admit(session);
  } catch (error) {
    throw toRefusal(error, { id });
  }
}

async function serveSessionlessInitialize(exchange: PostExchange, message: JsonRpcRequest): Promise<void> {
  const { host, caller } = exchange;
  const session = host.endpoint.openSession(new NoLink(caller));
  await answer(exchange, toStatelessRoute(host, NEWEST_LEGACY, session), { requests: [message], ready: [], isBatch: false });
}

/** The revision in a successful answer to `initialize`. */
function agreedRevision(response: JsonRpcResponse | undefined): Revision | undefined {
  return response !== undefined && 'result' in response ? findRevision(response.result['protocolVersion']) : undefined;
}

function findRoute({ host, caller }: PostExchange, named: Revision | undefined): Route | Promise<Route> {
  if (host.settings.sessions) return findSessionRoute(host, caller, named);
  const revision = named ?? ASSUMED_WITHOUT_HEADER;
  const session = host.openStateless(revision, caller);
  if (session instanceof Promise) return session.then((opened) => toStatelessRoute(host, revision, opened));
  return toStatelessRoute(host, revision, session);
}

async function findSessionRoute(host: HttpHost, caller: Caller, named: Revision | undefined): Promise<Route> {
  const session = await findSession(host, caller);
  const revision = named ?? session.revision ?? ASSUMED_WITHOUT_HEADER;
  return { revision, session, receive: (message, call) => host.sessions.receive(session, message, call), finish: () => undefined };
}

function toStatelessRoute({ settings }: HttpHost, revision: Revision, session: LegacySession): Route {
  return {
    revision,
    session: undefined,
    receive: (message, call) => session.receive(message, call),
    finish: () => void closeSession(session, settings.logger),
  };
}

/** Takes messages that are not answered. What they changed is stored before the client is told that they were accepted. */
async function accept(exchange: PostExchange, route: Route, messages: readonly JsonRpcMessage[]): Promise<void> {
  const received = Promise.all(messages.map((message) => route.receive(message, new QuietCall(exchange.caller)))).finally(() =>
    route.finish(),
  );
  if (exchange.host.settings.sessionStore !== undefined) await received;
  exchange.reply.empty(202);
  await received;
}

interface Work {
  readonly requests: readonly JsonRpcRequest[];
  /** Answers that need nobody: to members of a batch that are no messages. */
  readonly ready: readonly JsonRpcResponse[];
  readonly isBatch: boolean;
}

async function answer(exchange: PostExchange, route: Route, { requests, ready, isBatch }: Work): Promise<void> {
  const expected = requests.length + ready.length;
  const { revision, session } = route;
  const legacyAnswer = createAnswer(exchange, { revision, session, isResumable: true, expected, isBatch });
  for (const response of ready) exchange.host.holdAnswer(legacyAnswer.settle(response));
  try {
    await Promise.all(requests.map((request) => run(exchange, { route, legacyAnswer }, request)));
  } finally {
    route.finish();
  }
}

interface Running {
  readonly route: Route;
  readonly legacyAnswer: LegacyAnswer;
}

async function run({ host, caller }: PostExchange, { route, legacyAnswer }: Running, request: JsonRpcRequest): Promise<void> {
  const call = host.begin(new LegacyCall(caller, request, legacyAnswer, host.settings.retryMs));
  let response: JsonRpcResponse | undefined;
  try {
    response = (await route.receive(request, call)) ?? whyUnanswered(route, request);
  } catch (error) {
    // A store that fails, say. Others of the batch, and a stream that has begun, are not to suffer: who asked gets an answer.
    response = toFailure(host, request, error);
  } finally {
    try {
      // Before the call ends, since closing waits for both.
      host.holdAnswer(call.settle(response));
    } finally {
      host.end(call);
    }
  }
}

/** A request that its client cancelled has no answer. One whose session ended under it, here or on another machine, has. */
function whyUnanswered({ session }: Route, { id }: JsonRpcRequest): JsonRpcResponse | undefined {
  if (session?.isEnded !== true && session?.isClosed !== true) return undefined;
  return { jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message: SESSION_OVER } };
}

/** Logs why a request failed. @returns What its client is told, which says nothing of that. */
export function toFailure(host: HttpHost, { id }: JsonRpcRequest, error: unknown): JsonRpcResponse {
  host.logFailure(error);
  return { jsonrpc: '2.0', id, error: toRefusal(error).rpcError };
}

const AS_ONE = { isResumable: true, expected: 1, isBatch: false } as const;

type AnswerShape = Omit<ConstructorParameters<typeof LegacyAnswer>[0], 'reply' | 'mode' | 'retryMs' | 'challengeOf' | 'holdClock'>;

function createAnswer(
  { caller, reply, mode, host }: PostExchange,
  { revision, session, isResumable, expected, isBatch }: AnswerShape,
): LegacyAnswer {
  const challengeOf = (response: JsonRpcResponse) => scopeChallenge(response, caller, host.settings);
  const { clock, retryMs } = host.settings;
  // Only who is known can lack a scope.
  const holdClock = caller.auth === undefined ? undefined : clock;
  return new LegacyAnswer({ reply, mode, retryMs, revision, session, isResumable, expected, isBatch, challengeOf, holdClock });
}

function checkBatch(values: readonly JsonValue[], maxBatch: number): void {
  if (values.length === 0) throw new HttpRefusal(400, 'A batch must hold at least one message');
  if (values.length > maxBatch) throw new HttpRefusal(400, `A batch may hold at most ${maxBatch} messages: send several`);
  const kinds = new Set(values.map((value) => classifyMessage(value)));
  if (kinds.has('response') && kinds.has('request')) throw new HttpRefusal(400, 'A batch may not hold both requests and responses');
  if (values.some((value) => isInitialize(value))) throw new HttpRefusal(400, '"initialize" may not be part of a batch: send it alone');
}

function isInitialize(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && (value as { readonly method?: unknown }).method === 'initialize';
}

function toErrorResponse(value: JsonValue): JsonRpcResponse {
  const { id = null, rpcCode = INVALID_REQUEST, message } = toInvalidRequestError(value);
  return { jsonrpc: '2.0', id, error: { code: rpcCode, message } };
}
