/** `Server.onAnyRequest`: for gateways, which answer requests as they came. */

import { isJsonRpcResponse, toWireError } from '@mortise/jsonrpc-core/messages';
import type { JsonObject, JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import type { Call } from '@mortise/protocol/contracts';
import { InvalidHandlerResultError } from './errors.ts';
import { serveRequest } from './serve-request.ts';
import type { Server } from './server.ts';
import type { ClientRequestOptions, Session } from './session.ts';

/** The legacy session behind a raw request: its id, and how its client is asked. */
export interface RawSession {
  /** The session's id, where the transport has one. */
  readonly id: string | undefined;
  /** Asks the client. @throws {AskError} `ERR_ASK_UNAVAILABLE`: no request can reach it. */
  request(method: string, params: JsonObject | undefined, options?: ClientRequestOptions): Promise<JsonObject>;
}

/**
 * Answers a raw request, or gives undefined to leave it to the server.
 *
 * @param session Undefined for a modern request, on which servers send none to the client.
 * @returns The whole response (its id must be the request's own), sent as it is: unknown members and error data stay.
 */
export type RawHandler = (
  request: JsonRpcRequest,
  call: Call,
  session: RawSession | undefined,
) => JsonRpcResponse | undefined | Promise<JsonRpcResponse | undefined>;

/** Serves a request by the program's raw handler, or by the server where that gives undefined. Never rejects. */
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
      'The raw handler gave something that is not a response to the request: return { jsonrpc, id, result } or { jsonrpc, id, error }',
    );
  } catch (error) {
    server.logger.log('error', 'The raw handler failed', { method, error });
    return { jsonrpc: '2.0', id, error: toWireError(error) };
  }
}
