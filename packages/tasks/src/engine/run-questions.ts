/** The questions that one run of a task asks. They are written to the task's record, and the answers are read from it. */

import { type Clock, type ClockTimer, type JsonObject, RemoteError, TimeoutError } from '@mortise/jsonrpc-core';
import { toBase64Url, toCanonicalJson, toDigestKey } from '@mortise/jsonrpc-core/encoding';
import type { Ask, TaskAsk, TaskRecord } from '@mortise/protocol/contracts';
import { TaskError } from '../errors.ts';
import { isEnded, isOutstanding, type MakeChanges, statusOf, type Written } from './task-states.ts';

/** The most questions of one run, to stop a handler that asks in an endless loop. */
const MAX_ASKS = 1_000;

/** What `RunQuestions` needs of the run. */
export interface AskingRun {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The latest record that the run has seen. */
  readonly record: TaskRecord;
  /** Changes the task, unless the run is over. */
  change(make: MakeChanges): Promise<Written | undefined>;
}

interface Question {
  readonly ask: Ask;
  /** Canonical JSON of the method and params. */
  readonly text: string;
  /** 1 for the first question of its kind in this run, 2 for the next. */
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

  /** Asks a question. Questions of one event-loop turn are written together. */
  ask(ask: Ask): Promise<JsonObject> {
    const { signal } = this.#run;
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    if (ask.signal?.aborted) return Promise.reject(ask.signal.reason as Error);
    if (++this.#count > MAX_ASKS)
      return Promise.reject(new Error(`A task may ask at most ${MAX_ASKS} questions: check the handler for an endless loop`));
    const text = toCanonicalJson({ method: ask.method, params: ask.params ?? {} });
    const name = ask.key ?? text;
    const repetition = (this.#uses.get(name) ?? 0) + 1;
    this.#uses.set(name, repetition);
    return new Promise((resolve, reject) => {
      if (this.#gathered.length === 0) this.#run.clock.schedule(() => void this.#flush(), 0, { keepAlive: true });
      this.#gathered.push({ ask, text, repetition, resolve, reject });
    });
  }

  /** Settles the questions that the record has answers for. */
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
      const written = await this.#run.change((record) => withAsks(record, asks));
      if (!written || isEnded(written.record.status)) return;
      // `this.#run.record` may be newer than `written.record` and have an answer already.
      for (const [index, question] of questions.entries()) this.#begin(question, asks[index], this.#run.record);
    } catch (error) {
      for (const { reject } of questions) reject(error);
    }
  }

  #begin(question: Question, asked: TaskAsk | undefined, { asks }: TaskRecord): void {
    const kept = asks.find(({ key }) => key === asked?.key);
    if (!kept || !asked) return question.reject(new Error('The question was not stored with the task'));
    if (kept.digest !== asked.digest) {
      return question.reject(
        new TaskError(
          'ERR_TASK_UNAVAILABLE',
          `The resumed task asked a different question under the key "${kept.key}": make its questions depend only on arguments, answers and ctx.once`,
        ),
      );
    }
    if (!isOutstanding(kept) && kept.isWithdrawn !== true) return settle(question, kept);
    if (this.#run.signal.aborted) return question.reject(this.#run.signal.reason);
    this.#waiting.set(kept.key, question);
    const { signal, timeoutMs } = question.ask;
    signal?.addEventListener('abort', () => this.#giveUp(kept.key, signal.reason), { once: true });
    if (signal?.aborted) return this.#giveUp(kept.key, signal.reason);
    if (timeoutMs !== undefined && timeoutMs !== Infinity) {
      const error = new TimeoutError(`"${question.ask.method}" was not answered within ${timeoutMs} ms`, timeoutMs);
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

/** Adds the questions that the record does not have yet. */
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
  else reject(new Error(`"${ask.method}" was withdrawn`));
}
