/** The errors that `@mortise/tasks` throws, on servers and on clients. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** The codes of `TaskError`. */
export type TaskErrorCode =
  /** The task never existed, has expired, was deleted to make room, or belongs to another caller. These look the same on purpose. */
  | 'ERR_TASK_NOT_FOUND'
  /** The task was cancelled. Also the reason of the handler's aborted signal. */
  | 'ERR_TASK_CANCELLED'
  /** The task expired or another process took it over. The reason of the handler's aborted signal; the handler's result is dropped. */
  | 'ERR_TASK_LOST'
  /** A call cannot become a task (see `ctx.canCreateTask`), or a task cannot continue. */
  | 'ERR_TASK_UNAVAILABLE';

/** The task does not exist, cannot be created, or has no result. `code` says which. */
export class TaskError extends MortiseError {
  override readonly name: string = 'TaskError';
  override readonly code: TaskErrorCode;

  constructor(code: TaskErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A caller has too many unfinished tasks or polls them too often, or the task store is full. Try again after `retryAfterMs`. */
export class TaskLimitError extends MortiseError {
  override readonly name: string = 'TaskLimitError';
  override readonly code: 'ERR_TASK_LIMIT' = 'ERR_TASK_LIMIT';
  /** How long to wait before the request is sent again, in milliseconds; undefined if unknown. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A task's input request (such as elicitation) got no answer from this client: the client's handler threw, or it has none. */
export class TaskInputError extends MortiseError {
  override readonly name: string = 'TaskInputError';
  override readonly code: 'ERR_TASK_INPUT' = 'ERR_TASK_INPUT';
  /** The method of the input request that was not answered, such as `elicitation/create`. */
  readonly method: string;

  constructor(message: string, method: string, options?: ErrorOptions) {
    super(message, options);
    this.method = method;
  }
}

/** Every error class of `@mortise/tasks`: `switch (error.code)` narrows the type. */
export type AnyTaskError = TaskError | TaskLimitError | TaskInputError;
