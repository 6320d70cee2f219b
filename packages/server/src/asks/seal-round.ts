/** From what a round asked to the result that puts it to the client. */

import { isMortiseError, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import type { RequestCall } from '../request-call.ts';
import type { ServerCore } from '../server-core.ts';
import { nameCall } from './ask-identity.ts';
import { RequestStates, type StateBinding } from './request-state.ts';
import { type RoundState, writeRoundState } from './round-state.ts';

interface Question {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

const sealers = new WeakMap<ServerCore, RequestStates>();
const warned = new WeakSet<ServerCore>();

/** What seals and opens the states of a server. */
export function statesOf({ core }: RequestCall): RequestStates {
  let states = sealers.get(core);
  if (!states) sealers.set(core, (states = new RequestStates(core.options.requestState ?? {}, core.clock)));
  return states;
}

/** What the states of a call are sealed to: the request as it came, before middleware. */
export function bindingOf({ principal, method, givenParams }: RequestCall): StateBinding {
  return { principal, method, params: givenParams };
}

/**
 * @throws {ProtocolError} -32603: the state is too long.
 * @see 2026-07-28 basic/patterns/mrtr#inputrequiredresult
 */
export async function sealRound(call: RequestCall, questions: ReadonlyMap<string, Question>, state: RoundState): Promise<JsonObject> {
  warnOfOwnKey(call);
  const requestState = await seal(call, state);
  call.isConcluded = true;
  if (questions.size === 0) return { resultType: 'input_required', requestState };
  const inputRequests = [...questions].map(([key, question]) => [key, toInputRequest(call, question)] as const);
  return { resultType: 'input_required', inputRequests: Object.fromEntries(inputRequests), requestState };
}

/** The client's answering continues the trace; the question is over with the round, for its answer comes with another request. */
function toInputRequest(call: RequestCall, { method, params }: Question): JsonObject {
  const traced = call.traceAsk?.({ method, params });
  traced?.end();
  const sent = traced ? traced.params : params;
  return sent ? { method, params: sent } : { method };
}

async function seal(call: RequestCall, state: RoundState): Promise<string> {
  try {
    return await statesOf(call).seal(writeRoundState(state), bindingOf(call));
  } catch (error) {
    if (!isMortiseError(error) || error.code !== 'ERR_STATE_TOO_LARGE') throw error;
    call.core.logger.log('error', `${nameCall(call)}: ${error.message}`);
    throw new ProtocolError(INTERNAL_ERROR, `${nameCall(call)}: ${error.message}`, undefined, { cause: error });
  }
}

function warnOfOwnKey(call: RequestCall): void {
  if (call.via !== 'exchange' || !statesOf(call).hasOwnKey || warned.has(call.core)) return;
  warned.add(call.core);
  call.core.logger.log(
    'warning',
    'requestState is sealed with a key that only this process has: another machine, or this one after a restart, cannot go on with what it asked. Give requestState.keys',
  );
}
