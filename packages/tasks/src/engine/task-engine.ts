/**
 * The task engine: creates tasks, runs each in one process, resumes tasks whose process died, and reads, answers and cancels tasks for
 * callers. The code that uses the engine parses the MCP messages and calls the tools.
 */

import { type Clock, isMortiseError, type JsonRpcNotification, type Logger, type Meter } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { guardLogger } from '@mortise/jsonrpc-core/transport';
import type { Principal, TaskPage, TaskQueue, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { TaskError } from '../errors.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { PollLimiter } from './poll-limiter.ts';
import { announce, type TaskEvents } from './task-events.ts';
import { type Audit, type NewTask, TaskCreator, type TaskLimits } from './task-creator.ts';
import { type RunHost, TaskRun } from './task-run.ts';
import {
  type ChangeTask,
  endAs,
  type GivenAnswer,
  giveAnswers,
  isEnded,
  type TaskOutcome,
  taskWriter,
  toFailure,
  type Written,
} from './task-states.ts';
import { type OnTask, TaskWatch } from './task-watch.ts';

/** The store, queue, limits and callbacks of a `TaskEngine`. The callbacks must not throw. */
export interface TaskEngineInit {
  readonly store: TaskStore;
  readonly queue: TaskQueue;
  /** Runs the tool of a task. If the returned promise rejects, the task ends as failed, with that error. */
  readonly run: (record: TaskRecord, run: TaskRun) => Promise<TaskOutcome>;
  /** Called with a task's new record after each change, once the change is stored. */
  readonly onChanged: (record: TaskRecord) => void;
  /** Called with each progress and log notification that a task's handler sends. */
  readonly onReport: (run: TaskRun, notification: JsonRpcNotification) => void;
  readonly limits: TaskLimits;
  /** How long a process may run a task without renewing its lease, in milliseconds. After that, another process may take the task over. */
  readonly leaseMs: number;
  readonly logger: Logger;
  readonly meter: Meter | undefined;
  readonly clock: Clock;
}

/** The most attempts to store what a task's run has done. The first pause is 100 ms, each later one twice as long: 13 seconds in all. */
const MAX_TRIES = 8;
const RETRY_MS = 50;
/** How long `close` waits for aborted task handlers to return, in milliseconds. */
const CLOSE_MS = 500;
/** The longest task id, in characters, that is looked up in the store. Longer ids count as unknown. */
const MAX_ID_LENGTH = 128;
const DAY_MS = 86_400_000;

/** Creates, runs and ends tasks, and keeps them in a `TaskStore`. */
export class TaskEngine {
  /** Changes a task of any principal. For the server's own code: unlike `get`, does not check who owns the task. */
  readonly change: ChangeTask;
  readonly #init: TaskEngineInit;
  readonly #store: TaskStore;
  readonly #logger: Logger;
  readonly #creator: TaskCreator;
  readonly #watch: TaskWatch;
  readonly #polls: PollLimiter;
  readonly #leases: LeaseKeeper;
  readonly #runHost: RunHost;
  /** The runs of queued tasks that have not ended. Some wait for a client's answer, and have given their worker back to the queue. */
  readonly #running = new Set<Promise<void>>();
  #stopWork: (() => Promise<void>) | undefined;
  #events: TaskEvents | undefined;
  #isClosed = false;

  constructor(init: TaskEngineInit) {
    const { store, queue, clock, leaseMs } = init;
    const { maxTtlMs = DAY_MS, maxTasksPerPrincipal = 100, pollIntervalMs = 1000, maxPollsPerSecond = 10 } = init.limits;
    const limits = { maxTtlMs, maxTasksPerPrincipal, pollIntervalMs, maxPollsPerSecond };
    this.#init = init;
    this.#store = store;
    this.#logger = guardLogger(init.logger);
    this.#creator = new TaskCreator({ store, clock, limits, leaseMs, audit: this.#audit });
    this.#polls = new PollLimiter(maxPollsPerSecond, clock);
    const onError = (error: unknown): void => this.#fault('Changes of a task could not be followed', error);
    this.#watch = new TaskWatch({ store, clock, pollIntervalMs, fallbackMs: leaseMs / 3, onError });
    const createRun = (record: TaskRecord): TaskRun => new TaskRun(this.#runHost, record);
    const onFault = (message: string, error: unknown): void => this.#fault(message, error);
    this.#leases = new LeaseKeeper({ store, queue, clock, leaseMs, createRun, onFault });
    this.change = taskWriter(store, clock, (record) => this.#tell(record));
    const persist = <T>(call: () => Promise<T>): Promise<T> => this.#persist(call);
    this.#runHost = { store, clock, change: this.change, persist, owner: this.#leases.owner, onReport: init.onReport };
  }

  /**
   * Starts to run queued tasks, and tasks that a dead process has left unfinished.
   *
   * @param events Tells other processes of changes, and carries theirs. Without it they are found by reading the store at intervals.
   */
  start(events?: TaskEvents): void {
    if (this.#stopWork || this.#isClosed) return;
    this.#events = events;
    this.#watch.start(events);
    this.#stopWork = this.#init.queue.work((id) => this.#work(id));
    this.#leases.start(events);
  }

  /** The name of this engine as the owner of the tasks that it runs. */
  get owner(): string {
    return this.#leases.owner;
  }

  // ---- calls

  /**
   * Creates and stores a task. With the driver `engine`, the task's tool runs as soon as a worker of the queue is free.
   *
   * @param onStored Called with the stored record before the tool may begin to run.
   * @returns The stored record. Its id may be sent to the client now.
   * @throws {TaskLimitError} `ERR_TASK_LIMIT`: the principal has too many unfinished tasks.
   */
  async create(task: NewTask, onStored?: (record: TaskRecord) => void): Promise<TaskRecord> {
    const record = await this.#creator.create(task);
    onStored?.(record);
    try {
      if (record.driver === 'engine') await this.#init.queue.enqueue(record.id, record.principal);
    } catch (error) {
      const onError = (failure: unknown): void => this.#fault('A task that could not be queued could not be deleted: it may run', failure);
      await this.#store.delete(record.id).catch(onError);
      throw error;
    }
    return record;
  }

  /** Creates a task for work that this process has already begun. @returns The task's run. @throws As `create`. */
  async adopt(task: NewTask): Promise<TaskRun> {
    const record = await this.#creator.create(task, this.#leases.owner);
    const run = new TaskRun(this.#runHost, record);
    this.#leases.add(run);
    return run;
  }

  /** Ends a task that `adopt` created, with the outcome of its work. Never rejects. */
  async finish(run: TaskRun, outcome: Promise<TaskOutcome>): Promise<void> {
    try {
      await this.#settle(run, await outcome.catch(toFailure));
    } catch (error) {
      this.#fault('The final state of a task could not be stored', error);
    }
  }

  /** Deletes a task that `adopt` created and whose id no client has received. Never rejects. */
  async discard(run: TaskRun): Promise<void> {
    run.end();
    try {
      await this.#persist(() => this.#store.delete(run.id));
      this.#leases.delete(run);
    } catch (error) {
      // This process keeps the task in hand until it expires, so that nobody runs it.
      this.#fault('A task whose id no client received could not be deleted', error);
    }
  }

  /** Gets a task of a principal. @throws {TaskError} `ERR_TASK_NOT_FOUND`: the id is unknown, or the task expired or is another's. */
  async get(id: unknown, principal: Principal): Promise<TaskRecord> {
    const record = typeof id === 'string' && id.length <= MAX_ID_LENGTH ? await this.#store.get(id) : undefined;
    if (record?.principal === principal) return record;
    this.#audit('A caller asked for a task that does not exist or is not its own', { principal }, 'failed_lookups');
    throw new TaskError(
      'ERR_TASK_NOT_FOUND',
      'No such task: the id is unknown, or the task has expired, made room for newer tasks, or belongs to another caller',
    );
  }

  /** Gets a task as `get` does, and counts a poll of it. @throws {TaskLimitError} `ERR_TASK_LIMIT`: the task is polled too often. */
  async poll(id: unknown, principal: Principal): Promise<TaskRecord> {
    const record = await this.get(id, principal);
    const refusal = this.#polls.take(record.id);
    if (!refusal) return record;
    this.#init.meter?.count('mcp.tasks.refused_polls', 1);
    throw refusal;
  }

  async list(principal: Principal, options: { readonly cursor?: string; readonly limit: number }): Promise<TaskPage> {
    const page = await this.#store.list(principal, options);
    // A store may take two principals for one, as `get` knows too.
    return { ...page, tasks: page.tasks.filter((task) => task.principal === principal) };
  }

  /** Stores a client's answers to a task's input requests. Answers to unknown or already answered requests are ignored. */
  async answer(task: TaskRecord, answers: ReadonlyMap<string, GivenAnswer>): Promise<void> {
    await this.change(task.id, giveAnswers(answers), task);
  }

  /**
   * Cancels a task. Once this resolves, the task stays cancelled, whatever its handler does.
   *
   * @returns `isChanged` is false if the task had already ended.
   */
  async cancel(task: TaskRecord): Promise<Written> {
    const end = endAs({ status: 'cancelled', statusMessage: 'The task was cancelled by request' });
    const written = await this.change(task.id, end, task);
    if (written?.isChanged) this.#audit('A task was cancelled', written.record);
    return written ?? { record: task, isChanged: false };
  }

  /** Gets a task of any principal. For the server's own code: unlike `get`, does not check who owns the task. */
  peek(id: string): Promise<TaskRecord | undefined> {
    return this.#store.get(id);
  }

  /** Calls `onTask` after each change of a task, and with undefined once the task is gone. @returns A function that ends the watch. */
  watch(id: string, version: number, onTask: OnTask): () => void {
    return this.#watch.add(id, version, onTask);
  }

  /**
   * Waits until a task has ended.
   *
   * @param onRecord Called with the task's record at once, and after each change until the task has ended.
   * @throws {TaskError} `ERR_TASK_NOT_FOUND`: the task expired meanwhile.
   * @throws The reason of `signal`, if it aborts.
   */
  async waitFor(task: TaskRecord, onRecord: (record: TaskRecord) => void, signal?: AbortSignal): Promise<TaskRecord> {
    if (isEnded(task.status)) return task;
    onRecord(task);
    let stop: (() => void) | undefined;
    const ended = new Promise<TaskRecord>((resolve, reject) => {
      stop = this.#watch.add(task.id, task.version, (record) => {
        if (!record) reject(new TaskError('ERR_TASK_NOT_FOUND', 'The task expired before it ended'));
        else if (isEnded(record.status)) resolve(record);
        else onRecord(record);
      });
    });
    return abortable(ended, signal).finally(stop);
  }

  /** Stops the tasks that run in this process. Another process may resume the resumable ones; the others end as failed. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const runs = this.#leases.close();
    await Promise.all(runs.map((run) => this.#leave(run).catch((error: unknown) => this.#fault('Stopping a running task failed', error))));
    await this.#leases
      .release()
      .catch((error: unknown) => this.#fault('Tasks could not be given back: others take them after the lease', error));
    this.#watch.close();
    // A handler that ignores its signal must not keep the process alive.
    if (this.#stopWork) await Promise.race([Promise.all([this.#stopWork(), ...this.#running]), this.#delay(CLOSE_MS)]);
  }

  // ---- runs

  /** Runs a queued task. Resolves when the task has ended, or waits for its client's answer: then the worker is free for another task. */
  async #work(id: string): Promise<void> {
    const taken = this.#isClosed ? undefined : await this.#leases.take(id);
    if (!taken || this.#isClosed) return;
    const { run, wasStarted } = taken;
    if (wasStarted && !run.record.resumable) {
      await this.#settle(run, interrupted('The server stopped while the task ran, and the task cannot be resumed'));
      return;
    }
    if (wasStarted) this.#audit('A task is resumed', run.record);
    const waiting = run.untilWaiting();
    const ended = this.#execute(run).then((outcome) => this.#settle(run, outcome));
    const logged: Promise<void> = ended
      .catch((error: unknown) => this.#fault('The final state of a task could not be stored', error))
      .finally(() => this.#running.delete(logged));
    this.#running.add(logged);
    // A task that waited goes on without a worker. Only before that may the queue repeat a task whose end could not be stored.
    await Promise.race([ended, waiting]);
  }

  async #execute(run: TaskRun): Promise<TaskOutcome> {
    try {
      return await this.#init.run(run.record, run);
    } catch (error) {
      if (!isMortiseError(error) && !run.signal.aborted) this.#fault('The handler of a task threw an error', error);
      return toFailure(error);
    }
  }

  async #settle(run: TaskRun, outcome: TaskOutcome): Promise<void> {
    try {
      let tries = 0;
      const written = await this.#persist(() => (tries++, run.change(endAs(outcome))));
      if (written?.isChanged) this.#audit(`A task has ${outcome.status}`, written.record);
      // The first try may have been stored, and only its answer lost.
      else if (written && tries > 1) this.#tell(written.record);
    } finally {
      this.#drop(run);
    }
  }

  /** Ends a run of a task: changes that its handler makes later are not stored. */
  #drop(run: TaskRun): void {
    this.#leases.delete(run);
    run.end();
  }

  async #leave(run: TaskRun): Promise<void> {
    const reason = 'The server was closed while the task ran';
    if (!run.record.resumable) await this.#settle(run, interrupted(reason));
    run.end();
    run.abort(new TaskError('ERR_TASK_LOST', reason));
  }

  // ---- writes

  /** Passes a changed task to its run and to whoever follows it, in this process and in others. */
  #tell(record: TaskRecord): void {
    this.#leases.changed(record);
    this.#watch.changed(record);
    this.#init.onChanged(record);
    if (this.#events) void announce(record, this.#events.publish, this.#leases.owner);
  }

  /** Repeats a failed call of the store a few times, so that a short failure does not end a task. The task's lease is still renewed. */
  async #persist<T>(call: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await call();
      } catch (error) {
        const isLimit = isMortiseError(error) && error.code === 'ERR_TASK_LIMIT';
        if (isLimit || this.#isClosed || tries === MAX_TRIES) throw error;
        this.#fault('The task store failed: trying again', error);
      }
      await this.#delay(RETRY_MS * 2 ** tries);
    }
  }

  // ---- logs and metrics

  readonly #audit: Audit = (message, { id, principal, status, call }, counter) => {
    if (counter !== undefined) this.#init.meter?.count(`mcp.tasks.${counter}`, 1);
    this.#logger.log('info', message, {
      principal,
      // Only the start of the id: whoever knows the whole id can use the task.
      ...(id !== undefined && { task: `${id.slice(0, 6)}...` }),
      ...(status && { status }),
      ...(call && { tool: call.tool }),
    });
  };

  #fault(message: string, error: unknown): void {
    this.#logger.log('error', message, { error });
  }

  #delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#init.clock.schedule(resolve, delayMs, { keepAlive: true }));
  }
}

function interrupted(message: string): TaskOutcome {
  return { status: 'failed', error: { code: INTERNAL_ERROR, message }, statusMessage: message };
}
