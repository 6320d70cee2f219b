/** The requests about tasks of the other side, which `experimental.tasks` of clients and servers have in common. */

import type { AnySchema, SchemaOutput } from '../../server/zod-compat.ts';
import type { Protocol, RequestOptions } from '../../shared/protocol.ts';
import type { ResponseMessage } from '../../shared/responseMessage.ts';
import * as v1 from '../../types.ts';
import { isTerminal } from './interfaces.ts';

type AnyProtocol = Protocol<v1.Request, v1.Notification, v1.Result>;

export class TaskRequests {
  readonly #protocol: AnyProtocol;

  constructor(protocol: object) {
    this.#protocol = protocol as AnyProtocol;
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

/** Yields a result or an error; before it, the task and each of its states, if `options.task` asks for one. */
async function* streamRequest<T extends AnySchema>(
  protocol: AnyProtocol,
  request: v1.Request,
  schema: T,
  options: RequestOptions | undefined,
  pollMs: number,
): AsyncGenerator<ResponseMessage<SchemaOutput<T> & v1.Result>, void, void> {
  try {
    if (options?.task) yield* followTask(protocol, request, schema, options, pollMs);
    else yield { type: 'result', result: (await protocol.request(request, schema, options)) as SchemaOutput<T> & v1.Result };
  } catch (error) {
    yield { type: 'error', error: error instanceof v1.McpError ? error : new v1.McpError(v1.ErrorCode.InternalError, String(error)) };
  }
}

async function* followTask<T extends AnySchema>(
  protocol: AnyProtocol,
  request: v1.Request,
  schema: T,
  options: RequestOptions,
  pollMs: number,
): AsyncGenerator<ResponseMessage<SchemaOutput<T> & v1.Result>, void, void> {
  const { task } = await protocol.request(request, v1.CreateTaskResultSchema, options);
  const { taskId } = task;
  yield { type: 'taskCreated', task };
  const { task: _task, ...asked } = options;
  for (;;) {
    const seen = await protocol.request({ method: 'tasks/get', params: { taskId } }, v1.GetTaskResultSchema, asked);
    yield { type: 'taskStatus', task: seen };
    if (seen.status === 'failed') throw new v1.McpError(v1.ErrorCode.InternalError, `Task ${taskId} failed`);
    if (seen.status === 'cancelled') throw new v1.McpError(v1.ErrorCode.InternalError, `Task ${taskId} was cancelled`);
    if (isTerminal(seen.status) || seen.status === 'input_required') break;
    await new Promise((resolve) => setTimeout(resolve, seen.pollInterval ?? pollMs));
    options.signal?.throwIfAborted();
  }
  const result = await protocol.request({ method: 'tasks/result', params: { taskId } }, schema, asked);
  yield { type: 'result', result: result as SchemaOutput<T> & v1.Result };
}
