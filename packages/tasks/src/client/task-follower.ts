/** `TaskFollower`: polls one task of a server, and subscribes to it, while callers wait for its result or its updates. */

import { type Clock, type ClockTimer, isMortiseError, type JsonObject, RemoteError } from '@mortise/jsonrpc-core';
import { AsyncQueue, abortable } from '@mortise/jsonrpc-core/connection';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ClientExtensionHost } from '@mortise/protocol/contracts';
import { isEnded } from '../engine/task-states.ts';
import { TaskError } from '../errors.ts';
import { InputAnswers } from './input-answers.ts';
import { type DetailedState, readModernTask, type TaskState, type TaskWire } from './task-wire.ts';

/** The client, task requests, clock and callback that a `TaskFollower` uses to follow one task. */
export interface FollowerParts {
  readonly host: ClientExtensionHost;
  /** The signal of the call that became the task; undefined if the call had none, or the task was resumed. */
  readonly callSignal: AbortSignal | undefined;
  readonly wire: TaskWire;
  readonly clock: Clock;
  /** Called once the task's result was delivered to a caller, or the task cannot have a result any more. */
  onOver(): void;
}

/** The time between two polls of a task if the server gives no poll interval, in milliseconds. */
const DEFAULT_INTERVAL_MS = 1000;
/** The time between two polls of a task while a subscription also reports the task's changes, in milliseconds. */
const LISTENING_INTERVAL_MS = 30_000;
/** The longest poll interval that a server may ask for, in milliseconds. */
const MAX_INTERVAL_MS = 3_600_000;
/** The shortest poll interval that a server may ask for, in milliseconds. */
const MIN_INTERVAL_MS = 50;
/** How many polls of a task may fail in a row before the callers that wait for the task get the error. */
const MAX_FAILURES = 5;

/** The codes of errors that a restart of the server may cause. A poll that fails with one of them is sent again. */
const PASSING: ReadonlySet<string> = new Set([
  'ERR_CONNECTION_LOST',
  'ERR_SESSION_LOST',
  'ERR_TIMEOUT',
  'ERR_EXCHANGE_HTTP',
  'ERR_SERVER_PROCESS_EXITED',
]);

type Outcome = { readonly result: JsonObject } | { readonly error: unknown };

interface Waiter {
  resolve(result: JsonObject): void;
  reject(error: unknown): void;
}

export class TaskFollower {
  readonly taskId: string;
  readonly #parts: FollowerParts;
  readonly #answers: InputAnswers;
  readonly #waiters = new Set<Waiter>();
  readonly #readers = new Set<AsyncQueue<TaskState>>();
  #state: DetailedState | undefined;
  #outcome: Outcome | undefined;
  #controller: AbortController | undefined;
  #wake: (() => void) | undefined;
  #isListening = false;
  #attending: Promise<void> | undefined;
  /** How often `tasks/result` was rejected while the task waited for input. */
  #lostWaits = 0;

