/** What tasks add to a tool's registration and to a handler's context. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallToolResult } from '@mortise/protocol';

/** Whether a tool runs as a task. */
export type TaskSupport = 'required' | 'optional' | 'forbidden';

/** The options of a tool that tasks own. */
export interface TaskToolOptions {
  /**
   * Whether the tool runs as a task: `required`, always; `optional`, where the client wants or takes one; `forbidden`, never.
   *
   * @default { taskSupport: 'forbidden' }
   */
  readonly execution?: { readonly taskSupport: TaskSupport } | undefined;
  /**
   * For `optional`: a call answers at once if it is done within this time, and becomes a task otherwise, where the client takes tasks
   * without having asked for one (the extension's generation). In milliseconds. @default such a call is a task from its start
   */
  readonly promoteAfterMs?: number | undefined;
  /**
   * Whether the handler may run again from its top after the process that ran it has died. Steps in `ctx.once` and questions that were
   * answered are not repeated. @default false: the task fails and says why
   */
  readonly resumable?: boolean | undefined;
  /** What a host may tell its model while the task runs, in the core's generation. @default none */
  readonly immediateResponse?: string | undefined;
  /**
   * Who ends the task: `engine` runs the handler as the task; with `hand` the handler runs as an ordinary call, may create a task by
   * `ctx.createTask`, return it, and the program ends it later by a `TaskControl`, from anywhere. @default 'engine'
   */
  readonly taskDriver?: 'engine' | 'hand' | undefined;
}

/** What a task that is driven by hand begins with. */
export interface CreateTaskOptions {
  /** How long it is kept, in milliseconds. @default what the client wishes, else the server's `maxTtlMs` */
  readonly ttlMs?: number | undefined;
  /** How it stands, for people. @default none */
  readonly statusMessage?: string | undefined;
  /** What the program wants to remember with it: the id of a job elsewhere. Clients do not see it. @default none */
  readonly data?: JsonObject | undefined;
}

/** A task that was created by hand: return it from the handler. */
export interface CreatedTask extends CallToolResult {
  readonly resultType: 'task';
  readonly taskId: string;
}

/** The members of a handler's context that tasks own. */
export interface TaskContext {
  /** Whether the handler runs as a task. */
  readonly isTask: boolean;
  /** Says how the task stands, for people; does nothing in an ordinary call. */
  status(message: string): Promise<void>;
  /** Whether this call may be answered by a task that the handler creates. */
  readonly canCreateTask: boolean;
  /**
   * Creates a task that the program ends by hand. For tools with `taskDriver: 'hand'`. Ask the user first: with a modern
   * client, code in front of a question runs again for its answer.
   *
   * @throws {TaskError} `ERR_TASK_UNAVAILABLE`: this call cannot be answered by a task.
   * @throws {TaskLimitError} `ERR_TASK_LIMIT`: the caller has too many unfinished tasks.
   */
  createTask(options?: CreateTaskOptions): Promise<CreatedTask>;
}
