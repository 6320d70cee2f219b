/**
 * One run of a handler in the modern era. Its questions are collected and sent as the result, which ends the exchange. Earlier answers are returned
 * to the handler. See docs/decisions/asks-in-rounds.md.
 */

import { type ClockTimer, isMortiseError, type JsonObject, type JsonValue } from '@mortise/jsonrpc-core';
import { toCanonicalJson, toDigestKey } from '@mortise/jsonrpc-core/encoding';
import type { Ask } from '@mortise/protocol/contracts';
import type { Context, Outcome } from '../context.ts';
import { AskError, callOver, Suspended } from '../errors.ts';
import { traceAsk } from '../tracing.ts';
import { digest } from './request-state.ts';
import { type Answered, type Asked, type AskedNow, type OpenedRound, openState, sealState } from './round-state.ts';

export const DEFAULT_MAX_ROUNDS = 10;
/** How many questions one result may ask. Clients answer no more. */
const MAX_QUESTIONS = 100;
/**
 * How long a new question waits, in milliseconds, while the handler has not yet asked again for all answered questions. Its I/O may only be slower in
 * this run.
 */
const PATIENCE_MS = 2_000;
/** How long a handler may go on after its question was sent, in milliseconds. Then the exchange ends without it. */
const GRACE_MS = 5_000;
/** The longest delay before a late question is rejected, in milliseconds. */
const MAX_LATE_MS = 1_000;
/** How many characters of a question appear in error messages. */
const MAX_TEXT = 80;

interface PendingAsk extends AskedNow {
  readonly reject: (reason: unknown) => void;
}

export class Round {
  /** The client's answers of earlier rounds. */
  readonly answers: ReadonlyMap<string, Answered>;
  /** Whether the questions were sent. */
  isSuspended = false;
  readonly #context: Context;
  readonly #number: number;
  readonly #askedBefore: ReadonlyMap<string, Asked>;
  /** Answered plain questions that this run has not asked again yet. */
  readonly #unclaimed: Map<string, Answered>;
  readonly #pending = new Map<string, PendingAsk>();
  /** How often each key was used in this run. */
  readonly #uses = new Map<string, number>();
  #timer: ClockTimer | undefined;
  /** The number of questions without a digest yet, and the last of them. */
  #turns = 0;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #lateAsks = 0;
  #conclusion: Promise<JsonObject> | undefined;

  constructor(context: Context, { number, asked, answers }: OpenedRound) {
    this.answers = answers;
    this.#context = context;
    this.#number = number;
    this.#askedBefore = asked;
    this.#unclaimed = new Map([...answers].filter(([, { source }]) => source === 'plain'));
  }

  /** Whether this run asks the client, or will. */
  get isAsking(): boolean {
    return this.isSuspended || this.#pending.size > 0;
  }

