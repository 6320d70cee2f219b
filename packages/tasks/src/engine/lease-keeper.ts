/** The tasks that this process owns: keeps them, hears of their changes, and finds tasks whose process has died. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { TaskQueue, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { TaskError } from '../errors.ts';
import { ownerTopic, type TaskEvents } from './task-events.ts';
import type { TaskRun } from './task-run.ts';

/** How many orphaned tasks (whose process has died) one call of the store gives. */
const ORPHANS_AT_ONCE = 100;

/** The result of taking a task: its run, and whether a process has already started to run the task before. */
export interface Taken {
  readonly run: TaskRun;
  readonly wasStarted: boolean;
}

export interface LeaseKeeperInit {
  readonly store: TaskStore;
  readonly queue: TaskQueue;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly createRun: (record: TaskRecord) => TaskRun;
  readonly onFault: (message: string, error: unknown) => void;
}

export class LeaseKeeper {
  readonly owner: string = crypto.randomUUID();
  readonly #init: LeaseKeeperInit;
  readonly #runs = new Map<string, TaskRun>();
  /** The tasks that are being taken, each with the newest record that was seen meanwhile. */
  readonly #taking = new Map<string, TaskRecord | undefined>();
  /** The tasks that this process owned at the last renewal, but did not run. */
  #idle: ReadonlySet<string> = new Set();
  /** Those of them that it also did not run at the renewal before. */
  #stuck: readonly string[] = [];
  #isQueueing = false;
  #events: TaskEvents | undefined;
  #unsubscribe: Promise<() => void> | undefined;
  #timer: ClockTimer | undefined;
  #renewedAtMs: number;
  #isClosed = false;

  constructor(init: LeaseKeeperInit) {
    this.#init = init;
    this.#renewedAtMs = init.clock.monotonicMs();
  }

  /** @param events Carries word of changes that other processes make to tasks of this one. Without it they are found at the renewals. */
  start(events: TaskEvents | undefined): void {
    this.#events = events;
    void this.#look();
  }

  add(run: TaskRun): void {
    this.#runs.set(run.id, run);
  }

  delete(run: TaskRun): void {
    if (this.find(run.id) === run) this.#runs.delete(run.id);
  }

  find(id: string): TaskRun | undefined {
    return this.#runs.get(id);
  }

