/** `/shared/responseMessage`: what the stream of a request yields. */

import type { McpError, Result, Task } from '../types.ts';

export interface BaseResponseMessage {
  type: string;
}
export interface TaskStatusMessage extends BaseResponseMessage {
  type: 'taskStatus';
  task: Task;
}
export interface TaskCreatedMessage extends BaseResponseMessage {
  type: 'taskCreated';
  task: Task;
}
export interface ResultMessage<T extends Result> extends BaseResponseMessage {
  type: 'result';
  result: T;
}
export interface ErrorMessage extends BaseResponseMessage {
  type: 'error';
  error: McpError;
}
/** Zero or more messages about a task, then a result or an error. */
export type ResponseMessage<T extends Result> = TaskStatusMessage | TaskCreatedMessage | ResultMessage<T> | ErrorMessage;
export type AsyncGeneratorValue<T> = T extends AsyncGenerator<infer U> ? U : never;

/** Reads a whole stream. */
export async function toArrayAsync<T extends AsyncGenerator<unknown>>(stream: T): Promise<AsyncGeneratorValue<T>[]> {
  const all: AsyncGeneratorValue<T>[] = [];
  for await (const each of stream) all.push(each as AsyncGeneratorValue<T>);
  return all;
}

/** Reads a stream up to its result. @throws The stream's error. */
export async function takeResult<T extends Result, U extends AsyncGenerator<ResponseMessage<T>>>(stream: U): Promise<T> {
  for await (const message of stream) {
    if (message.type === 'result') return message.result;
    if (message.type === 'error') throw message.error;
  }
  throw new Error('No result in stream.');
}
