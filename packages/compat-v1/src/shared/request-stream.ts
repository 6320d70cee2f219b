/** Sends a request that may become a task, and yields what becomes of it. */

import { isTerminal } from '../experimental/tasks/interfaces.ts';
import type { AnySchema, SchemaOutput } from '../server/zod-compat.ts';
import * as v1 from '../types.ts';
import type { Protocol, RequestOptions } from './protocol.ts';
import type { ResponseMessage } from './responseMessage.ts';

type AnyProtocol = Protocol<v1.Request, v1.Notification, v1.Result>;

/** Yields a result or an error; before it, the task and each of its states, if `options.task` asks for one. */
export async function* streamRequest<T extends AnySchema>(
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
