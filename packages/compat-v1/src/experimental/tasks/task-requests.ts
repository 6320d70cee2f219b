/** The requests about tasks of the other side, which `experimental.tasks` of clients and servers have in common. */

import type { AnySchema, SchemaOutput } from '../../server/zod-compat.ts';
import type { Protocol, RequestOptions } from '../../shared/protocol.ts';
import { streamRequest } from '../../shared/request-stream.ts';
import type { ResponseMessage } from '../../shared/responseMessage.ts';
import * as v1 from '../../types.ts';

export class TaskRequests {
  readonly #protocol: Protocol<v1.Request, v1.Notification, v1.Result>;

  constructor(protocol: object) {
    this.#protocol = protocol as Protocol<v1.Request, v1.Notification, v1.Result>;
  }

  /** Sends a request, and yields what becomes of it. */
  requestStream<T extends AnySchema>(
    request: v1.Request,
    resultSchema: T,
    options?: RequestOptions,
  ): AsyncGenerator<ResponseMessage<SchemaOutput<T> & v1.Result>, void, void> {
    return streamRequest(this.#protocol, request, resultSchema, options, this.#protocol._options?.defaultTaskPollInterval ?? 1000);
  }

  async getTask(taskId: string, options?: RequestOptions): Promise<v1.GetTaskResult> {
    return this.#protocol.request({ method: 'tasks/get', params: { taskId } }, v1.GetTaskResultSchema, options);
  }

  async getTaskResult<T extends AnySchema>(taskId: string, resultSchema?: T, options?: RequestOptions): Promise<SchemaOutput<T>> {
    return this.#protocol.request({ method: 'tasks/result', params: { taskId } }, (resultSchema ?? v1.ResultSchema) as T, options);
  }

  async listTasks(cursor?: string, options?: RequestOptions): Promise<v1.ListTasksResult> {
    return this.#protocol.request({ method: 'tasks/list', params: cursor ? { cursor } : undefined }, v1.ListTasksResultSchema, options);
  }

  async cancelTask(taskId: string, options?: RequestOptions): Promise<v1.CancelTaskResult> {
    return this.#protocol.request({ method: 'tasks/cancel', params: { taskId } }, v1.CancelTaskResultSchema, options);
  }
}
