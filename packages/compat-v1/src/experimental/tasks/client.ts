/** `client.experimental.tasks`: calls of tools that run as tasks. */

import type { Client } from '../../client/index.ts';
import type { SchemaOutput } from '../../server/zod-compat.ts';
import type { RequestOptions } from '../../shared/protocol.ts';
import type { ResponseMessage } from '../../shared/responseMessage.ts';
import * as v1 from '../../types.ts';
import { TaskRequests } from './task-requests.ts';

export class ExperimentalClientTasks<
  RequestT extends v1.Request = v1.Request,
  NotificationT extends v1.Notification = v1.Notification,
  ResultT extends v1.Result = v1.Result,
> extends TaskRequests {
  readonly #client: Client<RequestT, NotificationT, ResultT>;

  constructor(client: Client<RequestT, NotificationT, ResultT>) {
    super(client);
    this.#client = client;
  }

  /** Calls a tool, as a task if the tool allows it, and yields what becomes of it. */
  async *callToolStream<T extends typeof v1.CallToolResultSchema | typeof v1.CompatibilityCallToolResultSchema>(
    params: v1.CallToolRequest['params'],
    resultSchema: T = v1.CallToolResultSchema as T,
    options?: RequestOptions,
  ): AsyncGenerator<ResponseMessage<SchemaOutput<T> & v1.Result>, void, void> {
    const task = options?.task ?? (this.#client._isToolTask(params.name) ? {} : undefined);
    for await (const message of this.requestStream({ method: 'tools/call', params }, resultSchema, { ...options, task })) {
      if (message.type === 'result') {
        try {
          this.#client._checkOutput(params.name, message.result);
        } catch (error) {
          yield { type: 'error', error: error instanceof v1.McpError ? error : new v1.McpError(v1.ErrorCode.InternalError, String(error)) };
          return;
        }
      }
      yield message;
    }
  }
}
