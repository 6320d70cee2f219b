/** The state of a chain of rounds: opened from the `requestState` of a request, sealed into the `requestState` of its result. */

import { type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { checkClientResult } from '@mortise/protocol/checks';
import type { Context } from '../context.ts';
import type { Server } from '../server.ts';
import { refusal, RequestStates, type StateBinding } from './request-state.ts';
import { Steps, type StepValue } from './steps.ts';

/** A question that was sent to the client. */
export interface Asked {
  readonly method: string;
  /** Digest of the method and the canonical parameters. An answer is only used for a question with the same digest. */
  readonly digest: string;
  /** Where the question came from. Each later run must ask a `plain` question again. */
  readonly source: 'plain' | 'keyed' | 'in step' | 'by hand';
  /** The start of the question, for error messages. */
  readonly text: string;
}

export interface AskedNow extends Asked {
  readonly params: JsonObject | undefined;
}

export interface Answered extends Asked {
  readonly answer: JsonObject;
}

/** The sealed content. */
export interface RoundState {
  readonly chainId: string;
  /** The number of the next round, from 1. */
  readonly round: number;
  readonly answers: readonly (readonly [string, Answered])[];
  readonly asked: readonly (readonly [string, Asked])[];
  readonly steps: readonly (readonly [string, StepValue])[];
  /** How many notifications were sent. */
  readonly reports: number;
  /** The highest progress that was sent. */
  readonly progress?: number | undefined;
  /** The `requestState` that a handler passed to `inputRequired`. */
  readonly given?: JsonValue | undefined;
}

/** What a run of a handler can read of the rounds before it. */
export interface EarlierRounds {
  /** The client's answers to the last round's questions, by key. */
  readonly inputResponses: Readonly<Record<string, JsonObject>>;
  /** The `requestState` that the handler passed to `inputRequired` in the last round. */
  readonly requestState?: JsonValue | undefined;
  /** How many notifications earlier rounds sent. They are not sent again. */
  readonly reports: number;
  /** The highest progress that earlier rounds sent. */
  readonly progress?: number | undefined;
}

/** The state of the earlier rounds, as opened for this one. */
export interface OpenedRound {
  /** The number of this round, from 1. */
  readonly number: number;
  /** The questions of the last round. */
  readonly asked: ReadonlyMap<string, Asked>;
  readonly answers: ReadonlyMap<string, Answered>;
}

/** Runs the handler of a request that continues an earlier one. The handler sees its own state, not the sealed form. */
export async function resume(context: Context): Promise<JsonObject> {
  await context.openRound();
  const { inputResponses: _given, requestState: _sealed, ...params } = context.params;
  const { inputResponses, requestState } = context.earlier ?? {};
  context.params = { ...params, ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) };
  return context.route.entry.run(context.params, context);
}

/**
 * Opens the state of earlier rounds. Without a state, answers are not used for `ctx.elicit`, because only the state tells what was asked. They are
 * still in `ctx.inputResponses`.
 *
 * @throws {ProtocolError} -32602: the state cannot be opened or was already used, or an answer is malformed.
 * @see 2026-07-28 basic/patterns/mrtr#error-handling
 */
export async function openState(context: Context): Promise<OpenedRound> {
  const { server } = context;
  const { requestState, inputResponses } = context.givenParams;
  const given = inputResponses as Readonly<Record<string, JsonObject>> | undefined;
  if (requestState !== undefined && typeof requestState !== 'string')
    throw refusal('requestState must be a string: send back the requestState of the last result');
  if (requestState === undefined) {
    if (given) context.earlier = { inputResponses: given, reports: 0 };
    return { number: 1, asked: new Map(), answers: new Map() };
  }
  const { state, expiresAtMs } = await statesOf(server).open(requestState, bindingOf(context));
  const { chainId, round, asked, reports, progress } = state;
  const responses = new Map(asked.flatMap(([key, { method }]) => readResponse(key, method, given ?? {}, context)));
  // Claimed last, so that a malformed answer does not use the state up.
  const { replay } = server.options.requestState ?? {};
  if (replay && !(await replay.claim(`${chainId}:${round}`, expiresAtMs)))
    throw refusal('requestState was already used, and can be used only once: send the request again without it');
  context.earlier = { inputResponses: Object.fromEntries(responses), requestState: state.given, reports, progress };
  context.steps = new Steps(chainId, state.steps);
  const answers = new Map(state.answers);
  for (const [key, about] of asked) {
    const answer = responses.get(key);
    // Answers to `inputRequired` belong to this round only. The handler keeps what it needs in its state.
    if (answer && about.source !== 'by hand') answers.set(key, { ...about, answer });
  }
  return { number: round, asked: new Map(asked), answers };
}

function readResponse(key: string, method: string, given: JsonObject, { revision }: Context): readonly (readonly [string, JsonObject])[] {
  const answer = Object.hasOwn(given, key) ? (given[key] as JsonObject) : undefined;
  if (answer === undefined) return [];
  const problem = checkClientResult(method, answer);
  if (problem !== undefined)
    throw new ProtocolError(INVALID_PARAMS, `Invalid params: inputResponses[${JSON.stringify(key)}]${problem.replace(/^result/, '')}`);
  return [[key, revision.fromWire.results.get(method)?.(answer) ?? answer]];
}

const sealers = new WeakMap<Server, RequestStates<RoundState>>();

/** Returns the object that seals and opens a server's states. */
function statesOf(server: Server): RequestStates<RoundState> {
  let states = sealers.get(server);
  if (!states) sealers.set(server, (states = new RequestStates(server.options.requestState ?? {}, server.clock)));
  return states;
}

/** Returns the binding of a request, with its params as they arrived, before middleware. */
function bindingOf({ principal, method, givenParams }: Context): StateBinding {
  return { principal, method, params: givenParams };
}

/** @throws {ProtocolError} -32603: the state is too long. */
export async function sealState(context: Context, state: RoundState): Promise<string> {
  const { server } = context;
  const states = statesOf(server);
  if (context.via === 'exchange' && states.hasOwnKey)
    server.warnOnce(
      'requestState is sealed with a key that only this process has, so other machines, and this one after a restart, cannot open it: set the option requestState.keys',
    );
  const sealed = await states.seal(state as RoundState & JsonObject, bindingOf(context));
  if (typeof sealed === 'string') return sealed;
  const [largest] = state.steps
    .map(([name, value]) => ({ name, bytes: JSON.stringify(value).length }))
    .sort((one, other) => other.bytes - one.bytes);
  const culprit = largest ? `; its largest step is "${largest.name.slice(0, 100)}" with ${largest.bytes} bytes` : '';
  const problem = `${context.name}: requestState has ${sealed} bytes, the maximum is 262,144${culprit}: keep less in ctx.once, ask for less, or set requestState.store`;
  server.logger.log('error', problem);
  throw new ProtocolError(INTERNAL_ERROR, problem);
}
