/** Puts a prepared question to the client: a request where there is a session, else a part of the round; in a task, the task's. */

import { type JsonObject } from '@mortise/jsonrpc-core';
import { checkClientResult, missingCapability, toCapabilities } from '@mortise/protocol/checks';
import type { ClientCapabilities, Revision } from '@mortise/protocol';
import type { Ask } from '@mortise/protocol/contracts';
import { findRequest } from '@mortise/protocol/revisions';
import type { Context } from '../context.ts';
import { AskError, ClientCapabilityError, Suspended } from '../errors.ts';
import { isKnownRequest } from '../method.ts';
import type { Session } from '../session.ts';

/** How many questions one call sends at most: a handler that goes on with a model in a loop must come to an end. */
const MAX_ASKS = 1_000;

export async function send(context: Context, ask: Ask): Promise<JsonObject> {
  const { revision, client, session, taskRun } = context;
  if (!taskRun && !session) return askInRound(context, ask);
  // The client must not be asked for a call that it has the answer to.
  if (context.isOver) throw context.signal.reason ?? new Suspended('The call is over');
  if (session && !taskRun) requireReachable(session, revision, ask);
  requireClientCapability(ask, revision, client.capabilities);
  const toWire = revision.toWire.params.get(ask.method);
  const wired = toWire && ask.params ? { ...ask, params: toWire(ask.params) } : ask;
  const answer = taskRun ? taskRun.ask(wired) : sendRequest(context, session as Session, wired);
  return readAnswer(ask, await answer, revision);
}

async function sendRequest(context: Context, session: Session, ask: Ask): Promise<JsonObject> {
  context.asked += 1;
  if (context.asked > MAX_ASKS) throw new AskError('ERR_TOO_MANY_ASKS', `A call asks its client ${MAX_ASKS} times at most`);
  const resume = context.pause();
  const traced = context.traceAsk?.(ask.method, ask.params);
  try {
    const result = await sendThrough(context, session, 0, traced?.params ? { ...ask, params: traced.params } : ask);
    traced?.end();
    return result;
  } catch (error) {
    traced?.end(error);
    throw error;
  } finally {
    resume();
  }
}

/** Through the extensions that stand around questions. */
function sendThrough(context: Context, session: Session, index: number, ask: Ask, { belongsToCall = true } = {}): Promise<JsonObject> {
  const interceptor = context.server.askInterceptors[index];
  if (interceptor) return interceptor(ask, context, (next, how) => sendThrough(context, session, index + 1, next, how));
  const { method, params, signal, timeoutMs } = ask;
  return session.request(method, params, { call: belongsToCall ? context.host : undefined, signal, timeoutMs });
}

function readAnswer({ method }: Ask, result: JsonObject, revision: Revision): JsonObject {
  const problem = checkClientResult(method, result);
  if (problem !== undefined) throw new AskError('ERR_INVALID_ANSWER', `The client's answer to "${method}" is malformed: ${problem}`);
  return revision.fromWire.results.get(method)?.(result) ?? result;
}

function requireReachable(session: Session, revision: Revision, { method }: Ask): void {
  if (isKnownRequest(method) && !findRequest(revision, method, 'server'))
    throw new AskError('ERR_ASK_UNAVAILABLE', `"${method}" does not exist in ${revision.version}, which this client speaks: do without it`);
  session.requireWayBack(method);
  if (!session.isReady)
    throw new AskError('ERR_ASK_UNAVAILABLE', `"${method}" cannot be sent before the client's notifications/initialized: wait for it`);
}

async function askInRound(context: Context, ask: Ask): Promise<JsonObject> {
  const { revision, client, route, method } = context;
  if (route.facts?.inputRequired !== true)
    throw new AskError(
      'ERR_ASK_UNAVAILABLE',
      `"${ask.method}" cannot be asked while "${method}" is answered in ${revision.version}: ask in a tool, a prompt or a resource`,
    );
  requireEmbeddable(ask, revision, client.capabilities);
  return (await context.openRound()).ask(ask);
}

/** @throws {AskError} `ERR_ASK_UNAVAILABLE` {ClientCapabilityError} The question cannot be part of a result in this revision, or for this client. */
export function requireEmbeddable(ask: Ask, revision: Revision, declared: ClientCapabilities): void {
  if (revision.requests.get(ask.method)?.direction !== 'embedded')
    throw new AskError('ERR_ASK_UNAVAILABLE', `"${ask.method}" cannot be sent in ${revision.version}: servers send no requests`);
  requireClientCapability(ask, revision, declared);
}

/**
 * Refuses a question that the client did not say it can answer.
 *
 * @throws {ClientCapabilityError} `ERR_CLIENT_CAPABILITY`, naming what is missing.
 * @see 2026-07-28 basic/index#meta; 2025-11-25 basic/lifecycle#operation
 */
export function requireClientCapability(ask: Ask, revision: Revision, declared: ClientCapabilities): void {
  const base = revision.requests.get(ask.method)?.clientCapability;
  if (base === undefined) return;
  const inner = findInnerNeed(ask);
  const needed = inner !== undefined && revision.clientCapabilities.has(inner) ? [base, inner] : [base];
  const name = missingCapability(declared, needed);
  if (name === undefined) return;
  const problem = `"${ask.method}" needs the client capability "${name}", which this client does not declare`;
  throw new ClientCapabilityError(problem, toCapabilities(name));
}

function findInnerNeed({ method, params = {} }: Ask): string | undefined {
  if (method === 'elicitation/create') return params['mode'] === 'url' ? 'elicitation.url' : 'elicitation.form';
  const usesTools = params['tools'] !== undefined || params['toolChoice'] !== undefined;
  return method === 'sampling/createMessage' && usesTools ? 'sampling.tools' : undefined;
}
