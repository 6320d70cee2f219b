/** Renews the leases of the tasks that this process runs, and finds tasks whose process has died. A lease lets one process run a task. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { TaskQueue, TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { TaskError } from '../errors.ts';
import type { TaskRun } from './task-run.ts';
import { isEnded } from './task-states.ts';

/** The most orphaned tasks (whose process has died) that one check puts into the queue. */
const ORPHANS_AT_ONCE = 100;
/** How many task leases (rights to run a task) are renewed at the same time, which a store may do in one transaction. */
const RENEWALS_AT_ONCE = 500;
/** How often expired tasks are deleted, in milliseconds. */
const SWEEP_INTERVAL_MS = 60_000;
/** The most attempts to take the lease of a task (the right to run it), if other writers change the task at the same moment. */
const MAX_TRIES = 20;

/** The result of taking the lease of a task, which is the right to run it. */
export interface Taken {
  /** Whether a process has already started to run the task before. */
  readonly wasStarted: boolean;
}

export interface LeaseKeeperInit {
  readonly store: TaskStore;
  readonly queue: TaskQueue;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly onFault: (message: string, error: unknown) => void;
}

export class LeaseKeeper {
  readonly owner: string = crypto.randomUUID();
  readonly #init: LeaseKeeperInit;
  readonly #runs = new Map<string, TaskRun>();
  #timer: ClockTimer | undefined;
  #sweepAtMs = 0;
  #isClosed = false;

  constructor(init: LeaseKeeperInit) {
    this.#init = init;
  }

  start(): void {
    void this.#look();
  }

  /** Makes a lease with which this process alone may run a new task. */
  claim(): NonNullable<TaskRecord['lease']> {
    return { owner: this.owner, untilMs: this.#init.clock.now() + this.#init.leaseMs };
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

  /** Takes a task's lease, so that only this process runs it. @returns undefined if the task is over, or another process runs it. */
  async take(run: TaskRun): Promise<Taken | undefined> {
    const { store, clock } = this.#init;
    let before: TaskRecord | undefined = run.record;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (!before || isEnded(before.status) || before.driver !== 'engine') return undefined;
      const { lease } = before;
      if (lease && lease.owner !== this.owner && lease.untilMs > clock.now()) return undefined;
      // Compare-and-set, so that `wasStarted` is true of exactly this version.
      const record = await store.update(run.id, before.version, { lease: this.claim() });
      if (record) {
        run.onRecord(record);
        return { wasStarted: lease !== undefined };
      }
      before = await store.get(run.id);
    }
    return undefined;
  }

  /** Stops renewing leases. @returns The runs of tasks that are still in progress in this process. */
  close(): readonly TaskRun[] {
    this.#isClosed = true;
    this.#timer?.cancel();
    return [...this.#runs.values()];
  }

  async #look(): Promise<void> {
    const guard = (fn: () => Promise<void>): Promise<void> =>
      fn().catch((error: unknown) => this.#init.onFault('Renewing leases, finding orphaned tasks or deleting expired tasks failed', error));
    await Promise.all([guard(() => this.#renewAll()), guard(() => this.#findOrphans()), guard(() => this.#sweep())]);
    if (!this.#isClosed) this.#timer = this.#init.clock.schedule(() => void this.#look(), this.#init.leaseMs / 3);
  }

  async #renewAll(): Promise<void> {
    const runs = [...this.#runs.values()].filter(({ hasLease }) => hasLease);
    for (let at = 0; at < runs.length; at += RENEWALS_AT_ONCE) {
      // Lets the process do other work in between.
      if (at > 0) await new Promise<void>((resolve) => void this.#init.clock.schedule(resolve, 0));
      if (this.#isClosed) return;
      await Promise.all(runs.slice(at, at + RENEWALS_AT_ONCE).map((run) => this.#renew(run)));
    }
  }

  async #renew(run: TaskRun): Promise<void> {
    const { store, clock, leaseMs, onFault } = this.#init;
    const now = clock.now();
    try {
      const record = await store.lease(run.id, this.owner, now + leaseMs, now);
      if (this.find(run.id) !== run) return;
      if (record) run.onRecord(record);
      else this.#lose(run, 'The task has expired, or another process has taken it over');
    } catch (error) {
      onFault('The lease of a running task could not be renewed', error);
      // Another process may run the task now, so this run must write nothing more.
      if ((run.record.lease?.untilMs ?? 0) <= now) this.#lose(run, 'The lease of the task could not be renewed in time');
    }
  }

  #lose(run: TaskRun, reason: string): void {
    this.delete(run);
    run.end();
    run.abort(new TaskError('ERR_TASK_LOST', reason));
  }

  /** Queues tasks that no process has a lease for. If one is already in the queue, the queue ignores it (guarantee Q3 of `TaskQueue`). */
  async #findOrphans(): Promise<void> {
    const { store, queue, clock } = this.#init;
    for (const id of await store.listOrphans(clock.now(), ORPHANS_AT_ONCE)) {
      const record = this.#runs.has(id) ? undefined : await store.get(id);
      if (record) await queue.enqueue(id, record.principal);
    }
  }

  async #sweep(): Promise<void> {
    const { store, clock } = this.#init;
    const now = clock.now();
    if (now < this.#sweepAtMs) return;
    this.#sweepAtMs = now + SWEEP_INTERVAL_MS;
    await store.deleteExpired(now);
  }
}
