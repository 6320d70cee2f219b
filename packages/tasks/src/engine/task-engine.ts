/**
 * The engine: creates tasks, runs them under a lease, takes up those whose process died, and answers what callers ask. It knows
 * neither a wire nor a tool.
 */

import {
  type Clock,
  isMortiseError,
  type JsonObject,
  type JsonRpcNotification,
  type Logger,
  type Meter,
  ProtocolError,
} from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { guardLogger, silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import type { Principal, TaskPage, TaskQueue, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { TaskLostError, TaskNotFoundError } from '../errors.ts';
import { MemoryTaskQueue } from '../memory-task-queue.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { PollLimiter } from './poll-limiter.ts';
import { MAX_ID_LENGTH, type NewTask, shortId, TaskCreator, type TaskCreatorInit, type TaskLimits } from './task-creator.ts';
import { type RunHost, TaskRun } from './task-run.ts';
import {
  type GivenAnswer,
  isEnded,
  isOutstanding,
  type MakeChanges,
  type TaskOutcome,
  toFailure,
  TaskWriter,
  withAnswers,
  withdrawAll,
  type Written,
} from './task-states.ts';
import { type OnTask, TaskWatch } from './task-watch.ts';

/** What an engine needs. */
export interface TaskEngineOptions {
  readonly store: TaskStore;
  /** Spreads runs over workers. @default a `MemoryTaskQueue` */
  readonly queue?: TaskQueue | undefined;
  /** Runs a task that the engine drives. A rejection ends the task as failed, with that error. @default none: tasks are driven by hand */
  readonly run?: ((record: TaskRecord, run: TaskRun) => Promise<TaskOutcome>) | undefined;
  /** Called after each change that the store has. Must not throw. @default none */
  readonly onChanged?: ((record: TaskRecord) => void) | undefined;
  /** Called with each notification of a run: progress and log messages. Must not throw. @default none */
  readonly onReport?: ((run: TaskRun, notification: JsonRpcNotification) => void) | undefined;
  /** Checks an answer to a question. @returns What is wrong with it. @default every answer is valid */
  readonly checkAnswer?: (method: string, answer: JsonObject) => string | undefined;
  /** How long and how many tasks are kept, and how often they may be polled. @default as each of its members says */
  readonly limits?: TaskLimits | undefined;
  /** How long a lease lasts without renewal, in milliseconds. @default 30_000 */
  readonly leaseMs?: number | undefined;
  /** How long closing waits for aborted runs, in milliseconds. @default 500 */
  readonly closeMs?: number | undefined;
  /** Gets a line for each task that is created, resumed, ended, cancelled or refused, and each fault. @default a logger that drops every line */
  readonly logger?: Logger | undefined;
  /** Counts tasks, look-ups that fail and polls that come too fast. @default nothing is counted */
  readonly meter?: Meter | undefined;
  /** Times the ends of tasks and leases, and polls. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** How often the end of a task is tried to be kept, and the first pause between; each later one is twice as long: 13 seconds in all. */
const MAX_END_TRIES = 8;
const END_RETRY_MS = 50;

/** Drives tasks over a store. */
export class TaskEngine {
  readonly #store: TaskStore;
  readonly #queue: TaskQueue;
  readonly #options: TaskEngineOptions;
  readonly #creator: TaskCreator;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #meter: Meter | undefined;
  readonly #writer: TaskWriter;
  readonly #watch: TaskWatch;
  readonly #polls: PollLimiter;
  readonly #leases: LeaseKeeper;
  readonly #runHost: RunHost;
  /** The tasks whose lease is being taken, since a queue may hand one out twice; with what was written to them meanwhile. */
  readonly #taking = new Map<string, TaskRecord | undefined>();
  #stopWork: (() => Promise<void>) | undefined;
  #isClosed = false;

  constructor(options: TaskEngineOptions) {
    const { clock = systemClock, logger = silentLogger, limits = {} } = options;
    this.#options = options;
    this.#store = options.store;
    this.#queue = options.queue ?? new MemoryTaskQueue({ clock });
    this.#clock = clock;
    this.#logger = guardLogger(logger);
    this.#meter = options.meter;
    const audit: TaskCreatorInit['audit'] = (message, about) => this.#audit(message, about);
    this.#creator = new TaskCreator({ store: options.store, clock, limits, meter: options.meter, audit });
    this.#polls = new PollLimiter(limits, clock, options.meter);
    this.#watch = new TaskWatch(options.store, clock, limits.pollIntervalMs, (error) => this.#fault('A task could not be read', error));
    this.#writer = new TaskWriter(options.store, clock, (record) => this.#onWritten(record));
    this.#leases = new LeaseKeeper({
      store: options.store,
      clock,
      leaseMs: options.leaseMs ?? 30_000,
      enqueue: (id) => this.#queue.enqueue(id),
      onFault: (message, error) => this.#fault(message, error),
    });
    this.#runHost = {
      store: options.store,
      writer: this.#writer,
      clock,
      owner: this.#leases.owner,
      onReport: (run, notification) => options.onReport?.(run, notification),
    };
  }

  /** Begins to run tasks, those included that another process left behind. */
  start(): void {
    if (this.#stopWork || this.#isClosed) return;
    this.#stopWork = this.#queue.work((id) => this.#work(id));
    this.#leases.start();
  }

  // ---- what callers ask

  /**
   * Creates a task; where the engine drives it, it runs as soon as a worker is free.
   *
   * @returns The record, which the store has: from now on the id may be given out.
   * @throws {TaskLimitError} `ERR_TASK_LIMIT`: the principal has as many unfinished tasks as it may.
   */
  async create(task: NewTask): Promise<TaskRecord> {
    const record = await this.#creator.create(task, undefined);
    try {
      if (record.driver === 'engine') await this.#leases.enqueue(record.id);
    } catch (error) {
      await this.#takeBack(record.id);
      throw error;
    }
    return record;
  }

  /** Creates a task for work that runs already. @returns Its run, which holds the lease. @throws As `create`. */
  async adopt(task: NewTask): Promise<TaskRun> {
    const record = await this.#creator.create(task, this.#leases.claim());
    const run = new TaskRun(this.#runHost, record);
    this.#leases.add(run);
    return run;
  }

  /** Ends the run of work that was adopted. Never rejects: nobody waits for it. */
  async finish(run: TaskRun, outcome: TaskOutcome): Promise<void> {
    await this.#settle(run, outcome).catch((error: unknown) => this.#fault('The end of a task could not be kept', error));
  }

  /** Deletes a task whose id nobody got. Never rejects. */
  async discard(run: TaskRun): Promise<void> {
    this.#leases.delete(run);
    run.end();
    await this.#takeBack(run.id);
  }

  /**
   * @param options.isPoll Whether it counts against the limit on polls. @default false
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: unknown, expired, or of another principal.
   * @throws {TaskLimitError} `ERR_TASK_LIMIT`: polled too often.
   */
  async get(
    id: unknown,
    principal: Principal,
    options: { readonly isPoll?: boolean; readonly generation?: string | undefined } = {},
  ): Promise<TaskRecord> {
    const record = typeof id === 'string' && id.length <= MAX_ID_LENGTH ? await this.#store.get(id) : undefined;
    const isTheirs = record?.principal === principal && (options.generation === undefined || record.generation === options.generation);
    if (!record || !isTheirs) {
      this.#meter?.count('mcp.tasks.failed_lookups', 1);
      this.#audit('A task was asked for that does not exist for this caller', { principal });
      throw new TaskNotFoundError('There is no such task: it never was, has expired, or belongs to someone else');
    }
    if (options.isPoll) this.#polls.take(record.id);
    return record;
  }

  list(
    principal: Principal,
    options: { readonly cursor?: string; readonly limit: number; readonly generation?: string },
  ): Promise<TaskPage> {
    return this.#store.list(principal, options);
  }

  /**
   * Gives answers to questions of a task. Those to what is not outstanding are passed over.
   *
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`
   * @throws {ProtocolError} -32602: an answer is invalid for its question; the others are not taken either.
   */
  async answer(id: unknown, principal: Principal, answers: ReadonlyMap<string, GivenAnswer>, generation?: string): Promise<TaskRecord> {
    const known = await this.get(id, principal, { generation });
    const { checkAnswer } = this.#options;
    for (const { key, method } of known.asks.filter(isOutstanding)) {
      const given = answers.get(key);
      const problem = given && 'answer' in given ? checkAnswer?.(method, given.answer) : undefined;
      if (problem !== undefined) throw new ProtocolError(INVALID_PARAMS, `The answer to "${key}" does not fit: ${problem}`);
    }
    const written = await this.#writer.change(known.id, (record) => withAnswers(record, answers), known);
    return written?.record ?? known;
  }

  /**
   * Cancels a task. Once this resolves it is cancelled and stays so, whatever its work does.
   *
   * @returns `isChanged` false for a task that had ended.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`
   */
  async cancel(id: unknown, principal: Principal, generation?: string): Promise<Written> {
    const known = await this.get(id, principal, { generation });
    const written = await this.#writer.change(
      known.id,
      ({ status }) => (isEnded(status) ? undefined : { status: 'cancelled', statusMessage: 'The task was cancelled by request' }),
      known,
    );
    if (written?.isChanged) this.#audit('A task was cancelled', written.record);
    return written ?? { record: known, isChanged: false };
  }

  /** Changes any principal's task, for the program. */
  change(id: string, make: MakeChanges): Promise<Written | undefined> {
    return this.#writer.change(id, make);
  }

  /** Looks up any principal's task, for the program. */
  peek(id: string): Promise<TaskRecord | undefined> {
    return this.#store.get(id);
  }

  /** Calls `fn` after each change of a task, with undefined once it is gone. @returns A function that ends it. */
  watch(id: string, seen: number, fn: OnTask): () => void {
    return this.#watch.add(id, seen, fn);
  }

  /**
   * Waits until a task has ended.
   *
   * @param options.onRecord Called with the task as it is now, and after each change until then.
   * @throws {TaskNotFoundError} `ERR_TASK_NOT_FOUND`: also when it expires meanwhile.
   * @throws The signal's reason.
   */
  async waitFor(
    id: string,
    principal: Principal,
    options: {
      readonly signal?: AbortSignal;
      readonly onRecord?: (record: TaskRecord) => void;
      readonly generation?: string | undefined;
    } = {},
  ): Promise<TaskRecord> {
    const { signal, onRecord, generation } = options;
    const first = await this.get(id, principal, { generation });
    if (isEnded(first.status)) return first;
    onRecord?.(first);
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        unwatch();
        signal?.removeEventListener('abort', onAbort);
      };
      const onAbort = (): void => {
        stop();
        reject(signal?.reason as Error);
      };
      const unwatch = this.#watch.add(id, first.version, (record) => {
        if (record && !isEnded(record.status)) return onRecord?.(record);
        stop();
        if (record) resolve(record);
        else reject(new TaskNotFoundError('The task has expired'));
      });
      signal?.addEventListener('abort', onAbort, { once: true });
      if (signal?.aborted) onAbort();
      // It may have changed before anybody watched.
      else
        void this.#store.get(id).then(
          (record) => (record ? this.#watch.changed(record, true) : this.#watch.gone(id)),
          () => undefined,
        );
    });
  }

  /** Stops the runs of this process: those that can be resumed are left to another process, the others end as failed. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const runs = this.#leases.close();
    await Promise.all(runs.map((run) => this.#leave(run).catch((error: unknown) => this.#fault('A task could not be left', error))));
    this.#watch.close();
    const stopped = this.#stopWork?.();
    if (!this.#options.queue) void this.#queue.close();
    // A handler that does not listen to its signal must not keep the process.
    if (stopped) await Promise.race([stopped, this.#delay(this.#options.closeMs ?? 500)]);
  }

  // ---- runs

  async #work(id: string): Promise<void> {
    if (this.#isClosed || this.#leases.has(id) || this.#taking.has(id)) return;
    const { run, wasStarted } = (await this.#take(id)) ?? {};
    if (!run) return;
    const { record } = run;
    if (wasStarted && !record.resumable) {
      await this.#settle(run, interrupted('The server stopped while the task ran, and the task cannot be resumed'));
      return;
    }
    if (wasStarted) this.#audit('A task is taken up again', record);
    await this.#settle(run, await this.#execute(run));
  }

  async #take(id: string): Promise<{ readonly run: TaskRun; readonly wasStarted: boolean } | undefined> {
    this.#taking.set(id, undefined);
    try {
      const taken = await this.#leases.take(id);
      if (!taken) return undefined;
      const run = new TaskRun(this.#runHost, taken.record);
      this.#leases.add(run);
      const newer = this.#taking.get(id);
      if (newer) run.onRecord(newer);
      return { run, wasStarted: taken.wasStarted };
    } finally {
      this.#taking.delete(id);
    }
  }

  async #execute(run: TaskRun): Promise<TaskOutcome> {
    try {
      const { run: execute } = this.#options;
      if (!execute) throw new Error('This engine runs no tasks');
      return await execute(run.record, run);
    } catch (error) {
      if (!isMortiseError(error) && !run.signal.aborted) this.#fault('A task failed', error);
      return toFailure(error);
    }
  }

  async #settle(run: TaskRun, outcome: TaskOutcome): Promise<void> {
    try {
      if (run.isOver) return;
      const { status, result, error, statusMessage } = outcome;
      const write = (): Promise<Written | undefined> =>
        run.change((record) =>
          isEnded(record.status)
            ? undefined
            : {
                status,
                asks: withdrawAll(record.asks),
                ...(result && { result }),
                ...(error && { error }),
                ...(statusMessage !== undefined && { statusMessage }),
              },
        );
      const written = await this.#persist(write);
      if (written?.isChanged) this.#audit(`A task has ${status}`, written.record);
    } finally {
      this.#leases.delete(run);
      run.end();
    }
  }

  async #leave(run: TaskRun): Promise<void> {
    const reason = 'The server was closed while the task ran';
    if (run.record.resumable) await run.change(({ status }) => (isEnded(status) ? undefined : { lease: { owner: '', untilMs: 0 } }));
    else await this.#settle(run, interrupted(reason));
    run.end();
    run.abort(new TaskLostError(reason));
  }

  // ---- writes

  /** A store that fails for a moment must not cost the result of work that is done. The lease is kept meanwhile, or the run is over. */
  async #persist<T>(write: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (this.#isClosed || tries === MAX_END_TRIES) throw error;
        this.#fault('The end of a task could not be kept and is tried again', error);
      }
      await this.#delay(END_RETRY_MS * 2 ** tries);
    }
  }

  /** If this fails, the task is deleted when it expires. */
  async #takeBack(id: string): Promise<void> {
    const now = this.#clock.now();
    try {
      await this.#writer.change(id, () => ({ expiresAtMs: now }));
      await this.#store.deleteExpired(now);
    } catch (error) {
      this.#fault('A task that nobody knows of could not be deleted', error);
    }
  }

  #onWritten(record: TaskRecord): void {
    this.#leases.find(record.id)?.onRecord(record);
    if (this.#taking.has(record.id)) this.#taking.set(record.id, record);
    this.#watch.changed(record, false);
    this.#options.onChanged?.(record);
  }

  // ---- what operators see

  #audit(message: string, about: Pick<TaskRecord, 'principal'> & Partial<TaskRecord>): void {
    const { id, principal, status, call } = about;
    this.#logger.log('info', message, {
      principal,
      ...(id !== undefined && { task: shortId(id) }),
      ...(status && { status }),
      ...(call && { tool: call.tool }),
    });
  }

  #fault(message: string, error: unknown): void {
    this.#logger.log('error', message, { error });
  }

  #delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#clock.schedule(resolve, delayMs, { keepAlive: true }));
  }
}

function interrupted(message: string): TaskOutcome {
  return { status: 'failed', error: { code: INTERNAL_ERROR, message }, statusMessage: message };
}
