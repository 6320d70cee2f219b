/** `TaskRun`: one run of a task's handler, with its input requests, `ctx.once` steps, progress and log messages. */

import type { Clock, JsonObject, JsonRpcNotification, JsonValue } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { Ask, HandlerRun, RunSoFar, TaskAsk, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { TaskError } from '../errors.ts';
import { RunQuestions } from './run-questions.ts';
import { type ChangeTask, isEnded, type MakeChanges, type Written } from './task-states.ts';

/** What a `TaskRun` uses of its `TaskEngine`. */
export interface RunHost {
  readonly store: TaskStore;
  readonly change: ChangeTask;
  /** Calls a function of the store again while it fails, for some seconds. */
  readonly persist: <T>(call: () => Promise<T>) => Promise<T>;
  readonly clock: Clock;
  /** The name of this engine as the owner of the tasks that it runs. */
  readonly owner: string;
  onReport(run: TaskRun, notification: JsonRpcNotification): void;
}

export class TaskRun implements HandlerRun {
  readonly id: string;
  readonly #host: RunHost;
  readonly #controller = new AbortController();
  readonly #steps = new Map<string, Promise<readonly JsonValue[]>>();
  #record: TaskRecord;
  #questions: RunQuestions | undefined;
  #isOver = false;
  #onWaiting: (() => void) | undefined;

  constructor(host: RunHost, record: TaskRecord) {
    this.id = record.id;
    this.#host = host;
    this.#record = record;
  }

  /** The task's stored record, as this run last saw it. */
  get record(): TaskRecord {
    return this.#record;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get clock(): Clock {
    return this.#host.clock;
  }

  /** Whether this run of the task has ended. Changes that its handler makes later are not stored. */
  get isOver(): boolean {
    return this.#isOver;
  }

  ask(ask: Ask): Promise<JsonObject> {
    const answer = (this.#questions ??= new RunQuestions(this)).ask(ask);
    // An aborted handler may not await this promise any more.
    answer.catch(() => undefined);
    return answer;
  }

  async once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    const step = this.#steps.get(key) ?? this.#begin(key, () => this.#step(key, fn));
    return structuredClone((await step)[0]) as T;
  }

  report(notification: JsonRpcNotification): Promise<void> {
    if (!this.#isOver && !this.signal.aborted) this.#host.onReport(this, notification);
    return resolvedPromise;
  }

  /** Sets the task's status message, a text for people. */
  async setStatus(statusMessage: string | undefined): Promise<void> {
    await this.change((record) => {
      if (isEnded(record.status) || record.statusMessage === statusMessage) return undefined;
      return statusMessage === undefined ? { remove: ['statusMessage'] } : { statusMessage };
    });
  }

  /** Stores the `ctx.once` steps and client answers of a call that became a task. Resolves once the finished steps are stored. */
  async takeUp({ steps, running, answers }: RunSoFar): Promise<void> {
    for (const [key, step] of running) this.#begin(key, () => step.then((value) => this.#put(key, value)));
    const done: Promise<unknown>[] = [...steps].map(([key, value]) => this.#begin(key, () => this.#put(key, value)));
    const asks = [...answers].map(([key, about]): TaskAsk => ({ key, ...about, params: {} }));
    if (asks.length > 0) done.push(this.change((record) => ({ asks: [...record.asks, ...asks] })));
    await Promise.all(done);
  }

  /** Whether this engine owns the task, so that no other process runs it. */
  get hasLease(): boolean {
    return this.#record.owner === this.#host.owner;
  }

  /** Changes the task's record, while this engine owns the task. @returns undefined once the run has ended. */
  async change(make: MakeChanges): Promise<Written | undefined> {
    if (this.#isOver) return undefined;
    const { owner } = this.#host;
    const written = await this.#host.change(
      this.id,
      (record) => (record.owner === owner && !this.#isOver ? make(record) : undefined),
      this.#record,
    );
    if (written) this.onRecord(written.record);
    return written;
  }

  /** As `change`, and waits some seconds for a store that fails. */
  persist(make: MakeChanges): Promise<Written | undefined> {
    return this.#host.persist(() => this.change(make));
  }

  /** Takes over a newer record of the task. If the task was cancelled, aborts the handler. */
  onRecord(record: TaskRecord): void {
    if (record.version > this.#record.version) this.#record = record;
    if (record.status === 'cancelled') this.abort(new TaskError('ERR_TASK_CANCELLED', record.statusMessage ?? 'The task was cancelled'));
    else this.#questions?.onRecord(record);
  }

  /** Resolves once an input request of this run waits for the client's answer. */
  untilWaiting(): Promise<void> {
    return new Promise((resolve) => (this.#onWaiting = resolve));
  }

  onWaiting(): void {
    this.#onWaiting?.();
  }

  /** Aborts the signal of the task's handler. */
  abort(reason: Error): void {
    if (!this.signal.aborted) this.#controller.abort(reason);
  }

  /** Ends this run of the task: changes that its handler makes later are not stored. */
  end(): void {
    this.#isOver = true;
  }

  #begin(key: string, run: () => Promise<readonly JsonValue[]>): Promise<readonly JsonValue[]> {
    const step = run();
    this.#steps.set(key, step);
    // A failed step may be tried again.
    step.catch(() => this.#steps.delete(key));
    return step;
  }

  async #step(key: string, fn: (idempotencyKey: string) => JsonValue | Promise<JsonValue>): Promise<readonly JsonValue[]> {
    const { store, persist } = this.#host;
    const kept = await persist(() => store.getStep(this.id, key));
    if (kept) return kept.value as readonly JsonValue[];
    this.signal.throwIfAborted();
    const value = toKept(key, await fn(`${this.id}:${key}`));
    return persist(() => this.#put(key, value));
  }

  async #put(key: string, value: readonly JsonValue[]): Promise<readonly JsonValue[]> {
    return (await this.#host.store.putStep(this.id, key, value)) as readonly JsonValue[];
  }
}

/** Converts a `ctx.once` step's value to JSON and back, as a resumed run gets it. @returns A list of the value; empty for `undefined`. */
function toKept(key: string, value: unknown): readonly JsonValue[] {
  if (value === undefined) return [];
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`ctx.once step "${key}" ran, but returned a ${typeof value}: return a JSON value`);
  return [JSON.parse(text) as JsonValue];
}