  /** Takes a task, so that only this process runs it. @returns undefined if the task is over, or this or another process runs it. */
  async take(id: string): Promise<Taken | undefined> {
    if (this.#runs.has(id) || this.#taking.has(id)) return undefined;
    this.#taking.set(id, undefined);
    try {
      const sentAtMs = this.#init.clock.monotonicMs();
      const claim = await this.#init.store.claim(id, this.owner, this.#init.leaseMs);
      if (!claim) return undefined;
      this.#renewedAtMs = Math.max(this.#renewedAtMs, sentAtMs);
      const run = this.#init.createRun(claim.record);
      this.add(run);
      const newer = this.#taking.get(id);
      if (newer) run.onRecord(newer);
      return { run, wasStarted: claim.wasStarted };
    } finally {
      this.#taking.delete(id);
    }
  }

  /** Passes a new record of a task to its run. */
  changed(record: TaskRecord): void {
    this.#runs.get(record.id)?.onRecord(record);
    if (this.#taking.has(record.id)) this.#taking.set(record.id, record);
  }

  /** Stops renewing. @returns The runs of tasks that are still in progress in this process. */
  close(): readonly TaskRun[] {
    this.#isClosed = true;
    this.#timer?.cancel();
    void this.#unsubscribe?.then((unsubscribe) => unsubscribe()).catch(() => undefined);
    return [...this.#runs.values()];
  }

  /** Gives the tasks of this process back, so that other processes may take them at once. */
  async release(): Promise<void> {
    await this.#init.store.renew(this.owner, 0);
  }

  async #look(): Promise<void> {
    const guard = (promise: Promise<void>): Promise<void> =>
      promise.catch((error: unknown) => this.#init.onFault('Renewing leases or finding orphaned tasks failed', error));
    // Only the store may hold up the next renewal: a bus or a queue that does not answer would cost this process its tasks.
    const renewed = guard(this.#renew());
    void guard(this.#listen());
    if (!this.#isQueueing) {
      this.#isQueueing = true;
      void guard(this.#queueWork()).then(() => (this.#isQueueing = false));
    }
    await renewed;
    if (!this.#isClosed) this.#timer = this.#init.clock.schedule(() => void this.#look(), this.#init.leaseMs / 3);
  }

  /** Subscribes to what other processes change. If the bus fails, this is tried again with the next renewal. */
  async #listen(): Promise<void> {
    if (!this.#events || this.#unsubscribe) return;
    const onGap = (): void => void this.#renew().catch(() => undefined);
    this.#unsubscribe = this.#events.subscribe(ownerTopic(this.owner), ({ payload }) => void this.#read(String(payload)), onGap);
    try {
      await this.#unsubscribe;
    } catch (error) {
      this.#unsubscribe = undefined;
      throw error;
    }
  }

  /** Renews the leases of all tasks of this process, and finds what other processes have done to them. */
  async #renew(): Promise<void> {
    const { store, clock, leaseMs } = this.#init;
    const runs = [...this.#runs.values()].filter(({ hasLease }) => hasLease);
    const sentAtMs = clock.monotonicMs();
    let held: Awaited<ReturnType<TaskStore['renew']>>;
    try {
      held = await store.renew(this.owner, leaseMs);
    } catch (error) {
      // Other processes may run the tasks now, so these runs must do nothing more.
      if (clock.monotonicMs() - this.#renewedAtMs >= leaseMs)
        for (const run of runs) this.#lose(run, 'The lease of the task could not be renewed in time');
      throw error;
    }
    if (this.#isClosed) return;
    this.#renewedAtMs = Math.max(this.#renewedAtMs, sentAtMs);
    const versions = new Map(held.map(({ id, version }) => [id, version]));
    for (const run of runs) {
      const version = versions.get(run.id);
      if (version === undefined) await this.#missing(run);
      else if (version > run.record.version) await this.#read(run.id);
    }
    const idle = held.map(({ id }) => id).filter((id) => !this.#runs.has(id) && !this.#taking.has(id));
    this.#stuck = idle.filter((id) => this.#idle.has(id));
    this.#idle = new Set(idle);
  }

  /** Stops a run whose task this process does not own any more, or has ended: another process may have cancelled it. */
  async #missing(run: TaskRun): Promise<void> {
    const record = await this.#init.store.get(run.id);
    if (this.find(run.id) !== run) return;
    if (record?.owner === this.owner) run.onRecord(record);
    if (!run.signal.aborted) this.#lose(run, 'The task has expired or ended, or another process has taken it over');
  }

  async #read(id: string): Promise<void> {
    try {
      if (!this.#runs.has(id) && !this.#taking.has(id)) return;
      const record = await this.#init.store.get(id);
      if (record) this.changed(record);
    } catch (error) {
      this.#init.onFault('A changed task could not be read', error);
    }
  }

  #lose(run: TaskRun, reason: string): void {
    // It may have ended in the meantime.
    if (this.find(run.id) !== run) return;
    this.delete(run);
    run.end();
    run.abort(new TaskError('ERR_TASK_LOST', reason));
  }

  /**
   * Queues tasks that have no living owner, and those that this process owns and does not run, such as one whose end could not be stored. If
   * one is already in the queue, the queue ignores it (guarantee Q3 of `TaskQueue`).
   */
  async #queueWork(): Promise<void> {
    const { store, queue, leaseMs } = this.#init;
    for (const id of this.#stuck) {
      const record = await store.get(id);
      if (record && !this.#runs.has(id)) await queue.enqueue(id, record.principal);
    }
    for (let found = ORPHANS_AT_ONCE; found === ORPHANS_AT_ONCE && !this.#isClosed;) {
      const orphans = await store.claimOrphans(leaseMs, ORPHANS_AT_ONCE);
      for (const { id, principal } of orphans) if (!this.#runs.has(id)) await queue.enqueue(id, principal);
      found = orphans.length;
    }
  }
}
