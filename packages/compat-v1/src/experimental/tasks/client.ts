/** `client.experimental.tasks`: calls of tools that run as tasks. */

import type { Client } from '../../client/index.ts';
import type { AnySchema, SchemaOutput } from '../../server/zod-compat.ts';
import type { Protocol, RequestOptions } from '../../shared/protocol.ts';
import { streamRequest } from '../../shared/request-stream.ts';
import type { ResponseMessage } from '../../shared/responseMessage.ts';
import {
  type CallToolRequest,
  CallToolResultSchema,
  type CancelTaskResult,
  CancelTaskResultSchema,
  type CompatibilityCallToolResultSchema,
  ErrorCode,
  type GetTaskResult,
  GetTaskResultSchema,
  type ListTasksResult,
  ListTasksResultSchema,
  McpError,
  type Notification,
  type Request,
  type Result,
  ResultSchema,
} from '../../types.ts';

export class ExperimentalClientTasks<
  RequestT extends Request = Request,
  NotificationT extends Notification = Notification,
  ResultT extends Result = Result,
> {
  readonly #client: Client<RequestT, NotificationT, ResultT>;

  constructor(client: Client<RequestT, NotificationT, ResultT>) {
    this.#client = client;
  }

  get #protocol(): Protocol<Request, Notification, Result> {
    return this.#client as unknown as Protocol<Request, Notification, Result>;
  }

  /** Calls a tool, as a task if the tool allows it, and yields what becomes of it. */
  async *callToolStream<T extends typeof CallToolResultSchema | typeof CompatibilityCallToolResultSchema>(
    params: CallToolRequest['params'],
    resultSchema: T = CallToolResultSchema as T,
    options?: RequestOptions,
  ): AsyncGenerator<ResponseMessage<SchemaOutput<T> & Result>, void, void> {
    const task = options?.task ?? (this.#client._isToolTask(params.name) ? {} : undefined);
    for await (const message of this.requestStream({ method: 'tools/call', params }, resultSchema, { ...options, task })) {
      if (message.type === 'result') {
        try {
          this.#client._checkOutput(params.name, message.result);
        } catch (error) {
          yield { type: 'error', error: error instanceof McpError ? error : new McpError(ErrorCode.InternalError, String(error)) };
          return;
        }
      }
      yield message;
    }
  }

  requestStream<T extends AnySchema>(
    request: Request,
    resultSchema: T,
    options?: RequestOptions,
  ): AsyncGenerator<ResponseMessage<SchemaOutput<T> & Result>, void, void> {
    const pollMs = this.#client._options?.defaultTaskPollInterval ?? 1000;
    return streamRequest(this.#protocol, request, resultSchema, options, pollMs);
  }

  async getTask(taskId: string, options?: RequestOptions): Promise<GetTaskResult> {
    return this.#protocol.request({ method: 'tasks/get', params: { taskId } }, GetTaskResultSchema, options);
  }

  async getTaskResult<T extends AnySchema>(taskId: string, resultSchema?: T, options?: RequestOptions): Promise<SchemaOutput<T>> {
    return this.#protocol.request({ method: 'tasks/result', params: { taskId } }, (resultSchema ?? ResultSchema) as T, options);
  }

  async listTasks(cursor?: string, options?: RequestOptions): Promise<ListTasksResult> {
    return this.#protocol.request({ method: 'tasks/list', params: cursor ? { cursor } : undefined }, ListTasksResultSchema, options);
  }

  async cancelTask(taskId: string, options?: RequestOptions): Promise<CancelTaskResult> {
    return this.#protocol.request({ method: 'tasks/cancel', params: { taskId } }, CancelTaskResultSchema, options);
  }
}
