/** `Server.onAnyRequest`: lets gateways handle requests exactly as they arrived, without validation and conversion. */

import { isJsonRpcResponse, toWireError } from '@mortise/jsonrpc-core/messages';
import type { JsonObject, JsonRpcRequest, JsonRpcResponse, JsonValue, LogLevel } from '@mortise/jsonrpc-core';
import type { BusMessage, Call } from '@mortise/protocol/contracts';
import { InvalidHandlerResultError } from './errors.ts';
import { serveRequest } from './serve-request.ts';
import type { Server } from './server.ts';
import type { ClientRequestOptions, Session } from './session.ts';

/** A legacy session as gateways see it: `onAnyRequest` and middleware get it with each of its requests. One session is one object. */
export interface RawSession {
  /** The session's id, if the transport has one. */
  readonly id: string | undefined;
  /** Resolves when the session has ended. Never rejects. */
  readonly closed: Promise<void>;
  /** Sends the client a log message that belongs to no request, if the client's log level includes it. */
  sendLog(level: LogLevel, data: JsonValue, logger: string | undefined): void;
  /** Sends the client the notification of an event, as if the event came from the server's message bus, and to no other session. */
  onEvent(event: BusMessage): void;
  /** Sends a request to the client. @throws {AskError} `ERR_ASK_UNAVAILABLE`: no request can reach the client. */
  request(method: string, params: JsonObject | undefined, options?: ClientRequestOptions): Promise<JsonObject>;
}

/**
 * The handler of `onAnyRequest`. Handles a request exactly as it arrived, or returns undefined to leave it to the server.
 *
 * @param session Undefined for a modern request, because then a server cannot send requests to the client.
 * @returns The whole response, with the request's id. It is sent unchanged, including unknown members and error data.
 */
export type RawHandler = (
  request: JsonRpcRequest,
  call: Call,
  session: RawSession | undefined,
) => JsonRpcResponse | undefined | Promise<JsonRpcResponse | undefined>;

/** Serves a request by the program's `onAnyRequest` handler, or by the server if the handler returns undefined. Never rejects. */
export async function serveRaw(
  server: Server,
  handler: RawHandler,
  request: JsonRpcRequest,
  call: Call,
  session: Session | undefined,
): Promise<JsonRpcResponse> {
  const { id, method } = request;
  try {
    const response = await handler(request, call, session);
    if (response === undefined) return serveRequest(server, request, call, session);
    if (isJsonRpcResponse(response) && response.id === id) return response;
    throw new InvalidHandlerResultError(
      'The raw handler returned something that is not a response to the request: return { jsonrpc, id, result } or { jsonrpc, id, error }',
    );
  } catch (error) {
    server.logger.log('error', 'The raw handler failed', { method, error });
    return { jsonrpc: '2.0', id, error: toWireError(error) };
  }
}
