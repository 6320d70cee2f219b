/**
 * One call of a server behind the gateway, with the questions that the server asks in mid-call.
 *
 * A modern client gets the questions as an `input_required` result, which ends its request. The call behind stays open. The client's retry
 * brings the answers, and joins the call by the id in its `requestState`.
 */

import type { Clock, ClockTimer, JsonObject, JsonValue, LogLevel } from '@mortise/jsonrpc-core';
import { CancelledError } from '@mortise/jsonrpc-core';
import type { Ask } from '@mortise/protocol/contracts';
import type { InputRequest, Progress } from '@mortise/protocol/model';
import { META_LOG_LEVEL, META_PROGRESS_TOKEN } from '@mortise/protocol/wire';
import { inputRequired } from '@mortise/server';
import type { HandlerContext } from '@mortise/server/low-level';
import type { OpenCall } from './backend.ts';
import type { Caller } from './caller.ts';

/** The context of a request to the gateway. */
export type GatewayContext = HandlerContext<Caller>;

/** Sends the call to the server behind. */
export type SendCall = (options: {
  readonly signal: AbortSignal;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}) => Promise<JsonObject>;

type Outcome = { readonly result: JsonObject } | { readonly error: unknown };

interface Question {
  readonly ask: Ask;
  readonly answer: (answer: JsonObject) => void;
}

/** How long a call waits for the client's retry, in milliseconds. As long as the `requestState` of the retry is valid by default. */
const RETRY_MS = 600_000;
/** How many log messages of a call are kept, to be repeated in the next round. */
const MAX_LOGS = 1_000;
/** How many characters of JSON they may have. */
const MAX_LOG_CHARACTERS = 1_000_000;
const LEFT_OUT = '(left out: the log messages of this call are too long)';

export class PendingCall implements OpenCall {
  readonly id: string = crypto.randomUUID();
  /** The newest request that this call serves. */
  context: GatewayContext;
  readonly #clock: Clock;
  readonly #outcome: Promise<Outcome>;
  readonly #stop = new AbortController();
  readonly #questions = new Map<string, Question>();
  readonly #logs: (readonly [LogLevel, JsonValue, string | undefined])[] = [];
  readonly #onOver: () => void;
  /** Answers that came with the first request, as clients send them that know what the server will ask. Each is used once. */
  readonly #early: Map<string, JsonObject>;
  #logCharacters = 0;
  #count = 0;
  #wake: (() => void) | undefined;
  #expiry: ClockTimer | undefined;

  /**
   * Sends the call.
   *
   * @param on.settled Called when the server has answered, or the call was stopped.
   * @param on.over Called when the client has the outcome, or no longer waits for it. A server may answer while the client still has a
   * question of it: the outcome then waits for the retry.
   */
  constructor(
    context: GatewayContext,
    clock: Clock,
    send: SendCall,
    on: { settled(call: PendingCall): void; over(call: PendingCall): void },
  ) {
    this.context = context;
    this.#clock = clock;
    this.#early = new Map(Object.entries(context.inputResponses ?? {}));
    this.#onOver = () => on.over(this);
    const wantsProgress = context.meta[META_PROGRESS_TOKEN] !== undefined;
    const onProgress = wantsProgress ? (progress: Progress): void => void this.context.progress(progress) : undefined;
    // Settled later, so that `this` is in the caller's tables before the server can ask.
    this.#outcome = Promise.resolve()
      .then(() => send({ signal: this.#stop.signal, onProgress }))
      .then(
        (result): Outcome => ({ result }),
        (error: unknown): Outcome => ({ error }),
      );
    void this.#outcome.then(() => on.settled(this));
  }

  /** Aborts when the call behind is cancelled. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Whether the client has the call's questions, and its retry is awaited. */
  get isWaiting(): boolean {
    return this.#expiry !== undefined;
  }

  /** Serves a request for this call, the first one or a retry: resolves with the result of the call, or with its open questions. */
  async serve(context: GatewayContext): Promise<JsonObject> {
    this.#expiry?.cancel();
    this.#expiry = undefined;
    this.context = context;
    const { signal } = context;
    const onAbort = (): void => this.stop(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    this.#resume(context);
    const outcome = await Promise.race([this.#outcome, this.#asked()]);
    signal.removeEventListener('abort', onAbort);
    if (outcome === undefined) return this.#toQuestions();
    this.#onOver();
    if ('error' in outcome) throw outcome.error;
    return outcome.result;
  }

  /** Asks the client. Resolves with the answer, which a modern client sends with a later request. */
  ask(ask: Ask, signal: AbortSignal): Promise<JsonObject> {
    if (this.context.era === 'legacy') return this.context.sendRequest(ask, undefined, { signal });
    // The server's own key is kept, unless another question has it.
    const own = ask.key;
    const early = own === undefined ? undefined : this.#early.get(own);
    if (own !== undefined && early) {
      this.#early.delete(own);
      return Promise.resolve(early);
    }
    const key = own === undefined || this.#questions.has(own) ? `question-${(this.#count += 1)}` : own;
    return new Promise<JsonObject>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      this.#questions.set(key, { ask, answer: resolve });
      this.#wake?.();
    }).finally(() => this.#questions.delete(key));
  }

  log(level: LogLevel, data: JsonValue, logger: string | undefined): void {
    // Only modern calls have rounds, and they say whether they want log messages.
    if (this.context.meta[META_LOG_LEVEL] !== undefined && this.#logs.length < MAX_LOGS) {
      this.#logCharacters += JSON.stringify(data).length;
      // Each keeps its place: the endpoint drops as many repeated messages as it sent.
      this.#logs.push([level, this.#logCharacters <= MAX_LOG_CHARACTERS ? data : LEFT_OUT, logger]);
    }
    void this.context.log(level, data, logger);
  }

  /** Cancels the call behind. */
  stop(reason: unknown): void {
    this.#expiry?.cancel();
    this.#stop.abort(reason);
  }

  #resume(context: GatewayContext): void {
    // The endpoint drops as many as it sent in earlier rounds: a handler that runs again is expected to repeat them.
    for (const [level, data, logger] of this.#logs) void context.log(level, data, logger);
    for (const [key, answer] of Object.entries(context.inputResponses ?? {})) this.#questions.get(key)?.answer(answer);
  }

  /** Resolves when there are questions for the client; a moment later, because a server may ask several at once. */
  #asked(): Promise<undefined> {
    return new Promise((resolve) => {
      const onQuiet = (): void => (this.#questions.size > 0 ? resolve(undefined) : undefined);
      this.#wake = () => void this.#clock.schedule(onQuiet, 0, { keepAlive: true });
      if (this.#questions.size > 0) this.#wake();
    });
  }

  #toQuestions(): JsonObject {
    this.#expiry = this.#clock.schedule(() => {
      this.stop(new CancelledError('the client did not answer in time'));
      this.#onOver();
    }, RETRY_MS);
    const requests = [...this.#questions].map(
      ([key, { ask }]) => [key, { method: ask.method, params: ask.params } as InputRequest] as const,
    );
    return { ...inputRequired({ inputRequests: Object.fromEntries(requests), requestState: { call: this.id } }) } as JsonObject;
  }
}
