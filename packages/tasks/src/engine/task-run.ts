/** One run of a task: its questions, `ctx.once` steps, progress and log messages. */

import type { Clock, JsonObject, JsonRpcNotification, JsonValue } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { Ask, HandlerRun, RunSoFar, TaskAsk, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { TaskError } from '../errors.ts';
import { RunQuestions } from './run-questions.ts';
import { type ChangeTask, isEnded, type MakeChanges, type Written } from './task-states.ts';

/** What `TaskRun` needs of its engine. */
export interface RunHost {
  readonly store: TaskStore;
  readonly change: ChangeTask;
  readonly clock: Clock;
  /** The owner name in the leases of this engine's runs. */
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

  constructor(host: RunHost, record: TaskRecord) {
    this.id = record.id;
    this.#host = host;
    this.#record = record;
  }

  /** The latest record that this run has seen. */
  get record(): TaskRecord {
    return this.#record;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get clock(): Clock {
    return this.#host.clock;
  }

  /** Whether the run has ended, so that nothing it does is stored. */
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

  /** Sets the status message, for people. */
  async setStatus(statusMessage: string | undefined): Promise<void> {
    await this.change((record) => (isEnded(record.status) || record.statusMessage === statusMessage ? undefined : { statusMessage }));
  }

  /** Stores the steps and answers of a call that became a task. Resolves once all of them are stored. */
  async takeUp({ steps, running, answers }: RunSoFar): Promise<void> {
    for (const [key, step] of running) this.#begin(key, () => step.then((value) => this.#put(key, value)));
    const done: Promise<unknown>[] = [...steps].map(([key, value]) => this.#begin(key, () => this.#put(key, value)));
    const asks = [...answers].map(([key, about]): TaskAsk => ({ key, ...about, params: {} }));
    if (asks.length > 0) done.push(this.change((record) => ({ asks: [...record.asks, ...asks] })));
    await Promise.all(done);
  }

  /** Whether this engine holds the lease. */
  get hasLease(): boolean {
    return this.#record.lease?.owner === this.#host.owner;
  }

  /** Changes the task while this run holds the lease. @returns undefined once the run is over. */
  async change(make: MakeChanges): Promise<Written | undefined> {
    if (this.#isOver) return undefined;
    const { owner } = this.#host;
    const written = await this.#host.change(
      this.id,
      (record) => (record.lease?.owner === owner && !this.#isOver ? make(record) : undefined),
      this.#record,
    );
    if (written) this.onRecord(written.record);
    return written;
  }

  /** Takes a newer record that another writer stored. */
  onRecord(record: TaskRecord): void {
    if (record.version > this.#record.version) this.#record = record;
    if (record.status === 'cancelled') this.abort(new TaskError('ERR_TASK_CANCELLED', record.statusMessage ?? 'The task was cancelled'));
    else this.#questions?.onRecord(record);
  }

  /** Aborts the handler's signal. */
  abort(reason: Error): void {
    if (!this.signal.aborted) this.#controller.abort(reason);
  }

  /** Ends the run: nothing that it does later is stored. */
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
    const kept = await this.#host.store.getStep(this.id, key);
    if (kept) return kept.value as readonly JsonValue[];
    this.signal.throwIfAborted();
    return this.#put(key, toKept(key, await fn(`${this.id}:${key}`)));
  }

  async #put(key: string, value: readonly JsonValue[]): Promise<readonly JsonValue[]> {
    return (await this.#host.store.putStep(this.id, key, value)) as readonly JsonValue[];
  }
}

/** Converts a step's value to JSON and back, so that every run sees the same value. @returns An empty list for `undefined`. */
function toKept(key: string, value: unknown): readonly JsonValue[] {
  if (value === undefined) return [];
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`Step "${key}" ran, but gave a ${typeof value}: ctx.once needs a value that JSON has`);
  return [JSON.parse(text) as JsonValue];
}
