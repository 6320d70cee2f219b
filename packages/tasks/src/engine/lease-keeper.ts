/** Keeps the leases of the runs of one process alive, and finds tasks whose process is gone. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { TaskRecord, TaskStore } from '@mortise/protocol/contracts';
import { TaskLostError } from '../errors.ts';
import type { TaskRun } from './task-run.ts';
import { isEnded } from './task-states.ts';

/** How many orphans are taken up at one look. */
const ORPHANS_AT_ONCE = 100;
/** How many leases are renewed at once. */
const RENEWALS_AT_ONCE = 50;
/** How often expired tasks are deleted, in milliseconds. */
const SWEEP_INTERVAL_MS = 60_000;
/** How often a lease is tried for against others who write to the task. */
const MAX_TRIES = 20;

export interface LeaseKeeperInit {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** Puts a task on the queue. */
  readonly enqueue: (id: string) => Promise<void>;
  readonly onFault: (message: string, error: unknown) => void;
}

export class LeaseKeeper {
  readonly owner: string = crypto.randomUUID();
  readonly #init: LeaseKeeperInit;
  readonly #runs = new Map<string, TaskRun>();
  readonly #untilMs = new Map<string, number>();
  /** The tasks that this process put on the queue and that nobody has taken yet, and when it would do so again. */
  readonly #queued = new Map<string, { readonly waitMs: number; readonly againAtMs: number }>();
  #timers: ClockTimer[] = [];
  #isClosed = false;

  constructor(init: LeaseKeeperInit) {
    this.#init = init;
  }

  start(): void {
    const { leaseMs } = this.#init;
    this.#repeat(leaseMs / 3, () => this.#renewAll());
    this.#repeat(leaseMs / 2, () => this.#findOrphans());
    this.#repeat(SWEEP_INTERVAL_MS, () => this.#sweep());
    void this.#guard('Tasks that were left behind could not be found', () => this.#findOrphans());
  }

  /**
   * Puts a task on the queue.
   *
   * @param waitMs How long it may stand there before it counts as lost.
   */
  async enqueue(id: string, waitMs: number = this.#init.leaseMs): Promise<void> {
    // First of all: it may be taken before the queue has said that it has it.
    this.#queued.set(id, { waitMs, againAtMs: this.#init.clock.now() + waitMs });
    try {
      await this.#init.enqueue(id);
    } catch (error) {
      this.#queued.delete(id);
      throw error;
    }
  }

  /** A lease to create a task with. */
  claim(): NonNullable<TaskRecord['lease']> {
    return { owner: this.owner, untilMs: this.#init.clock.now() + this.#init.leaseMs };
  }

  add(run: TaskRun): void {
    this.#runs.set(run.id, run);
    this.#untilMs.set(run.id, run.record.lease?.untilMs ?? 0);
  }

  delete(run: TaskRun): void {
    if (this.#runs.get(run.id) !== run) return;
    this.#runs.delete(run.id);
    this.#untilMs.delete(run.id);
  }

  has(id: string): boolean {
    return this.#runs.has(id);
  }

  find(id: string): TaskRun | undefined {
    return this.#runs.get(id);
  }

  /**
   * Takes the lease of an unfinished task that the engine drives.
   *
   * @returns undefined where there is nothing to run, or another runs it; else whether a run had begun before.
   */
  async take(id: string): Promise<{ readonly record: TaskRecord; readonly wasStarted: boolean } | undefined> {
    const { store, clock, leaseMs } = this.#init;
    this.#queued.delete(id);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const before = await store.get(id);
      if (!before || isEnded(before.status) || before.driver !== 'engine') return undefined;
      const { lease } = before;
      const now = clock.now();
      if (lease && lease.owner !== this.owner && lease.untilMs > now) return undefined;
      // On what was read and nothing else: whether a run had begun must be known for certain.
      const record = await store.update(id, before.version, { lease: { owner: this.owner, untilMs: now + leaseMs } });
      if (record) return { record, wasStarted: lease !== undefined };
    }
    return undefined;
  }

  /** @returns The runs that were going on. */
  close(): readonly TaskRun[] {
    this.#isClosed = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers = [];
    return [...this.#runs.values()];
  }

  async #renewAll(): Promise<void> {
    const runs = [...this.#runs.values()];
    for (let at = 0; at < runs.length; at += RENEWALS_AT_ONCE)
      await Promise.all(runs.slice(at, at + RENEWALS_AT_ONCE).map((run) => this.#renew(run)));
  }

  async #renew(run: TaskRun): Promise<void> {
    const { store, clock, leaseMs, onFault } = this.#init;
    const now = clock.now();
    try {
      const record = await store.lease(run.id, this.owner, now + leaseMs, now);
      if (!this.#runs.has(run.id)) return;
      if (record) {
        this.#untilMs.set(run.id, now + leaseMs);
        run.onRecord(record);
      } else this.#lose(run, 'The task has expired, or another process has taken it over');
    } catch (error) {
      onFault('A lease could not be renewed', error);
      // Another may take the task up from now on: what this run did after that must not be kept.
      if ((this.#untilMs.get(run.id) ?? 0) <= now) this.#lose(run, 'The lease could not be renewed in time');
    }
  }

  #lose(run: TaskRun, reason: string): void {
    this.delete(run);
    run.end();
    run.abort(new TaskLostError(reason));
  }

  async #findOrphans(): Promise<void> {
    const { store, clock } = this.#init;
    const now = clock.now();
    const ids = await store.listOrphans(now, ORPHANS_AT_ONCE);
    this.#forgetTaken(new Set(ids), now);
    for (const id of ids) {
      const queued = this.#queued.get(id);
      // A task that only waits for a worker looks like one that was left behind: it is not queued a second time until it should be lost.
      if (this.#runs.has(id) || (queued && queued.againAtMs > now)) continue;
      await this.enqueue(id, queued && queued.waitMs * 2);
    }
  }

  /** What is no orphan any more was taken, by whomever. */
  #forgetTaken(orphans: ReadonlySet<string>, now: number): void {
    const isAll = orphans.size < ORPHANS_AT_ONCE;
    for (const [id, { againAtMs }] of this.#queued) if (!orphans.has(id) && (isAll || againAtMs <= now)) this.#queued.delete(id);
  }

  async #sweep(): Promise<void> {
    await this.#init.store.deleteExpired(this.#init.clock.now());
  }

  #repeat(intervalMs: number, fn: () => Promise<void>): void {
    const again = (): void => {
      const timer = this.#init.clock.schedule(() => {
        this.#timers.splice(this.#timers.indexOf(timer), 1);
        void this.#guard('Tasks could not be looked after', fn).then(() => {
          if (!this.#isClosed) again();
        });
      }, intervalMs);
      this.#timers.push(timer);
    };
    again();
  }

  async #guard(message: string, fn: () => Promise<void>): Promise<void> {
    try {
      await fn();
    } catch (error) {
      this.#init.onFault(message, error);
    }
  }
}