  async ask(ask: Ask): Promise<JsonObject> {
    ask.signal?.throwIfAborted();
    // A question inside a step is not asked again once the step's value is remembered.
    const plain = this.#context.steps.running.size > 0 ? 'in step' : 'plain';
    // Digests are asynchronous. This chain keeps the questions in order and lets collecting wait for all of them.
    const turn = this.#lastTurn.then(() => toQuestion(ask, ask.key === undefined ? plain : 'keyed'));
    this.#lastTurn = turn.catch(() => undefined);
    this.#turns += 1;
    try {
      const question = await turn;
      return ask.signal?.aborted ? Promise.reject(ask.signal.reason as Error) : this.#put(ask, question);
    } finally {
      this.#turns -= 1;
      if (this.#pending.size > 0 && !this.isSuspended && !this.#timer) this.#gather(0);
    }
  }

  /** Drops the questions of a handler that settled before they were sent. */
  abandon(): void {
    if (this.isSuspended) return;
    this.#timer?.cancel();
    this.#rejectAll(new Suspended('The handler has already returned or thrown: its question was not sent to the client'));
  }

  /** Makes the result that asks, once the handler has settled and no step runs. @param outcome Undefined if the handler still runs. */
  conclude(outcome: Outcome | undefined): Promise<JsonObject> {
    return (this.#conclusion ??= this.#conclude(outcome));
  }

  /** Makes the result for the questions of `inputRequired`. @param given The handler's own state. */
  async askByHand(asks: readonly Ask[], given: JsonValue | undefined): Promise<JsonObject> {
    if (this.#isLast) throw this.#tooManyRounds();
    const questions = asks.map(async (ask) => [ask.key ?? '', await toQuestion(ask, 'by hand')] as const);
    return this.#seal(await Promise.all(questions), given);
  }

  // ---- questions

  #put(ask: Ask, question: AskedNow): Promise<JsonObject> {
    const name = ask.key ?? toDigestKey(ask.method, question.digest);
    // The same question asked twice in one run counts as two questions.
    const uses = (this.#uses.get(name) ?? 0) + 1;
    this.#uses.set(name, uses);
    const key = uses === 1 ? name : `${name}#${uses}`;
    const known = this.answers.get(key);
    if (known) return this.#answer(key, known, question);
    if (this.isSuspended) return this.#rejectLater(new Suspended('This round is over: the question will be asked in the next round'));
    if (this.#isLast) return this.#rejectLater(this.#tooManyRounds());
    return new Promise((_, reject) => this.#pending.set(key, { ...question, reject }));
  }

  #answer(key: string, known: Answered, now: Asked): Promise<JsonObject> {
    if (known.digest !== now.digest) return this.#rejectLater(this.#changed(known, now));
    // All answered questions were asked again, so new questions need not wait any longer.
    if (this.#unclaimed.delete(key) && this.#unclaimed.size === 0 && this.#timer) this.#gather(0);
    return Promise.resolve(structuredClone(known.answer));
  }

  /** True in the last round, when the client cannot be asked again. */
  get #isLast(): boolean {
    return this.#number > (this.#context.server.options.requestState?.maxRounds ?? DEFAULT_MAX_ROUNDS);
  }

  #tooManyRounds(): AskError {
    return new AskError(
      'ERR_TOO_MANY_ASKS',
      `${this.#context.name} asked the client ${this.#number - 1} times, the maximum: combine questions, or raise requestState.maxRounds`,
    );
  }

  #changed(before: Asked, now: Asked): AskError {
    return new AskError(
      'ERR_ASK_CHANGED',
      `${this.#context.name} asked a different question when it ran again: the answer is for ${before.text}, but now it asks ${now.text}. Questions must depend only on arguments, answers and ctx.once`,
    );
  }

  /** Delayed, because a handler that asks again in a loop would block the process. */
  #rejectLater(error: Error): Promise<never> {
    const delayMs = Math.min(this.#lateAsks++, MAX_LATE_MS);
    return new Promise((_, reject) => this.#context.clock.schedule(() => reject(error), delayMs, { keepAlive: true }));
  }

  #rejectAll(reason: unknown): void {
    for (const { reject } of this.#pending.values()) reject(reason);
  }

  // ---- gathering

  #gather(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#context.clock.schedule(() => this.#onGathered(delayMs), delayMs, { keepAlive: true });
  }

  #onGathered(waitedMs: number): void {
    this.#timer = undefined;
    if (this.#turns > 0 || this.#pending.size === 0) return;
    if (this.#context.isOver) return this.#rejectAll(this.#context.signal.reason ?? callOver());
    const [unclaimed] = this.#unclaimed.values();
    const strange = [...this.#pending].find(([key, { source }]) => source === 'plain' && !this.#askedBefore.has(key));
    if (!unclaimed || !strange) return this.#suspend();
    if (waitedMs < PATIENCE_MS) return this.#gather(PATIENCE_MS);
    this.#rejectAll(this.#changed(unclaimed, strange[1]));
    this.#pending.clear();
  }

  #suspend(): void {
    this.isSuspended = true;
    const onGraceOver = (): void => this.#context.onSuspended?.(this.conclude(undefined));
    this.#timer = this.#context.clock.schedule(onGraceOver, GRACE_MS, { keepAlive: true });
    this.#rejectAll(new Suspended(`${this.#context.name} has asked the client, and will run again with the answer`));
  }

  async #conclude(outcome: Outcome | undefined): Promise<JsonObject> {
    this.#timer?.cancel();
    warnIfSwallowed(this.#context, outcome);
    if (!outcome) this.#context.abort(new Suspended('This round is over: the question was sent to the client'));
    return this.#seal([...this.#pending].slice(0, MAX_QUESTIONS), undefined);
  }

  async #seal(asked: readonly (readonly [string, AskedNow])[], given: JsonValue | undefined): Promise<JsonObject> {
    const context = this.#context;
    const { steps, reports, earlier } = context;
    // Every running step must be remembered before the next round begins.
    await steps.close();
    const requestState = await sealState(context, {
      chainId: steps.chainId,
      round: this.#number + 1,
      answers: [...this.answers],
      asked: asked.map(([key, { method, digest: of, source, text }]) => [key, { method, digest: of, source, text }]),
      steps: [...steps.done],
      reports: Math.max(earlier?.reports ?? 0, reports),
      progress: context.highestProgress ?? earlier?.progress,
      given,
    });
    context.isConcluded = true;
    if (asked.length === 0) return { resultType: 'input_required', requestState };
    const inputRequests = asked.map(async ([key, question]) => [key, await toInputRequest(context, question)] as const);
    return { resultType: 'input_required', inputRequests: Object.fromEntries(await Promise.all(inputRequests)), requestState };
  }
}

/** @throws {ProtocolError} -32602: the state of an earlier round cannot be opened. */
export async function openRound(context: Context): Promise<Round> {
  return new Round(context, await openState(context));
}

async function toQuestion({ method, params }: Ask, source: Asked['source']): Promise<AskedNow> {
  const plain = params && (JSON.parse(JSON.stringify(params)) as JsonObject);
  return {
    method,
    params: plain,
    source,
    digest: await digest(toCanonicalJson({ method, params: plain ?? {} })),
    text: describe(method, plain),
  };
}

/** Shortens a question for error messages: `elicitation "Who are you?"`. */
function describe(method: string, { message }: JsonObject = {}): string {
  const name = method.split('/', 1)[0] ?? method;
  if (typeof message !== 'string') return name;
  return `${name} ${JSON.stringify(message.length > MAX_TEXT ? `${message.slice(0, MAX_TEXT)}...` : message)}`;
}

/** Adds the trace context to a question. Its span ends with this round, because the answer arrives with another request. */
function toInputRequest(context: Context, question: AskedNow): Promise<JsonObject> {
  const { method } = question;
  return traceAsk(question, context, async (params) => (params ? { method, params } : { method }));
}

// ---- handlers that catch `Suspended` and go on as if they had an answer

/** How many nested causes of an error are searched. */
const MAX_DEPTH = 5;

function warnIfSwallowed(context: Context, outcome: Outcome | undefined): void {
  if (outcome && 'error' in outcome && holdsSuspended(outcome.error)) return;
  const did = !outcome ? 'goes on' : 'error' in outcome ? 'threw another error' : 'returned';
  context.server.warnOnce(
    `${context.name} ${did} after its question was sent to the client: it caught Suspended, or awaits something else. Its outcome is dropped, and it runs again with the answer: do not catch Suspended`,
  );
}

/** Tells whether a handler threw `Suspended`, directly or as a cause of its own error. */
function holdsSuspended(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; depth < MAX_DEPTH && error instanceof Error; depth++, error = error.cause)
    if (isMortiseError(error) && error.code === 'ERR_SUSPENDED') return true;
  return false;
}
