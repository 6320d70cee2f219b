/**
 * One run of a handler in a modern exchange: what it asks is gathered, and ends the exchange; what was answered before is given
 * back. See docs/decisions/asks-in-rounds.md.
 */

import type { ClockTimer, JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { toDigestKey } from '@mortise/jsonrpc-core/encoding';
import type { Ask } from '@mortise/protocol/contracts';
import { AskChangedError, Suspended, TooManyAsksError } from '../errors.ts';
import type { RequestCall } from '../request-call.ts';
import type { RunOutcome } from './after-run.ts';
import { describeAsk, digestAsk, nameCall } from './ask-identity.ts';
import type { ExchangeRun } from './exchange-run.ts';
import { sealRound } from './seal-round.ts';
import type { Answered, Asked, RoundState } from './round-state.ts';
import { passesOn, warnOnce } from './swallowed.ts';

const DEFAULT_MAX_ROUNDS = 10;
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
interface PendingAsk extends Asked {
  readonly params: JsonObject | undefined;
  reject(reason: unknown): void;
}

export class Round {
  readonly state: RoundState;
  readonly #call: RequestCall;
  readonly #run: ExchangeRun;
  readonly #pending = new Map<string, PendingAsk>();
  /** How often each key was used. */
  readonly #uses = new Map<string, number>();
  /** The plain questions that are answered and that this run has not asked yet. */
  readonly #unclaimed: Map<string, Answered>;
  #timer: ClockTimer | undefined;
  #isPatient = false;
  #isSuspended = false;
  /** Why nothing more is asked in this round, where it is not that the round is over. */
  #refusal: Error | undefined;
  #lateAsks = 0;
  #conclusion: Promise<JsonObject> | undefined;

  constructor(call: RequestCall, run: ExchangeRun, state: RoundState) {
    this.#call = call;
    this.#run = run;
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

  ask(ask: Ask): Promise<JsonObject> {
    if (ask.signal?.aborted) return Promise.reject(ask.signal.reason as Error);
    const params = ask.params && (JSON.parse(JSON.stringify(ask.params)) as JsonObject);
    const digest = digestAsk(ask.method, params);
    const key = this.#toKey(ask.key ?? toDigestKey(ask.method, digest));
    const text = describeAsk(ask.method, params);
    const known = this.state.answers.get(key);
    if (known) return this.#answer(key, known, { digest, text });
    // What is too much for one result is asked in the next.
    if (this.#isSuspended || this.#refusal || this.#pending.size >= MAX_QUESTIONS) return this.#rejectLater();
    if (this.#isLastRound) return this.#rejectLater(this.#tooManyRounds());
    return new Promise((_, reject) => {
      const onAbort = (): void => this.#drop(key, ask.signal?.reason);
      ask.signal?.addEventListener('abort', onAbort, { once: true });
      const settle = (reason: unknown): void => {
        ask.signal?.removeEventListener('abort', onAbort);
        reject(reason as Error);
      };
      this.#pending.set(key, { method: ask.method, params, digest, text, source: this.#sourceOf(ask), reject: settle });
      this.#timer ??= this.#gather();
    });
  }

  /** The handler has settled before its questions went out: nobody waits for them. */
  abandon(): void {
    if (this.#isSuspended) return;
    this.#timer?.cancel();
    this.#rejectAll(new Suspended('The handler has settled: its question was not put to the client'));
  }

  /** @throws {TooManyAsksError} The request asked back as often as it may. */
  requireRound(): void {
    if (this.#isLastRound) throw this.#tooManyRounds();
  }

  /** The result that asks, once the handler has settled and no step runs. @param outcome Undefined for a handler that goes on. */
  conclude(outcome: RunOutcome | undefined): Promise<JsonObject> {
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
    return this.#run.steps.isRunning ? 'in step' : 'plain';
  }

  #answer(key: string, known: Answered, now: { readonly digest: string; readonly text: string }): Promise<JsonObject> {
    if (known.digest !== now.digest) return this.#rejectLater(this.#changed(known.text, now.text));
    if (this.#unclaimed.delete(key) && this.#unclaimed.size === 0 && this.#isPatient) this.#restartGathering();
    return Promise.resolve(structuredClone(known.answer));
  }

  /** In this one the client can no longer be asked. */
  get #isLastRound(): boolean {
    return this.state.round > (this.#call.core.options.requestState?.maxRounds ?? DEFAULT_MAX_ROUNDS);
  }

  #tooManyRounds(): TooManyAsksError {
    return new TooManyAsksError(
      `${nameCall(this.#call)} asked back ${this.state.round - 1} times: ask together what can be asked together, or raise requestState.maxRounds`,
    );
  }

  #changed(before: string, now: string): AskChangedError {
    return new AskChangedError(
      `${nameCall(this.#call)} asked something else when it ran again: the answer is to ${before}, now it asks ${now}. Let what it asks depend only on arguments, answers and ctx.once`,
    );
  }

  /** Not at once: a handler that asks again in a loop would never let go. */
  #rejectLater(reason?: Error): Promise<never> {
    const error = reason ?? this.#refusal ?? new Suspended('This round is over: the question is asked in the next');
    const delayMs = Math.min(this.#lateAsks++, MAX_LATE_MS);
    return new Promise((_, reject) => this.#call.core.clock.schedule(() => reject(error), delayMs, { keepAlive: true }));
  }

  #drop(key: string, reason: unknown): void {
    const ask = this.#pending.get(key);
    if (!ask || this.#isSuspended) return;
    this.#pending.delete(key);
    ask.reject(reason);
  }

  #rejectAll(reason: unknown): void {
    for (const { reject } of this.#pending.values()) reject(reason);
  }

  // ---- gathering

  #gather(): ClockTimer {
    return this.#call.core.clock.schedule(() => this.#onGathered(), 0, { keepAlive: true });
  }

  #restartGathering(): void {
    this.#isPatient = false;
    this.#timer?.cancel();
    this.#timer = this.#gather();
  }

  #onGathered(): void {
    this.#timer = undefined;
    if (this.#pending.size === 0) return;
    if (this.#call.isOver) return this.#rejectAll(this.#call.signal.reason ?? new Suspended('The call is over'));
    const [unclaimed] = this.#unclaimed.values();
    const strange = [...this.#pending].find(([key, { source }]) => source === 'plain' && !this.state.asked.has(key));
    if (!unclaimed || !strange) return this.#suspend();
    this.#isPatient = true;
    this.#timer = this.#call.core.clock.schedule(
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
    const clock = this.#call.core.clock;
    this.#timer = clock.schedule(() => this.#call.onSuspended?.(this.conclude(undefined)), GRACE_MS, { keepAlive: true });
    this.#rejectAll(new Suspended(`${nameCall(this.#call)} has asked the client, and runs again with the answer`));
  }

  async #conclude(outcome: RunOutcome | undefined): Promise<JsonObject> {
    this.#timer?.cancel();
    if (!outcome || !passesOn(outcome)) warnOnce(this.#call, outcome);
    // What a step does must be known before the next round may begin.
    await this.#run.steps.settled();
    this.#run.steps.close();
    if (!outcome) this.#call.abort(new Suspended('This round is over: the client was asked'));
    return this.seal(this.#pending, undefined);
  }

  /** The result that puts questions to the client. @param given State of the handler's own. */
  seal(asked: ReadonlyMap<string, Asked & { readonly params: JsonObject | undefined }>, given: JsonValue | undefined): Promise<JsonObject> {
    const { reports, steps } = this.#run;
    const { progress: told = -Infinity, round, answers } = this.state;
    const progress = Math.max(told, this.#call.highestProgress ?? -Infinity);
    return sealRound(this.#call, asked, {
      chainId: steps.chainId,
      round: round + 1,
      answers,
      asked,
      steps: steps.done,
      reports: Math.max(this.state.reports, reports),
      progress: progress === -Infinity ? undefined : progress,
      given,
    });
  }
}
