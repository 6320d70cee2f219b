/** What an engine is made of, and its bounds. */

import type { Clock, JsonObject, JsonRpcErrorObject, JsonRpcNotification, Logger, Meter } from '@mortise/jsonrpc-core';
import type { Principal, TaskQueue, TaskRecord, TaskStore, ToolCallRecord } from '@mortise/protocol/contracts';
import type { TaskRun } from './task-run.ts';

/** How a task ends by itself. */
export interface TaskOutcome {
  readonly status: 'completed' | 'failed';
  readonly result?: JsonObject;
  readonly error?: JsonRpcErrorObject;
  readonly statusMessage?: string;
}

/** The bounds of tasks. */
export interface TaskLimits {
  /** How long a task is kept at most, from its creation, in milliseconds. A longer wish is cut to it. @default 86_400_000 (one day) */
  readonly maxTtlMs?: number;
  /** How long a task is kept where its caller names no time, in milliseconds. @default `maxTtlMs` */
  readonly defaultTtlMs?: number;
  /** How many unfinished tasks one principal may have. @default 100 */
  readonly maxTasksPerPrincipal?: number;
  /** How often clients are told to ask, in milliseconds. @default 1_000 */
  readonly pollIntervalMs?: number;
  /** How many polls of one task may come at once. @default 30 */
  readonly pollBurst?: number;
  /** How many polls of one task come back in a second. @default 10 */
  readonly pollsPerSecond?: number;
}

/** What an engine needs. */
export interface TaskEngineOptions {
  readonly store: TaskStore;
  /** Spreads runs over workers. @default a `MemoryTaskQueue` */
  readonly queue?: TaskQueue | undefined;
  /** Runs a task that the engine drives. A rejection ends the task as failed, with that error. @default none: tasks are driven by hand */
  readonly run?: ((record: TaskRecord, run: TaskRun) => Promise<TaskOutcome>) | undefined;
  /** Told every change that others may see, after the store has it. Must not throw. @default none */
  readonly onChanged?: ((record: TaskRecord) => void) | undefined;
  /** Told what a run reports: progress and log messages. Must not throw. @default none */
  readonly onReport?: ((run: TaskRun, notification: JsonRpcNotification) => void) | undefined;
  /** Whether an answer fits its question. @returns What is wrong. @default every answer fits */
  readonly checkAnswer?: (method: string, answer: JsonObject) => string | undefined;
  /** How long and how many tasks are kept, and how often they may be asked for. @default as each of its members says */
  readonly limits?: TaskLimits | undefined;
  /** How long a run counts as alive without a sign of life, in milliseconds. @default 30_000 */
  readonly leaseMs?: number | undefined;
  /** How often a task that somebody waits for is looked up, in case another process changed it, in milliseconds. @default 1_000 */
  readonly watchIntervalMs?: number | undefined;
  /** How often expired tasks are deleted, in milliseconds. @default 60_000 */
  readonly sweepIntervalMs?: number | undefined;
  /** How long closing waits for runs that were told to stop, in milliseconds. @default 500 */
  readonly closeMs?: number | undefined;
  /** Told what is created, taken up, ended, cancelled and refused, and faults. @default a logger that drops every line */
  readonly logger?: Logger | undefined;
  /** Counts tasks, look-ups that fail and polls that come too fast. @default nothing is counted */
  readonly meter?: Meter | undefined;
  /** Tells when tasks and leases end, and runs the timers. @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/** A task to create. */
export interface NewTask {
  readonly principal: Principal;
  readonly generation: string;
  /** Who takes the task to its end: the engine, by `run`, or the program, by hand. @default 'engine' */
  readonly driver?: 'engine' | 'hand';
  readonly call?: ToolCallRecord | undefined;
  readonly progressToken?: string | number | undefined;
  /** Whether another process may run it anew once its own has died; without that it then fails. @default false */
  readonly resumable?: boolean;
  /** The wish of the caller, in milliseconds; null for no end, which is cut to the maximum too. */
  readonly ttlMs?: number | null | undefined;
  readonly pollIntervalMs?: number | undefined;
  readonly statusMessage?: string | undefined;
  readonly data?: JsonObject | undefined;
}
