/**
 * One run of a handler in the modern era. Its requests to the client are collected and sent as an `input_required` result, which ends the
 * exchange. When the client repeats the request, the handler runs again and gets the answers. See docs/decisions/asks-in-rounds.md.
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
/** How many requests to the client one `input_required` result may hold. Clients answer no more. */
const MAX_QUESTIONS = 100;
/**
 * How long a new request to the client is held back, in milliseconds, while the handler has not yet repeated all requests that were
 * answered in earlier runs. It may still repeat them, because its I/O may be slower in this run.
 */
const PATIENCE_MS = 2_000;
/** How long a handler may keep running after it requested input, in milliseconds. Then the result is sent without waiting for it. */
const GRACE_MS = 5_000;
/** The longest delay, in milliseconds, before a request to the client that comes too late is rejected. */
const MAX_LATE_MS = 1_000;
/** How many characters of the message of a request to the client appear in error texts. */
const MAX_TEXT = 80;

interface PendingAsk extends AskedNow {
  readonly reject: (reason: unknown) => void;
}

export class Round {
  /** The client's answers to requests of the handler's earlier runs, by key. */
  readonly answers: ReadonlyMap<string, Answered>;
  /** Whether the result with the collected requests to the client is being sent. No more requests can be added then. */
  isSuspended = false;
  readonly #context: Context;
  readonly #number: number;
  readonly #askedBefore: ReadonlyMap<string, Asked>;
  /** Answered `plain` requests to the client that the handler has not repeated yet in this run. */
  readonly #unclaimed: Map<string, Answered>;
  readonly #pending = new Map<string, PendingAsk>();
  /** How often the handler used each key of a request to the client in this run. */
  readonly #uses = new Map<string, number>();
  #timer: ClockTimer | undefined;
  /** How many requests to the client wait for their digest. `#lastTurn` is the promise of the newest one. */
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

  /** Whether the handler has requested input from the client in this run. */
  get isAsking(): boolean {
    return this.isSuspended || this.#pending.size > 0;
  }

