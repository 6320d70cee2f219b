/** The input requests (such as elicitation) of one run of a task. They are stored in the task's record, where the answers arrive too. */

import { type Clock, type ClockTimer, type JsonObject, RemoteError, TimeoutError } from '@mortise/jsonrpc-core';
import { toBase64Url, toCanonicalJson, toDigestKey } from '@mortise/jsonrpc-core/encoding';
import type { Ask, TaskAsk, TaskRecord } from '@mortise/protocol/contracts';
import { TaskError } from '../errors.ts';
import { isEnded, isOutstanding, type MakeChanges, statusOf, type Written } from './task-states.ts';

/** The most input requests of one run of a task's handler, to stop an endless loop. */
const MAX_ASKS = 1_000;

/** What `RunQuestions` uses of a task's run, which is one execution of the task's handler. */
export interface AskingRun {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The task's stored record, as the run last saw it. */
  readonly record: TaskRecord;
  /** Changes the task's record in the store. Does nothing once the run has ended. */
  change(make: MakeChanges): Promise<Written | undefined>;
  /** As `change`, and waits some seconds for a store that fails. */
  persist(make: MakeChanges): Promise<Written | undefined>;
  /** Called each time that an input request, now stored, begins to wait for its answer. */
  onWaiting(): void;
}

interface Question {
  readonly ask: Ask;
  /** The method and params of the input request as JSON with sorted keys, so that equal requests have equal texts. */
  readonly text: string;
  /** Numbers equal input requests of this run (same key, or same method and params): 1 for the first, 2 for the next. */
  readonly repetition: number;
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (reason: unknown) => void;
  key?: string;
  timer?: ClockTimer | undefined;
}

export class RunQuestions {
  readonly #run: AskingRun;
  readonly #uses = new Map<string, number>();
  readonly #waiting = new Map<string, Question>();
  #gathered: Question[] = [];
  #count = 0;

  constructor(run: AskingRun) {
    this.#run = run;
    run.signal.addEventListener('abort', () => this.#rejectAll(run.signal.reason), { once: true });
  }

  /** Stores an input request with the task, and resolves with the client's answer. Stores the requests of one event-loop turn together. */
  ask(ask: Ask): Promise<JsonObject> {
    const { signal } = this.#run;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (ask.signal?.aborted) return Promise.reject(ask.signal.reason as Error);
    if (++this.#count > MAX_ASKS)
      return Promise.reject(new Error(`A task may make at most ${MAX_ASKS} input requests: check the handler for an endless loop`));
    const text = toCanonicalJson({ method: ask.method, params: ask.params ?? {} });
    const name = ask.key ?? text;
    const repetition = (this.#uses.get(name) ?? 0) + 1;
    this.#uses.set(name, repetition);
    return new Promise((resolve, reject) => {
      if (this.#gathered.length === 0) this.#run.clock.schedule(() => void this.#flush(), 0, { keepAlive: true });
      this.#gathered.push({ ask, text, repetition, resolve, reject });
    });
  }

  /** Resolves or rejects the waiting input requests that a newer record of the task has answers for. */
  onRecord({ asks }: TaskRecord): void {
    if (this.#waiting.size === 0) return;
    for (const asked of asks) {
      const question = this.#waiting.get(asked.key);
      if (!question || isOutstanding(asked)) continue;
      this.#take(asked.key);
      settle(question, asked);
    }
  }

  async #flush(): Promise<void> {
    const questions = this.#gathered;
    this.#gathered = [];
    try {
      const asks: TaskAsk[] = await Promise.all(questions.map(toTaskAsk));
      asks.forEach(({ key }, index) => Object.assign(questions[index] ?? {}, { key }));
      const written = await this.#run.persist((record) => withAsks(record, asks));
      if (!written || isEnded(written.record.status)) return;
      // `this.#run.record` may be newer than `written.record` and have an answer already.
      for (const [index, question] of questions.entries()) this.#begin(question, asks[index], this.#run.record);
    } catch (error) {
      for (const { reject } of questions) reject(error);
    }
  }

  #begin(question: Question, asked: TaskAsk | undefined, { asks }: TaskRecord): void {
    const kept = asks.find(({ key }) => key === asked?.key);
    if (!kept || !asked) return question.reject(new Error('The input request was not stored with the task: check the task store'));
    if (kept.digest !== asked.digest) {
      return question.reject(
        new TaskError(
          'ERR_TASK_UNAVAILABLE',
          `The resumed task made a different input request with the key "${kept.key}": make its requests depend only on arguments, answers and ctx.once`,
        ),
      );
    }
    if (!isOutstanding(kept) && kept.isWithdrawn !== true) return settle(question, kept);
    if (this.#run.signal.aborted) return question.reject(this.#run.signal.reason);
    this.#waiting.set(kept.key, question);
    const { signal, timeoutMs } = question.ask;
    signal?.addEventListener('abort', () => this.#giveUp(kept.key, signal.reason), { once: true });
    if (signal?.aborted) return this.#giveUp(kept.key, signal.reason);
    this.#run.onWaiting();
    if (timeoutMs !== undefined && timeoutMs !== Infinity) {
      const error = new TimeoutError(`The input request "${question.ask.method}" was not answered within ${timeoutMs} ms`, timeoutMs);
      question.timer = this.#run.clock.schedule(() => this.#giveUp(kept.key, error), timeoutMs);
    }
  }

  #giveUp(key: string, reason: unknown): void {
    const question = this.#take(key);
    if (!question) return;
    question.reject(reason);
    void this.#run.change((record) => withoutAsk(record, key)).catch(() => undefined);
  }

  #take(key: string): Question | undefined {
    const question = this.#waiting.get(key);
    this.#waiting.delete(key);
    question?.timer?.cancel();
    return question;
  }

  #rejectAll(reason: unknown): void {
    for (const { reject } of this.#gathered) reject(reason);
    this.#gathered = [];
    for (const key of [...this.#waiting.keys()]) this.#take(key)?.reject(reason);
  }
}

async function toTaskAsk({ ask, text, repetition }: Question): Promise<TaskAsk> {
  const digest = toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
  const name = ask.key ?? toDigestKey(ask.method, digest);
  const key = repetition === 1 ? name : `${name}#${repetition}`;
  return { key, digest, method: ask.method, params: ask.params ?? {} };
}

/** Adds to a task's record the input requests that it does not contain yet. */
function withAsks({ status, asks }: TaskRecord, asked: readonly TaskAsk[]): ReturnType<MakeChanges> {
  if (isEnded(status)) return undefined;
  const known = new Set(asks.map(({ key }) => key));
  const added = asked.filter(({ key }) => !known.has(key));
  if (added.length === 0) return undefined;
  const all = [...asks, ...added];
  return { asks: all, status: statusOf(all) };
}

function withoutAsk({ status, asks }: TaskRecord, key: string): ReturnType<MakeChanges> {
  if (isEnded(status) || !asks.some((ask) => ask.key === key && isOutstanding(ask))) return undefined;
  const all = asks.map((ask) => (ask.key === key ? { ...ask, isWithdrawn: true } : ask));
  return { asks: all, status: statusOf(all) };
}

function settle({ ask, resolve, reject }: Question, { answer, error }: TaskAsk): void {
  if (answer) resolve(structuredClone(answer));
  else if (error) reject(new RemoteError(error, ask.method));
  else reject(new Error(`The input request "${ask.method}" was withdrawn before the client answered it`));
}
