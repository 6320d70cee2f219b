/** The errors of tasks, on either side. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** There is no such task, or not for this caller: the caller cannot know which. */
export class TaskNotFoundError extends MortiseError {
  override readonly name: string = 'TaskNotFoundError';
  override readonly code: 'ERR_TASK_NOT_FOUND' = 'ERR_TASK_NOT_FOUND';
}

/** Why the signal of a run aborts when its task is cancelled. */
export class TaskCancelledError extends MortiseError {
  override readonly name: string = 'TaskCancelledError';
  override readonly code: 'ERR_TASK_CANCELLED' = 'ERR_TASK_CANCELLED';
}

/** Why the signal of a run aborts when another process took the task over, or its time is over: what the run gives is not kept. */
export class TaskLostError extends MortiseError {
  override readonly name: string = 'TaskLostError';
  override readonly code: 'ERR_TASK_LOST' = 'ERR_TASK_LOST';
}

/** A limit was reached: tasks of one caller, or polls. */
export class TaskLimitError extends MortiseError {
  override readonly name: string = 'TaskLimitError';
  override readonly code: 'ERR_TASK_LIMIT' = 'ERR_TASK_LIMIT';
  /** When it is worth trying again, in milliseconds; undefined where nobody knows. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** A call cannot become a task, or a task cannot go on. */
export class TaskUnavailableError extends MortiseError {
  override readonly name: string = 'TaskUnavailableError';
  override readonly code: 'ERR_TASK_UNAVAILABLE' = 'ERR_TASK_UNAVAILABLE';
}

/** The task waits for an answer that the program did not give: its handler threw, or there is no handler. */
export class TaskInputError extends MortiseError {
  override readonly name: string = 'TaskInputError';
  override readonly code: 'ERR_TASK_INPUT' = 'ERR_TASK_INPUT';
  /** The method of the question. */
  readonly method: string;

  constructor(message: string, method: string, options?: ErrorOptions) {
    super(message, options);
    this.method = method;
  }
}

/** Every error that this package throws: `switch (error.code)` narrows it. */
export type AnyTaskError = TaskNotFoundError | TaskCancelledError | TaskLostError | TaskLimitError | TaskUnavailableError | TaskInputError;
