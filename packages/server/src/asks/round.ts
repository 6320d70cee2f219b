/**
 * One run of a handler whose questions end the exchange: what it asks is gathered and goes out with the answer; what was answered before is
 * given back. See docs/decisions/asks-in-rounds.md.
 */

import { type ClockTimer, isMortiseError, type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { toDigestKey } from '@mortise/jsonrpc-core/encoding';
import { INTERNAL_ERROR, INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkClientResult } from '@mortise/protocol/checks';
import type { Ask } from '@mortise/protocol/contracts';
import type { Context, Outcome } from '../context.ts';
import { AskError, RequestStateError, Suspended } from '../errors.ts';
import type { Server } from '../server.ts';
import { describeAsk, digestAsk, nameCall } from './ask-identity.ts';
import { RequestStates, type StateBinding } from './request-state.ts';
import { type Answered, type Asked, type AskedNow, readRoundState, type RoundState, writeRoundState } from './round-state.ts';
import { Steps } from './steps.ts';

export const DEFAULT_MAX_ROUNDS = 10;
/** How many questions one result asks; clients answer no more. */
const MAX_QUESTIONS = 100;
/**
 * How long a new question waits, in milliseconds, while answers that came have not been asked for again: a handler whose I/O is
 * slower this time must not be taken for one that asks something else.
 */
const PATIENCE_MS = 2_000;
/** How long a handler may go on after its question went out, in milliseconds, before the client is asked without waiting for its end. */
const GRACE_MS = 5_000;
/** The longest that a question which comes too late waits for its rejection, in milliseconds. */
const MAX_LATE_MS = 1_000;

/** A question that waits for the end of the gathering. */
interface PendingAsk extends AskedNow {
  reject(reason: unknown): void;
}

export class Round {
  readonly state: RoundState;
  readonly #context: Context;
  readonly #pending = new Map<string, PendingAsk>();
  readonly #tooMany: ((reason: unknown) => void)[] = [];
  /** How often each key was used. */
  readonly #uses = new Map<string, number>();
  /** The plain questions that are answered and that this run has not asked yet. */
  readonly #unclaimed: Map<string, Answered>;
  #timer: ClockTimer | undefined;
  /** The questions whose digests are not there yet. */
  #turns = 0;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #isPatient = false;
  #isSuspended = false;
  /** Why nothing more is asked in this round, where it is not that the round is over. */
  #refusal: Error | undefined;
  #lateAsks = 0;
  #conclusion: Promise<JsonObject> | undefined;

  constructor(context: Context, state: RoundState) {
    this.#context = context;
    this.state = state;
    this.#unclaimed = new Map([...state.answers].filter(([, { source }]) => source === 'plain'));
  }

  /** Whether the questions went out. */
  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** Whether something is to be put to the client, or was. */
  get isAsking(): boolean {
    return this.#isSuspended || this.#pending.size > 0 || this.#refusal !== undefined;
  }

  async ask(ask: Ask): Promise<JsonObject> {
    ask.signal?.throwIfAborted();
    const params = ask.params && (JSON.parse(JSON.stringify(ask.params)) as JsonObject);
    const source = this.#sourceOf(ask);
    const digesting = digestAsk(ask.method, params);
    // Digests come some turns later: questions stay in the order in which they were asked, and gathering waits for all.
    const turn = this.#lastTurn.then(() => digesting);
    this.#lastTurn = turn;
    this.#turns += 1;
    const digest = await turn;
    this.#turns -= 1;
    const answer = this.#put(ask, { method: ask.method, params, source, digest, text: describeAsk(ask.method, params) });
    if (this.#pending.size > 0 && !this.#isSuspended) this.#timer ??= this.#gather();
    return answer;
  }

  #put(ask: Ask, question: AskedNow): Promise<JsonObject> {
    const key = this.#toKey(ask.key ?? toDigestKey(ask.method, question.digest));
    const known = this.state.answers.get(key);
    if (known) return this.#answer(key, known, question);
    if (this.#isSuspended || this.#refusal) return this.#rejectLater();
    if (this.#isLastRound) return this.#rejectLater(this.#tooManyRounds());
    // What is too much for one result is asked in the next.
    if (this.#pending.size >= MAX_QUESTIONS) return new Promise((_, reject) => this.#tooMany.push(reject));
    return new Promise((_, reject) => {
      const onAbort = (): void => this.#drop(key, ask.signal?.reason);
      ask.signal?.addEventListener('abort', onAbort, { once: true });
      const settle = (reason: unknown): void => {
        ask.signal?.removeEventListener('abort', onAbort);
        reject(reason as Error);
      };
      this.#pending.set(key, { ...question, reject: settle });
    });
  }

  /** The handler has settled before its questions went out: nobody waits for them. */
  abandon(): void {
    if (this.#isSuspended) return;
    this.#timer?.cancel();
    this.#rejectAll(new Suspended('The handler has settled: its question was not put to the client'));
  }

  /** @throws {AskError} `ERR_TOO_MANY_ASKS` The request asked back as often as it may. */
  requireRound(): void {
    if (this.#isLastRound) throw this.#tooManyRounds();
  }

  /** The result that asks, once the handler has settled and no step runs. @param outcome Undefined for a handler that goes on. */
  conclude(outcome: Outcome | undefined): Promise<JsonObject> {
    return (this.#conclusion ??= this.#conclude(outcome));
  }

  // ---- questions

  /** The same question asked twice in one run is two questions. */
  #toKey(key: string): string {
    const uses = (this.#uses.get(key) ?? 0) + 1;
    this.#uses.set(key, uses);
    return uses === 1 ? key : `${key}#${uses}`;
  }

  /** A question inside a step is not asked again once the step is remembered. */
  #sourceOf({ key }: Ask): Asked['source'] {
    if (key !== undefined) return 'keyed';
    return this.#context.steps.isRunning ? 'in step' : 'plain';
  }

  #answer(key: string, known: Answered, now: AskedNow): Promise<JsonObject> {
    if (known.digest !== now.digest) return this.#rejectLater(this.#changed(known.text, now.text));
    if (this.#unclaimed.delete(key) && this.#unclaimed.size === 0 && this.#isPatient) this.#restartGathering();
    return Promise.resolve(structuredClone(known.answer));
  }

  /** In this one the client can no longer be asked. */
  get #isLastRound(): boolean {
    return this.state.round > (this.#context.server.options.requestState?.maxRounds ?? DEFAULT_MAX_ROUNDS);
  }

  #tooManyRounds(): AskError {
    return new AskError(
      'ERR_TOO_MANY_ASKS',
      `${nameCall(this.#context)} asked back ${this.state.round - 1} times: ask together what can be asked together, or raise requestState.maxRounds`,
    );
  }

  #changed(before: string, now: string): AskError {
    return new AskError(
      'ERR_ASK_CHANGED',
      `${nameCall(this.#context)} asked something else when it ran again: the answer is to ${before}, now it asks ${now}. Let what it asks depend only on arguments, answers and ctx.once`,
    );
  }

  /** Not at once: a handler that asks again in a loop would never let go. */
  #rejectLater(reason?: Error): Promise<never> {
    const error = reason ?? this.#refusal ?? new Suspended('This round is over: the question is asked in the next');
    const delayMs = Math.min(this.#lateAsks++, MAX_LATE_MS);
    return new Promise((_, reject) => this.#context.server.clock.schedule(() => reject(error), delayMs, { keepAlive: true }));
  }

  #drop(key: string, reason: unknown): void {
    const ask = this.#pending.get(key);
    if (!ask || this.#isSuspended) return;
    this.#pending.delete(key);
    ask.reject(reason);
  }

  #rejectAll(reason: unknown): void {
    for (const { reject } of this.#pending.values()) reject(reason);
    for (const reject of this.#tooMany.splice(0)) reject(reason);
  }

  // ---- gathering

  #gather(): ClockTimer {
    return this.#context.server.clock.schedule(() => this.#onGathered(), 0, { keepAlive: true });
  }

  #restartGathering(): void {
    this.#isPatient = false;
    this.#timer?.cancel();
    this.#timer = this.#gather();
  }

  #onGathered(): void {
    this.#timer = undefined;
    if (this.#pending.size === 0 || this.#turns > 0) return;

    if (this.#context.isOver) return this.#rejectAll(this.#context.signal.reason ?? new Suspended('The call is over'));
    const [unclaimed] = this.#unclaimed.values();
    const strange = [...this.#pending].find(([key, { source }]) => source === 'plain' && !this.state.asked.has(key));
    if (!unclaimed || !strange) return this.#suspend();
    this.#isPatient = true;
    this.#timer = this.#context.server.clock.schedule(
      () => {
        this.#refusal = this.#changed(unclaimed.text, strange[1].text);
        this.#rejectAll(this.#refusal);
        this.#pending.clear();
      },
      PATIENCE_MS,
      { keepAlive: true },
    );
  }

  #suspend(): void {
    this.#isSuspended = true;
    const clock = this.#context.server.clock;
    this.#timer = clock.schedule(() => this.#context.onSuspended?.(this.conclude(undefined)), GRACE_MS, { keepAlive: true });
    this.#rejectAll(new Suspended(`${nameCall(this.#context)} has asked the client, and runs again with the answer`));
  }

  async #conclude(outcome: Outcome | undefined): Promise<JsonObject> {
    this.#timer?.cancel();
    if (!outcome || !passesOn(outcome)) warnOfSwallowed(this.#context, outcome);
    if (!outcome) this.#context.abort(new Suspended('This round is over: the client was asked'));
    return this.seal(this.#pending, undefined);
  }

  /** The result that puts questions to the client. @param given State of the handler's own. */
  async seal(asked: ReadonlyMap<string, AskedNow>, given: JsonValue | undefined): Promise<JsonObject> {
    const context = this.#context;
    const { steps, reports, highestProgress = -Infinity } = context;
    // What a step does must be known before the next round may begin.
    await steps.settled();
    steps.close();
    const progress = Math.max(this.state.progress ?? -Infinity, highestProgress);
    const requestState = await sealState(context, {
      chainId: steps.chainId,
      round: this.state.round + 1,
      answers: this.state.answers,
      asked,
      steps: steps.done,
      reports: Math.max(this.state.reports, reports),
      progress: progress === -Infinity ? undefined : progress,
      given,
    });
    context.isConcluded = true;
    if (asked.size === 0) return { resultType: 'input_required', requestState };
    const inputRequests = Object.fromEntries([...asked].map(([key, question]) => [key, toInputRequest(context, question)]));
    return { resultType: 'input_required', inputRequests, requestState };
  }
}

// ---- from a request to its round

/**
 * Answers without a state, and answers to what was not asked, are passed over; a handler that asks by hand may look at the former in
 * `ctx.inputResponses`, for the state is all that tells what was asked.
 *
 * @throws {RequestStateError} -32602: the state does not open, or was used.
 * @throws {ProtocolError} -32602: an answer is malformed.
 * @see 2026-07-28 basic/patterns/mrtr#error-handling
 */
export async function openRound(context: Context): Promise<Round> {
  const { requestState, inputResponses } = context.givenParams;
  if (typeof requestState !== 'string') {
    // That each is an object was checked with the request.
    const given = isJsonObject(inputResponses) ? (inputResponses as Readonly<Record<string, JsonObject>>) : undefined;
    if (given) context.earlier = { inputResponses: given, requestState: undefined, reports: 0, progress: undefined };
    return new Round(context, firstState(context));
  }
  const { state, expiresAtMs } = await statesOf(context.server).open(requestState, bindingOf(context));
  const before = readRoundState(state);
  const responses = acceptResponses(before, isJsonObject(inputResponses) ? inputResponses : {}, context);
  // Last, so that a malformed answer does not use the state up.
  await claim(context, before, expiresAtMs);
  const { reports, progress, given } = before;
  context.earlier = { inputResponses: responses, requestState: given, reports, progress };
  context.steps = new Steps(before.chainId, before.steps);
  return new Round(context, { ...before, answers: mergeAnswers(before, responses) });
}

function firstState({ steps }: Context): RoundState {
  const nothing: ReadonlyMap<string, never> = new Map<string, never>();
  const { chainId, done } = steps;
  return { chainId, round: 1, answers: nothing, asked: nothing, steps: done, reports: 0, progress: undefined, given: undefined };
}

function acceptResponses({ asked }: RoundState, given: JsonObject, { revision }: Context): Readonly<Record<string, JsonObject>> {
  const accepted: [string, JsonObject][] = [];
  for (const [key, { method }] of asked) {
    const answer = Object.hasOwn(given, key) ? given[key] : undefined;
    if (answer === undefined) continue;
    const problem = checkClientResult(method, answer);
    if (problem !== undefined) {
      throw new ProtocolError(INVALID_PARAMS, `Invalid params: inputResponses[${JSON.stringify(key)}]${problem.replace(/^result/, '')}`);
    }
    const canonical = revision.fromWire.results.get(method)?.(answer as JsonObject) ?? (answer as JsonObject);
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
async function claim({ server }: Context, { chainId, round }: RoundState, expiresAtMs: number): Promise<void> {
  const { replay } = server.options.requestState ?? {};
  if (!replay || (await replay.claim(`${chainId}:${round}`, expiresAtMs))) return;
  throw new RequestStateError('requestState was used before, and may be used once: start the request anew');
}

// ---- from a round to the result that asks

const sealers = new WeakMap<Server, RequestStates>();

/** What seals and opens the states of a server. */
function statesOf(server: Server): RequestStates {
  let states = sealers.get(server);
  if (!states) sealers.set(server, (states = new RequestStates(server.options.requestState ?? {}, server.clock)));
  return states;
}

/** What the states of a call are sealed to: the request as it came, before middleware. */
function bindingOf({ principal, method, givenParams }: Context): StateBinding {
  return { principal, method, params: givenParams };
}

/** @throws {ProtocolError} -32603: the state is too long. */
async function sealState(context: Context, state: RoundState): Promise<string> {
  const { server, via } = context;
  const states = statesOf(server);
  if (via === 'exchange' && states.hasOwnKey) {
    server.warnOnce(
      'requestState is sealed with a key that only this process has: another machine, or this one after a restart, cannot go on with what it asked. Give requestState.keys',
    );
  }
  try {
    return await states.seal(writeRoundState(state), bindingOf(context));
  } catch (error) {
    if (!isMortiseError(error) || error.code !== 'ERR_STATE_TOO_LARGE') throw error;
    const problem = `${nameCall(context)}: ${error.message}`;
    server.logger.log('error', problem);
    throw new ProtocolError(INTERNAL_ERROR, problem, undefined, { cause: error });
  }
}

/** The client's answering continues the trace; the question's span ends with the round, for its answer comes with another request. */
function toInputRequest(context: Context, { method, params }: AskedNow): JsonObject {
  const traced = context.traceAsk?.(method, params);
  traced?.end();
  const sent = traced ? traced.params : params;
  return sent ? { method, params: sent } : { method };
}

// ---- handlers that catch `Suspended` and go on as if they had an answer

/** How deep the causes of an error are looked into. */
const MAX_DEPTH = 5;

/** Whether a handler let `Suspended` pass, as it is or as the cause of its own error. */
function passesOn(outcome: Outcome): boolean {
  return 'error' in outcome && holdsSuspended(outcome.error, MAX_DEPTH);
}

/** Tells the operator of a handler that did not. */
function warnOfSwallowed(context: Context, outcome: Outcome | undefined): void {
  // Registered names are few; what else a call names is the peer's text.
  const name = context.route.entry.findsByName ? nameCall(context) : `"${context.method}"`;
  const did = !outcome ? 'goes on' : 'error' in outcome ? 'threw another error' : 'returned';
  context.server.warnOnce(
    `${name} ${did} after its question went to the client: it caught Suspended, or waits for something else. What it does then is dropped, and it runs again with the answer: let Suspended pass`,
  );
}

function holdsSuspended(error: unknown, depth: number): boolean {
  if (isMortiseError(error) && error.code === 'ERR_SUSPENDED') return true;
  if (depth === 0 || !(error instanceof Error)) return false;
  try {
    const { cause, errors } = error as { readonly cause?: unknown; readonly errors?: unknown };
    return [cause, ...(Array.isArray(errors) ? (errors as readonly unknown[]) : [])].some((inner) => holdsSuspended(inner, depth - 1));
  } catch {
    return false;
  }
}
