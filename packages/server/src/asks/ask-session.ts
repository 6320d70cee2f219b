/** Asks a legacy client something: a request within the call, which waits for the answer. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { findRequest } from '@mortise/protocol/revisions';
import { checkClientResult } from '@mortise/protocol/checks';
import type { Ask } from '@mortise/protocol/contracts';
import type { Session } from '../era/session.ts';
import { AskUnavailableError, InvalidAnswerError, Suspended, TooManyAsksError } from '../errors.ts';
import { isKnownRequest } from '../known-methods.ts';
import type { RequestCall } from '../request-call.ts';
import { requireClientCapability } from './required-capabilities.ts';

/** How many questions one call asks at most: a handler that goes on with a model in a loop must come to an end. */
const MAX_ASKS = 1_000;

/** @param countAsk Counts a question that is about to be sent, and gives how many there were with it. */
export async function askSession(call: RequestCall, ask: Ask, countAsk: () => number): Promise<JsonObject> {
  const { core, revision } = call;
  // As in the modern era: the client must not be asked for a call that it has the answer to.
  if (call.isOver) throw call.signal.reason ?? new Suspended('The call is over');
  const session = findSession(call, ask);
  requireClientCapability(ask, revision, call.client.capabilities);
  if (countAsk() > MAX_ASKS) throw new TooManyAsksError(`A call asks its client ${MAX_ASKS} times at most`);
  const toWire = revision.toWire.params.get(ask.method);
  const wired = toWire && ask.params ? toWire(ask.params) : ask.params;
  core.deadlines.pause(call);
  const traced = call.traceAsk?.({ method: ask.method, params: wired });
  try {
    const { params: _given, ...rest } = ask;
    const params = traced ? traced.params : wired;
    const result = await send(call, params ? { ...rest, params } : rest, session);
    const problem = checkClientResult(ask.method, result);
    if (problem !== undefined) throw new InvalidAnswerError(`The client's answer to "${ask.method}" is malformed: ${problem}`);
    traced?.end();
    return revision.fromWire.results.get(ask.method)?.(result) ?? result;
  } catch (error) {
    traced?.end(error);
    throw error;
  } finally {
    core.deadlines.resume(call, call.isEnded);
  }
}

/** Through the extensions that stand around questions. */
function send(call: RequestCall, ask: Ask, session: Session): Promise<JsonObject> {
  const { core, host } = call;
  const sendOn = ({ method, params, signal, timeoutMs }: Ask, { belongsToCall = true } = {}): Promise<JsonObject> =>
    session.link.request(method, params, {
      call: belongsToCall ? host : undefined,
      signal,
      timeoutMs: timeoutMs ?? core.options.askTimeoutMs ?? 600_000,
    });
  const sendThrough = (index: number, asked: Ask, options?: { readonly belongsToCall?: boolean }): Promise<JsonObject> => {
    const interceptor = core.askInterceptors[index];
    if (!interceptor) return sendOn(asked, options);
    return interceptor(asked, call, (next, how) => sendThrough(index + 1, next, how));
  };
  return sendThrough(0, ask);
}

function findSession({ session, revision }: RequestCall, { method }: Ask): Session {
  const exists = findRequest(revision, method, 'server') !== undefined || !isKnownRequest(method);
  if (!exists) throw new AskUnavailableError(`"${method}" does not exist in ${revision.version}, which this client speaks: do without it`);
  if (!session?.link.canRequest) {
    throw new AskUnavailableError(`"${method}" cannot reach this client: sessions are off for this host, switch them on to ask`);
  }
  if (!session.isReady)
    throw new AskUnavailableError(`"${method}" cannot be sent before the client's notifications/initialized: wait for it`);
  return session;
}