  async ask(ask: Ask): Promise<JsonObject> {
    ask.signal?.throwIfAborted();
    // A request to the client inside a step is not repeated once the step's value is remembered.
    const plain = this.#context.steps.running.size > 0 ? 'in step' : 'plain';
    // Digests are asynchronous. This chain keeps the requests in order and lets collecting wait for all of them.
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

  /** Drops requests to the client that were not sent before the handler returned or threw. */
  abandon(): void {
    if (this.isSuspended) return;
    this.#timer?.cancel();
    this.#rejectAll(new Suspended('The handler has already returned or thrown: its request was not sent to the client'));
  }

  /**
   * Makes the `input_required` result, once the handler has returned or thrown and no step of `ctx.once` runs.
   *
   * @param outcome Undefined if the handler still runs.
   */
  conclude(outcome: Outcome | undefined): Promise<JsonObject> {
    return (this.#conclusion ??= this.#conclude(outcome));
  }

  /** Makes the `input_required` result of a handler that called `inputRequired`. @param given The handler's own `requestState`. */
  async askByHand(asks: readonly Ask[], given: JsonValue | undefined): Promise<JsonObject> {
    if (this.#isLast) throw this.#tooManyRounds();
    const questions = asks.map(async (ask) => [ask.key ?? '', await toQuestion(ask, 'by hand')] as const);
    return this.#seal(await Promise.all(questions), given);
  }

  // ---- questions

  #put(ask: Ask, question: AskedNow): Promise<JsonObject> {
    const name = ask.key ?? toDigestKey(ask.method, question.digest);
    // The same request made twice in one run counts as two requests.
    const uses = (this.#uses.get(name) ?? 0) + 1;
    this.#uses.set(name, uses);
    const key = uses === 1 ? name : `${name}#${uses}`;
    const known = this.answers.get(key);
    if (known) return this.#answer(key, known, question);
    if (this.isSuspended) return this.#rejectLater(new Suspended('Input was already requested: this request is made in the next run'));
    if (this.#isLast) return this.#rejectLater(this.#tooManyRounds());
    return new Promise((_, reject) => this.#pending.set(key, { ...question, reject }));
  }

  #answer(key: string, known: Answered, now: Asked): Promise<JsonObject> {
    if (known.digest !== now.digest) return this.#rejectLater(this.#changed(known, now));
    // All answered requests were repeated, so new requests need not wait any longer.
    if (this.#unclaimed.delete(key) && this.#unclaimed.size === 0 && this.#timer) this.#gather(0);
    return Promise.resolve(structuredClone(known.answer));
  }

  /** True if `requestState.maxRounds` is reached, so that the client cannot be asked again. */
  get #isLast(): boolean {
    return this.#number > (this.#context.server.options.requestState?.maxRounds ?? DEFAULT_MAX_ROUNDS);
  }

  #tooManyRounds(): AskError {
    return new AskError(
      'ERR_TOO_MANY_ASKS',
      `${this.#context.name} asked the client ${this.#number - 1} times, the maximum: combine requests, or raise requestState.maxRounds`,
    );
  }

  #changed(before: Asked, now: Asked): AskError {
    return new AskError(
      'ERR_ASK_CHANGED',
      `${this.#context.name} made a different request to the client when it ran again: the answer is for ${before.text}, but now it sends ${now.text}. Requests to the client must depend only on arguments, answers and ctx.once`,
    );
  }

  /** Rejects after a delay. Without the delay, a handler that retries a failed request in a loop would block the process. */
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
    if (!outcome) this.#context.abort(new Suspended('The handler has requested input: it will run again with the answer'));
    return this.#seal([...this.#pending].slice(0, MAX_QUESTIONS), undefined);
  }

  async #seal(asked: readonly (readonly [string, AskedNow])[], given: JsonValue | undefined): Promise<JsonObject> {
    const context = this.#context;
    const { steps, reportCount, earlier } = context;
    // Every running step must be remembered before the next round begins.
    await steps.close();
    const requestState = await sealState(context, {
      chainId: steps.chainId,
      round: this.#number + 1,
      answers: [...this.answers],
      asked: asked.map(([key, { method, digest: of, source, text }]) => [key, { method, digest: of, source, text }]),
      steps: [...steps.done],
      reports: Math.max(earlier?.reports ?? 0, reportCount),
      progress: context.highestProgress ?? earlier?.progress,
      given,
    });
    context.isConcluded = true;
    if (asked.length === 0) return { resultType: 'input_required', requestState };
    const inputRequests = asked.map(async ([key, question]) => [key, await toInputRequest(context, question)] as const);
    return { resultType: 'input_required', inputRequests: Object.fromEntries(await Promise.all(inputRequests)), requestState };
  }
}

/** Starts a run of the handler with the answers so far. @throws {ProtocolError} -32602: the request's `requestState` cannot be opened. */
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

/** Describes a request to the client for error messages: `elicitation "Who are you?"`. */
function describe(method: string, { message }: JsonObject = {}): string {
  const name = method.split('/', 1)[0] ?? method;
  if (typeof message !== 'string') return name;
  return `${name} ${JSON.stringify(message.length > MAX_TEXT ? `${message.slice(0, MAX_TEXT)}...` : message)}`;
}

/** Adds the trace context to a request to the client. Its span ends with this result, as the answer arrives with another request. */
function toInputRequest(context: Context, question: AskedNow): Promise<JsonObject> {
  const { method } = question;
  return traceAsk(question, context, async (params) => (params ? { method, params } : { method }));
}

// ---- handlers that catch `Suspended` and go on as if they had an answer

/** How many nested causes of an error are searched for `Suspended`. */
const MAX_DEPTH = 5;

function warnIfSwallowed(context: Context, outcome: Outcome | undefined): void {
  if (outcome && 'error' in outcome && holdsSuspended(outcome.error)) return;
  const did = !outcome ? 'goes on' : 'error' in outcome ? 'threw another error' : 'returned';
  context.server.warnOnce(
    `${context.name} ${did} after its question was sent to the client: it caught Suspended, or awaits something else. Its outcome is dropped, and it runs again with the answer: do not catch Suspended`,
  );
}

/** Tells whether a thrown error is `Suspended`, or has it as a cause. */
function holdsSuspended(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; depth < MAX_DEPTH && error instanceof Error; depth++, error = error.cause)
    if (isMortiseError(error) && error.code === 'ERR_SUSPENDED') return true;
  return false;
}
