/** What is kept while one call requests input several times: read from a request's `requestState`, written to that of its result. */

import { type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { checkClientResult } from '@mortise/protocol/checks';
import type { Context } from '../context.ts';
import type { Server } from '../server.ts';
import { refusal, RequestStates, type StateBinding } from './request-state.ts';
import { Steps, type StepValue } from './steps.ts';

/** A request (elicitation, sampling or roots) that was sent to the client in an `input_required` result. */
export interface Asked {
  readonly method: string;
  /** Digest of the method and the canonical parameters. The client's answer is only used for a request with the same digest. */
  readonly digest: string;
  /** Made by `ctx.elicit` or the like, with a `key`, inside `ctx.once`, or by `inputRequired`. Later runs must repeat `plain` ones. */
  readonly source: 'plain' | 'keyed' | 'in step' | 'by hand';
  /** The method and the start of the message of the request to the client, for error messages. */
  readonly text: string;
}

export interface AskedNow extends Asked {
  readonly params: JsonObject | undefined;
}

export interface Answered extends Asked {
  readonly answer: JsonObject;
}

/** The content of an encrypted `requestState`. A round is one time that the client sends the request and gets a result. */
export interface RoundState {
  readonly chainId: string;
  /** The number of the next round, from 1: how often the client will have sent the request by then. */
  readonly round: number;
  readonly answers: readonly (readonly [string, Answered])[];
  readonly asked: readonly (readonly [string, Asked])[];
  readonly steps: readonly (readonly [string, StepValue])[];
  /** How many notifications the handler has sent to the client. */
  readonly reports: number;
  /** The highest progress value that was sent to the client. */
  readonly progress?: number | undefined;
  /** The handler's own state, which it passed to `inputRequired` as `requestState`. */
  readonly given?: JsonValue | undefined;
}

/** What a handler that runs again with the client's answers gets from its earlier runs. */
export interface EarlierRounds {
  /** The client's answers to the `inputRequests` of the last result, by key. */
  readonly inputResponses: Readonly<Record<string, JsonObject>>;
  /** The `requestState` that the handler passed to `inputRequired` in its last run. */
  readonly requestState?: JsonValue | undefined;
  /** How many notifications the handler sent in its earlier runs. They are not sent again. */
  readonly reports: number;
  /** The highest progress value that the handler sent in its earlier runs. */
  readonly progress?: number | undefined;
}

/** The decrypted `requestState` of a request: what the client was asked when it sent the request before, and its answers. */
export interface OpenedRound {
  /** The number of this round, from 1: how often the client has sent this request. */
  readonly number: number;
  /** The requests to the client (elicitation, sampling, roots) in the last result, by key. */
  readonly asked: ReadonlyMap<string, Asked>;
  readonly answers: ReadonlyMap<string, Answered>;
}

/** Runs the handler of a request that brings the client's answers. The handler sees its own `requestState`, not the encrypted form. */
export async function resume(context: Context): Promise<JsonObject> {
  await context.openRound();
  const { inputResponses: _given, requestState: _sealed, ...params } = context.params;
  const { inputResponses, requestState } = context.earlier ?? {};
  context.params = { ...params, ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) };
  return context.route.entry.run(context.params, context);
}

/**
 * Decrypts the `requestState` of a request. Without one, `ctx.elicit` does not use the client's answers, because only the `requestState`
 * tells what the client was asked. The answers are still in `ctx.inputResponses`.
 *
 * @throws {ProtocolError} -32602: `requestState` cannot be opened or was already used, or an answer is malformed.
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
  const states = statesOf(server);
  const state = await states.open(requestState, bindingOf(context));
  const { chainId, round, asked, reports, progress } = state;
  const responses = new Map(asked.flatMap(([key, { method }]) => readResponse(key, method, given ?? {}, context)));
  // The requestState is marked as used last, so that after a malformed answer it can be used again.
  const { replay } = server.options.requestState ?? {};
  if (replay && !(await replay.claim(`${chainId}:${round}`, states.claimMs)))
    throw refusal('requestState was already used, and can be used only once: send the request again without it');
  context.earlier = { inputResponses: Object.fromEntries(responses), requestState: state.given, reports, progress };
  context.steps = new Steps(chainId, state.steps);
  const answers = new Map(state.answers);
  for (const [key, about] of asked) {
    const answer = responses.get(key);
    // Answers to `inputRequired` are given to the handler in this run only. It keeps what it needs in its own `requestState`.
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

/** Returns the object that encrypts and decrypts the `requestState` values of a server. */
function statesOf(server: Server): RequestStates<RoundState> {
  let states = sealers.get(server);
  if (!states)
    sealers.set(server, (states = new RequestStates(server.options.requestState ?? {}, server.options.clusterKey, server.clock)));
  return states;
}

/** Returns what the `requestState` of a request is bound to. The params are those that arrived, before any middleware. */
function bindingOf({ principal, method, givenParams }: Context): StateBinding {
  return { principal, method, params: givenParams };
}

/** Encrypts the state as a `requestState`. @throws {ProtocolError} -32603: the `requestState` would be too long. */
export async function sealState(context: Context, state: RoundState): Promise<string> {
  const { server } = context;
  const states = statesOf(server);
  if (context.isExchange && states.hasOwnKey)
    server.warnOnce(
      'requestState is sealed with a key that only this process has, so other machines, and this one after a restart, cannot open it: set the option clusterKey',
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
