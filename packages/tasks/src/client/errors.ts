/** The errors of the client's half. What the server said of a task is `RemoteError`, as for any other call. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** The task waits for an answer that the program did not give: its handler threw, or it has none. */
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

/** The server told of a task in a way that the protocol does not have. */
export class InvalidTaskError extends MortiseError {
  override readonly name: string = 'InvalidTaskError';
  override readonly code: 'ERR_INVALID_TASK' = 'ERR_INVALID_TASK';
}
