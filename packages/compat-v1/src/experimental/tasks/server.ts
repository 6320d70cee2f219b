/** `server.experimental.tasks`: requests that the client runs as tasks. */

import type { Server } from '../../server/index.ts';
import { assertToolMessages } from '../../server/sampling-rules.ts';
import type { AnySchema, SchemaOutput } from '../../server/zod-compat.ts';
import type { Protocol, RequestOptions } from '../../shared/protocol.ts';
import { streamRequest } from '../../shared/request-stream.ts';
import type { ResponseMessage } from '../../shared/responseMessage.ts';
import {
  type CancelTaskResult,
  CancelTaskResultSchema,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  CreateMessageResultSchema,
  type ElicitRequestFormParams,
  type ElicitRequestURLParams,
  type ElicitResult,
  ElicitResultSchema,
  type GetTaskResult,
  GetTaskResultSchema,
  type ListTasksResult,
  ListTasksResultSchema,
  type Notification,
  type Request,
  type Result,
  ResultSchema,
} from '../../types.ts';

export class ExperimentalServerTasks<
  RequestT extends Request = Request,
  NotificationT extends Notification = Notification,
  ResultT extends Result = Result,
> {
  readonly #server: Server<RequestT, NotificationT, ResultT>;

  constructor(server: Server<RequestT, NotificationT, ResultT>) {
    this.#server = server;
  }

  get #protocol(): Protocol<Request, Notification, Result> {
    return this.#server as unknown as Protocol<Request, Notification, Result>;
  }

  requestStream<T extends AnySchema>(
    request: Request,
    resultSchema: T,
    options?: RequestOptions,
  ): AsyncGenerator<ResponseMessage<SchemaOutput<T> & Result>, void, void> {
    const pollMs = this.#server._options?.defaultTaskPollInterval ?? 1000;
    return streamRequest(this.#protocol, request, resultSchema, options, pollMs);
  }

  /** @throws {Error} As `createMessage` does. */
  createMessageStream(
    params: CreateMessageRequestParams,
    options?: RequestOptions,
  ): AsyncGenerator<ResponseMessage<CreateMessageResult>, void, void> {
    assertToolMessages(params, this.#server.getClientCapabilities());
    return this.requestStream({ method: 'sampling/createMessage', params }, CreateMessageResultSchema, options);
  }

  /** @throws {Error} The client has no such mode of elicitation. */
  elicitInputStream(
    params: ElicitRequestFormParams | ElicitRequestURLParams,
    options?: RequestOptions,
  ): AsyncGenerator<ResponseMessage<ElicitResult>, void, void> {
    const mode = params.mode ?? 'form';
    if (!this.#server.getClientCapabilities()?.elicitation?.[mode]) throw new Error(`Client does not support ${mode} elicitation.`);
    return this.requestStream({ method: 'elicitation/create', params: { ...params, mode } }, ElicitResultSchema, options);
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
