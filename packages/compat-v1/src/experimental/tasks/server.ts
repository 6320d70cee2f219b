/** `server.experimental.tasks`: requests that the client runs as tasks. */

import type { Server } from '../../server/index.ts';
import { assertToolMessages } from '../../server/sampling-rules.ts';
import type { RequestOptions } from '../../shared/protocol.ts';
import type { ResponseMessage } from '../../shared/responseMessage.ts';
import * as v1 from '../../types.ts';
import { TaskRequests } from './task-requests.ts';

export class ExperimentalServerTasks<
  RequestT extends v1.Request = v1.Request,
  NotificationT extends v1.Notification = v1.Notification,
  ResultT extends v1.Result = v1.Result,
> extends TaskRequests {
  readonly #server: Server<RequestT, NotificationT, ResultT>;

  constructor(server: Server<RequestT, NotificationT, ResultT>) {
    super(server);
    this.#server = server;
  }

  /** @throws {Error} As `createMessage` does. */
  createMessageStream(
    params: v1.CreateMessageRequestParams,
    options?: RequestOptions,
  ): AsyncGenerator<ResponseMessage<v1.CreateMessageResult>, void, void> {
    assertToolMessages(params, this.#server.getClientCapabilities());
    return this.requestStream({ method: 'sampling/createMessage', params }, v1.CreateMessageResultSchema, options);
  }

  /** @throws {Error} The client has no such mode of elicitation. */
  elicitInputStream(
    params: v1.ElicitRequestFormParams | v1.ElicitRequestURLParams,
    options?: RequestOptions,
  ): AsyncGenerator<ResponseMessage<v1.ElicitResult>, void, void> {
    const mode = params.mode ?? 'form';
    if (!this.#server.getClientCapabilities()?.elicitation?.[mode]) throw new Error(`Client does not support ${mode} elicitation.`);
    return this.requestStream({ method: 'elicitation/create', params: { ...params, mode } }, v1.ElicitResultSchema, options);
  }
}
