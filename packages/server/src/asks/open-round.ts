/** From a request to the round that it begins: the first, or the one after an answer. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkClientResult } from '@mortise/protocol/checks';
import { RequestStateError } from '../errors.ts';
import type { RequestCall } from '../request-call.ts';
import type { ExchangeRun } from './exchange-run.ts';
import { Round } from './round.ts';
import { type Answered, readRoundState, type RoundState } from './round-state.ts';
import { bindingOf, statesOf } from './seal-round.ts';

/**
 * Answers without a state, and answers to what was not asked, are passed over; a handler that asks by hand may look at the former in
 * `ctx.inputResponses`, for the state is all that tells what was asked.
 *
 * @throws {RequestStateError} -32602: the state does not open, or was used.
 * @throws {ProtocolError} -32602: an answer is malformed.
 * @see 2026-07-28 basic/patterns/mrtr#error-handling
 */
export async function openRound(call: RequestCall, run: ExchangeRun): Promise<Round> {
  const { requestState, inputResponses } = call.givenParams;
  if (typeof requestState !== 'string') {
    // That each is an object was checked with the request.
    const given = isJsonObject(inputResponses) ? (inputResponses as Readonly<Record<string, JsonObject>>) : undefined;
    if (given) call.round = { inputResponses: given, requestState: undefined, reports: 0, progress: undefined };
    return new Round(call, run, firstState(run));
  }
  const { state, expiresAtMs } = await statesOf(call).open(requestState, bindingOf(call));
  const before = readRoundState(state);
  const responses = acceptResponses(before, isJsonObject(inputResponses) ? inputResponses : {}, call);
  // Last, so that a malformed answer does not use the state up.
  await claim(call, before, expiresAtMs);
  const { reports, progress, given } = before;
  call.round = { inputResponses: responses, requestState: given, reports, progress };
  run.goOn(before);
  return new Round(call, run, { ...before, answers: mergeAnswers(before, responses) });
}

function firstState(run: ExchangeRun): RoundState {
  const nothing: ReadonlyMap<string, never> = new Map<string, never>();
  const { chainId, done } = run.steps;
  return { chainId, round: 1, answers: nothing, asked: nothing, steps: done, reports: 0, progress: undefined, given: undefined };
}

function acceptResponses({ asked }: RoundState, given: JsonObject, call: RequestCall): Readonly<Record<string, JsonObject>> {
  const accepted: [string, JsonObject][] = [];
  for (const [key, { method }] of asked) {
    const answer = Object.hasOwn(given, key) ? given[key] : undefined;
    if (answer === undefined) continue;
    const problem = checkClientResult(method, answer);
    if (problem !== undefined) {
      throw new ProtocolError(INVALID_PARAMS, `Invalid params: inputResponses[${JSON.stringify(key)}]${problem.replace(/^result/, '')}`);
    }
    const canonical = call.revision.fromWire.results.get(method)?.(answer as JsonObject) ?? (answer as JsonObject);
    accepted.push([key, canonical]);
  }
  return Object.fromEntries(accepted);
}

function mergeAnswers({ answers, asked }: RoundState, responses: Readonly<Record<string, JsonObject>>): ReadonlyMap<string, Answered> {
  const merged = new Map(answers);
  for (const [key, about] of asked) {
    const answer = Object.hasOwn(responses, key) ? responses[key] : undefined;
    // A handler that asks by hand is given its answers for this round, and keeps what it needs.
    if (answer !== undefined && about.source !== 'by hand') merged.set(key, { ...about, answer });
  }
  return merged;
}

/** @see 2026-07-28 basic/patterns/mrtr#server-requirements-basic-workflow */
async function claim({ core }: RequestCall, { chainId, round }: RoundState, expiresAtMs: number): Promise<void> {
  const { replay } = core.options.requestState ?? {};
  if (!replay || (await replay.claim(`${chainId}:${round}`, expiresAtMs))) return;
  throw new RequestStateError('requestState was used before, and may be used once: start the request anew');
}
