/** The wire of a program's own subclass of `Protocol`: a bare JSON-RPC connection. */

import type { JsonObject, JsonRpcErrorObject, JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { Connection, type InboundCall } from '@mortise/jsonrpc-core/connection';
import type { JSONRPCRequest, MessageExtraInfo, Notification, Request, Result } from '../types.ts';
import { AdaptedTransport } from './adapted-transport.ts';
import type { Protocol } from './protocol.ts';
import type { Transport } from './transport.ts';
import { toErrorObject, type Wire } from './wire.ts';

type AnyProtocol = Protocol<Request, Notification, Result>;

export async function openConnection(protocol: AnyProtocol, transport: Transport, onClosed: () => void): Promise<Wire> {
  const adapted = new AdaptedTransport(transport, {
    onMessage: (_message, extra, deliver) => deliver(extra as object | undefined),
    // The connection reports them.
    onError: () => undefined,
    onClose: onClosed,
  });
  let nextId = 0;
  const connection = new Connection(adapted, {
    // v1 counts from 0.
    newId: () => nextId++,
    onRequest: (request, call) => serve(protocol, request, call, transport.sessionId),
    onNotification: (notification) => protocol._notice(notification as Notification),
    onError: (error) => protocol._report(error),
    requestTimeoutMs: Infinity,
    maxRequestTimeoutMs: Infinity,
  });
  await connection.start();
  return {
    request: (method, params, options) => connection.request(method, params, { ...options, onProgress: options.onProgress as never }),
    notify: (method, params, relatedRequestId) => connection.notify(method, params, { relatedRequestId }),
    close: () => connection.close(),
  };
}

async function serve(
  protocol: AnyProtocol,
  request: JsonRpcRequest,
  { signal, info }: InboundCall,
  sessionId: string | undefined,
): Promise<JsonRpcResponse> {
  const { id } = request;
  try {
    const inbound = { signal, sessionId, info: info as MessageExtraInfo | undefined };
    return { jsonrpc: '2.0', id, result: (await protocol._answer(request as JSONRPCRequest, inbound)) as JsonObject };
  } catch (error) {
    return { jsonrpc: '2.0', id, error: toErrorObject(error) as JsonRpcErrorObject };
  }
}
