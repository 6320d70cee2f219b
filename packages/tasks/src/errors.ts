/** What can go wrong with tasks, on either side. A class where a program acts differently; `code` says the rest. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** The codes of `TaskError`. */
export type TaskErrorCode =
  // There is no such task, or not for this caller: the caller cannot know which.
  | 'ERR_TASK_NOT_FOUND'
  // The task was cancelled. Also why the signal of its run aborts.
  | 'ERR_TASK_CANCELLED'
  // Another process has taken the task over, or it has expired: why the signal of a run aborts whose result is not kept.
  | 'ERR_TASK_LOST'
  // A call cannot become a task, or a task cannot go on.
  | 'ERR_TASK_UNAVAILABLE';

/** There is no task, or no result of it. */
export class TaskError extends MortiseError {
  override readonly name: string = 'TaskError';
  override readonly code: TaskErrorCode;

  constructor(code: TaskErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A limit was reached: tasks of one caller, or polls. */
export class TaskLimitError extends MortiseError {
  override readonly name: string = 'TaskLimitError';
  override readonly code: 'ERR_TASK_LIMIT' = 'ERR_TASK_LIMIT';
  /** When it is worth trying again, in milliseconds; undefined where that is not known. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
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
export type AnyTaskError = TaskError | TaskLimitError | TaskInputError;
