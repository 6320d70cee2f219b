/** The options that tasks add to a tool's registration, and the members that they add to a handler's `ctx`. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallToolResult } from '@mortise/protocol';

/** Whether a tool runs as a task: always, if the client asks for tasks or accepts them, or never. */
export type TaskSupport = 'required' | 'optional' | 'forbidden';

/** The options that `createTasks` adds to `registerTool`. */
export interface TaskToolOptions {
  /**
   * Whether the tool runs as a task. `required`: always. `optional`: if the client asks for tasks or accepts them. `forbidden`: never.
   *
   * @default { taskSupport: 'forbidden' }
   */
  readonly execution?: { readonly taskSupport?: TaskSupport | undefined } | undefined;
  /**
   * For `optional` tools and clients of the tasks extension: a call that takes longer than this becomes a task, a shorter one returns its
   * result directly. In milliseconds. @default the call is a task from its start
   */
  readonly promoteAfterMs?: number | undefined;
  /**
   * Whether the handler may run again from its start after its process has died. Finished `ctx.once` steps and requests that the client
   * has answered are not repeated. @default false: the task fails, with the reason in its error
   */
  readonly resumable?: boolean | undefined;
  /** A text that the client's host may give its model while the task runs. 2025-11-25 only. @default none */
  readonly immediateResponse?: string | undefined;
  /**
   * What ends the task. `engine`: the task ends with the handler. `hand`: the handler runs as an ordinary call and may return a task from
   * `ctx.createTask`. The program ends that task later by a `TaskControl`, in any process. @default 'engine'
   */
  readonly taskDriver?: 'engine' | 'hand' | undefined;
}

/** The options of `ctx.createTask`. */
export interface CreateTaskOptions {
  /** How long the task is kept after its creation, in milliseconds. @default what the client asks for, else the server's `maxTtlMs` */
  readonly ttlMs?: number | undefined;
  /** The task's first status message, a text for people. @default none */
  readonly statusMessage?: string | undefined;
  /** Data that the program keeps with the task, such as the id of an external job. Clients do not see it. @default none */
  readonly data?: JsonObject | undefined;
}

/** The result of `ctx.createTask`. Return it from the handler. */
export interface CreatedTask extends CallToolResult {
  /** Marks the result as a task. */
  readonly resultType: 'task';
  /** The task's id, for `TaskControl`. */
  readonly taskId: string;
}

/** The members that `createTasks` adds to the context `ctx` of every tool handler. */
export interface TaskContext {
  /** Whether this tool call runs as a task. */
  readonly isTask: boolean;
  /** Sets the task's status message, for people. Does nothing if the call is not a task. */
  status(message: string): Promise<void>;
  /** Whether the handler may call `createTask` in this call. */
  readonly canCreateTask: boolean;
  /**
   * Creates a task that the program ends later, by a `TaskControl`. For tools with `taskDriver: 'hand'`. Call it after all requests to the
   * client, such as elicitation: with a 2026-07-28 client, the handler runs again from its start when an answer arrives.
   *
   * @throws {TaskError} `ERR_TASK_UNAVAILABLE`: this call cannot become a task, see `canCreateTask`.
   * @throws {TaskLimitError} `ERR_TASK_LIMIT`: the caller has too many unfinished tasks.
   */
  createTask(options?: CreateTaskOptions): Promise<CreatedTask>;
}
