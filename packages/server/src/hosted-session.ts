/** A legacy session over HTTP: an HTTP handler delivers its messages one by one. Holds the requests in progress in both directions. */

import {
  CancelledError,
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcRequest,
  type JsonRpcResponse,
  ProtocolError,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { linkSignals, RequestTable } from '@mortise/jsonrpc-core/connection';
import { INVALID_REQUEST, isJsonRpcRequest, isJsonRpcResponse, isRequestId, toWireError } from '@mortise/jsonrpc-core/messages';
import type { Call, LegacySession } from '@mortise/protocol/contracts';
import type { Served } from './serve-request.ts';
import { type ClientRequestOptions, closedError, Session } from './session.ts';

interface RunningCall {
  readonly call: Call;
  /** Ends the wait of `receive`: with the response, or with undefined if there is none. */
  readonly settle: (response: JsonRpcResponse | undefined) => void;
}

export class HostedSession extends Session implements LegacySession {
  readonly #running = new Map<RequestId, RunningCall>();
  #requests: RequestTable<ClientRequestOptions> | undefined;

  async receive(message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined> {
    const isRequest = isJsonRpcRequest(message);
    // A session looks nonexistent to other principals.
    if (call.principal !== this.principal || this.isClosed)
      return isRequest ? refuse(message, 'There is no such session: send "initialize" to open one') : undefined;
    if (isRequest) return this.#serve(message, call);
    if (isJsonRpcResponse(message)) this.#requests?.settle(message);
    else if (message.method === 'notifications/cancelled') this.#cancel(message.params);
    else {
      if (message.method === 'notifications/progress') this.#requests?.progress(message.params);
      this.notice(message, call);
      await this.ready;
    }
    return undefined;
  }

  override async close(): Promise<void> {
    if (this.isClosed) return;
    await super.close();
    const reason = closedError();
    for (const id of [...this.#running.keys()]) this.#end(id, reason);
    this.#requests?.failAll(reason);
  }

  #serve(request: JsonRpcRequest, call: Call): Served | Promise<JsonRpcResponse | undefined> {
    const { id } = request;
    if (this.#running.has(id)) return refuse(request, 'A request with this id is still being served: use a new id');
    const served = this.server.handle(request, call, this);
    if (!(served instanceof Promise)) return served;
    return new Promise((resolve) => {
      const running: RunningCall = { call, settle: resolve };
      this.#running.set(id, running);
      void served.then((response) => {
        // A cancelled call may end when a newer call already uses its id.
        if (this.#running.get(id) === running) this.#running.delete(id);
        resolve(response);
      });
    });
  }

  #cancel({ requestId, reason }: JsonObject = {}): void {
    if (isRequestId(requestId)) this.#end(requestId, new CancelledError(typeof reason === 'string' ? reason : undefined));
  }

  /** Cancels a request in progress, which then gets no response. */
  #end(id: RequestId, reason: Error): void {
    const running = this.#running.get(id);
    this.#running.delete(id);
    running?.call.cancel(reason);
    running?.settle(undefined);
  }

  protected override async sendRequest(method: string, params: JsonObject | undefined, options: ClientRequestOptions): Promise<JsonObject> {
    const { signal, dispose } = linkSignals(options.signal, options.call?.signal);
    this.#requests ??= this.#createTable();
    return this.#requests.request(method, params, { ...options, signal }).finally(dispose);
  }

  #createTable(): RequestTable<ClientRequestOptions> {
    const carrierOf = (options: ClientRequestOptions | undefined): Pick<Call, 'send'> => options?.call ?? this.link;
    return new RequestTable({
      send: (request, { options }) => carrierOf(options).send(request),
      sendCancelled(params, { options }): void {
        // No cancellation is sent for a question of a call that the client itself cancelled.
        if (options?.call?.isCancelled) return;
        void carrierOf(options)
          .send({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
          .catch(() => undefined);
      },
      // Unguessable and unique, also if several machines write to one session.
      newId: () => crypto.randomUUID(),
      onError: () => undefined,
      timeoutMs: Infinity,
      maxTimeoutMs: Infinity,
      clock: this.server.clock,
    });
  }
}

function refuse({ id }: JsonRpcRequest, problem: string): JsonRpcResponse {
  return { jsonrpc: '2.0', id, error: toWireError(new ProtocolError(INVALID_REQUEST, problem)) };
}