  /** @param state The task's state in the response that created the task; undefined for a task that is resumed by its id. */
  constructor(parts: FollowerParts, taskId: string, state: DetailedState | undefined) {
    this.taskId = taskId;
    this.#parts = parts;
    this.#state = state;
    this.#answers = new InputAnswers({
      answer: (ask) => parts.host.answer({ ...ask, callSignal: parts.callSignal }),
      send: async (inputResponses, signal) => {
        await parts.wire.answer?.(taskId, inputResponses, signal);
        this.#wake?.();
      },
      onFailed: (error) => this.#failWaiters(error),
    });
  }

  /** The last state of the task that the server sent; undefined before the first. */
  get state(): TaskState | undefined {
    return this.#state;
  }

  /** Gets the task's current state from the server. @throws {TaskError} `ERR_TASK_NOT_FOUND` */
  async refresh(signal?: AbortSignal): Promise<TaskState> {
    if (this.#state && isEnded(this.#state.status)) return this.#state;
    const state = await this.#parts.wire.get(this.taskId, signal).catch((error: unknown) => Promise.reject(this.#toError(error)));
    this.#take(state);
    return state;
  }

  /** Waits for the task's result. An abort stops only the waiting, not the task. @throws The task's error, or the signal's reason. */
  result(signal: AbortSignal | undefined): Promise<JsonObject> {
    if (this.#outcome) return this.#deliver(this.#outcome);
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    let waiter: Waiter | undefined;
    const promise = new Promise<JsonObject>((resolve, reject) => {
      waiter = { resolve, reject };
      this.#waiters.add(waiter);
    });
    this.#start();
    return abortable(promise, signal).finally(() => {
      if (waiter) this.#waiters.delete(waiter);
      this.#stopIfIdle();
    });
  }

  /** Yields the task's current state and each later state until the task ends. */
  updates(signal: AbortSignal | undefined): AsyncIterableIterator<TaskState, undefined> {
    const onAbort = (): void => queue.fail(signal?.reason);
    const queue = new AsyncQueue<TaskState>(() => {
      signal?.removeEventListener('abort', onAbort);
      this.#readers.delete(queue);
      this.#stopIfIdle();
    });
    if (this.#state) queue.push(this.#state);
    if (this.#outcome || (this.#state && isEnded(this.#state.status))) {
      queue.close();
      return queue;
    }
    this.#readers.add(queue);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    else this.#start();
    return queue;
  }

  /** Asks the server to cancel the task. Callers that wait for the result get `ERR_TASK_CANCELLED`, or the result if the task has ended. */
  async cancel(): Promise<void> {
    const { wire } = this.#parts;
    const cancelled = await wire.cancel(this.taskId).catch((error: unknown) => Promise.reject(this.#toError(error)));
    const state = cancelled ?? (await wire.get(this.taskId).catch(() => undefined));
    if (state) this.#take(state);
    if (state && isEnded(state.status) && state.status !== 'cancelled') return this.#wake?.();
    // A modern server acknowledges the request and may cancel later.
    this.#settle({ error: new TaskError('ERR_TASK_CANCELLED', 'the task was cancelled by this client') });
  }

  /** Takes over the task's state from a status notification of the server. */
  onNotification(state: DetailedState): void {
    if (this.#outcome) return;
    this.#take(state);
    this.#wake?.();
  }

  // ---- following

  #start(): void {
    if (this.#controller || this.#outcome) return;
    const controller = (this.#controller = new AbortController());
    void this.#follow(controller.signal)
      .catch((error: unknown) => {
        if (!controller.signal.aborted) this.#failWaiters(this.#toError(error));
      })
      .finally(() => {
        controller.abort();
        if (this.#controller === controller) this.#controller = undefined;
        this.#isListening = false;
        // A caller may have started to wait while this loop ended.
        if (!this.#outcome && this.#waiters.size + this.#readers.size > 0) this.#start();
      });
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { wire } = this.#parts;
    let polls = 0;
    for (;;) {
      const state = this.#state;
      if (state && isEnded(state.status)) return this.#waiters.size > 0 ? this.#finish(state, signal) : this.#closeReaders();
      if (state) this.#attend(state, signal);
      if (state) {
        if (polls++ === 1) this.#listen(signal);
        await this.#pause(this.#intervalOf(state), signal);
        signal.throwIfAborted();
      }
      // A notification may have brought the final state meanwhile.
      if (this.#state && isEnded(this.#state.status)) continue;
      this.#take(await this.#poll(() => wire.get(this.taskId, signal), signal));
    }
  }

  async #finish(state: DetailedState, signal: AbortSignal): Promise<void> {
    await this.#attending;
    if (this.#outcome) return;
    try {
      const result = await this.#poll(() => this.#parts.wire.result(state, signal), signal);
      this.#settle({ result });
    } catch (error) {
      if (signal.aborted) throw error;
      this.#settle({ error: this.#toError(error) });
    }
  }

  /** Sends a request about the task, and again if the connection fails or the server is overloaded. Rejects with any other error. */
  async #poll<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await ask();
      } catch (error) {
        if (signal.aborted || !isPassing(error) || failures >= MAX_FAILURES) throw error;
      }
      await this.#pause(this.#intervalOf(this.#state) * 2 ** (failures - 1), signal);
      signal.throwIfAborted();
    }
  }

  #attend(state: DetailedState, signal: AbortSignal): void {
    const { attend } = this.#parts.wire;
    // An input request that the server no longer lists is withdrawn.
    if (!attend) return this.#answers.offer(state.status === 'input_required' ? (state.inputRequests ?? {}) : {});
    if (state.status !== 'input_required' || this.#attending) return;
    this.#attending = attend(this.taskId, signal)
      .then(
        (result) => this.#settleAttended({ result }, signal),
        async (error: unknown) => {
          // The machine that waited may have died while the task goes on: the next poll tells. Of a failed task, `#finish` gets the error.
          if (signal.aborted || isPassing(error) || ++this.#lostWaits < MAX_FAILURES) return;
          await this.#settleAttended({ error: this.#toError(error) }, signal);
        },
      )
      .finally(() => {
        this.#attending = undefined;
        this.#wake?.();
      });
  }

  /** Handles the response of `tasks/result`. Polls once more before, so that `updates` yields the task's final state. */
  async #settleAttended(outcome: Outcome, signal: AbortSignal): Promise<void> {
    if (this.#readers.size > 0 && !this.#outcome) {
      const last = await this.#parts.wire.get(this.taskId, signal).catch(() => undefined);
      if (last) this.#take(last);
    }
    this.#settle(outcome);
  }

  #listen(signal: AbortSignal): void {
    if (this.#parts.wire.attend) return;
    void this.#readEvents(signal)
      .catch(() => undefined)
      .finally(() => {
        if (!this.#isListening) return;
        this.#isListening = false;
        // Either the stream or the client has ended. A poll tells which.
        this.#wake?.();
      });
  }

  async #readEvents(signal: AbortSignal): Promise<void> {
    for await (const { method, params } of this.#parts.host.listen({ taskIds: [this.taskId] }, { signal })) {
      if (method === 'notifications/subscriptions/acknowledged') {
        const accepted = params?.['notifications'];
        const ids: unknown = isJsonObject(accepted) ? accepted['taskIds'] : undefined;
        if (!Array.isArray(ids) || !ids.includes(this.taskId)) return;
        this.#isListening = true;
        // Poll now: the subscription does not bring earlier changes.
        this.#wake?.();
      } else if (method === 'notifications/tasks' && params?.['taskId'] === this.taskId) this.onNotification(readModernTask(params));
    }
  }

  #pause(delayMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer?.cancel();
        signal.removeEventListener('abort', done);
        this.#wake = undefined;
        resolve();
      };
      this.#wake = done;
      const timer: ClockTimer | undefined = this.#parts.clock.schedule(done, delayMs, { keepAlive: true });
      signal.addEventListener('abort', done, { once: true });
      if (signal.aborted) done();
    });
  }

  #intervalOf(state: TaskState | undefined): number {
    const intervalMs = Math.max(MIN_INTERVAL_MS, Math.min(state?.pollIntervalMs ?? DEFAULT_INTERVAL_MS, MAX_INTERVAL_MS));
    return this.#isListening ? Math.max(intervalMs, LISTENING_INTERVAL_MS) : intervalMs;
  }

  // ---- states and outcomes

  #take(state: DetailedState): void {
    const before = this.#state;
    // Messages may arrive out of order, and an ended task never changes.
    if (before && (isEnded(before.status) || isOlder(state, before))) return;
    this.#state = state;
    if (this.#controller && !isEnded(state.status)) this.#attend(state, this.#controller.signal);
    const isNews =
      before?.status !== state.status || before.statusMessage !== state.statusMessage || before.lastUpdatedAt !== state.lastUpdatedAt;
    if (isNews) for (const reader of this.#readers) reader.push(state);
  }

  #settle(outcome: Outcome): void {
    if (this.#outcome) return;
    this.#outcome = outcome;
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) this.#deliver(outcome).then(waiter.resolve, waiter.reject);
    // With an error there is no result to deliver later.
    if ('error' in outcome) this.#parts.onOver();
    this.#closeReaders();
    this.#answers.close(new TaskError('ERR_TASK_CANCELLED', 'the task has ended: its input requests need no answer any more'));
    this.#controller?.abort();
  }

  /** Gives a caller the task's result or error. Until then the task's id stays in the store, so that a restarted program can resume it. */
  #deliver(outcome: Outcome): Promise<JsonObject> {
    this.#parts.onOver();
    return 'result' in outcome ? Promise.resolve(outcome.result) : Promise.reject(outcome.error as Error);
  }

  #closeReaders(): void {
    for (const reader of [...this.#readers]) reader.close();
  }

  /** Rejects the calls that wait for the task's result or updates. The task itself continues on the server. */
  #failWaiters(error: unknown): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter.reject(error);
    for (const reader of [...this.#readers]) reader.fail(error);
  }

  #stopIfIdle(): void {
    if (this.#waiters.size + this.#readers.size === 0) this.#controller?.abort();
  }

  #toError(error: unknown): unknown {
    if (!(error instanceof RemoteError) || error.rpcCode !== INVALID_PARAMS || !isAboutTask(error.method)) return error;
    const gone = new TaskError(
      'ERR_TASK_NOT_FOUND',
      `the server has no task ${this.taskId}: the task expired, made room for newer tasks, or belongs to another caller`,
      {
        cause: error,
      },
    );
    this.#settle({ error: gone });
    return gone;
  }
}

/** Whether one state of a task is older than another. Compares the server's ISO 8601 times, which sort as text. */
function isOlder({ lastUpdatedAt }: TaskState, than: TaskState): boolean {
  const known = than.lastUpdatedAt;
  return lastUpdatedAt !== undefined && known !== undefined && lastUpdatedAt.length === known.length && lastUpdatedAt < known;
}

/** Whether "invalid params" from this method means that the task is unknown. From `tasks/result`, it may be the tool's own error. */
function isAboutTask(method: string | undefined): boolean {
  return method === 'tasks/get' || method === 'tasks/update' || method === 'tasks/cancel';
}

/** Whether sending the request again may help: the connection broke, or the server is overloaded. */
function isPassing(error: unknown): boolean {
  if (error instanceof RemoteError) return error.rpcCode === 429;
  return isMortiseError(error) && PASSING.has(error.code);
}
