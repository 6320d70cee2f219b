/** The wire of a program's own subclass of `Protocol`: a bare JSON-RPC connection. */

import type {
  JsonObject,
  JsonRpcErrorObject,
  JsonRpcRequest,
  JsonRpcResponse,
  RequestId,
  Transport as OurTransport,
} from '@mortise/jsonrpc-core';
import { Connection, type InboundCall } from '@mortise/jsonrpc-core/connection';
import { wrapTransport } from '@mortise/jsonrpc-core/wrap';
import type { JSONRPCMessage, JSONRPCRequest, MessageExtraInfo, Notification } from '../types.ts';
import type { Transport } from './transport.ts';
import { type AnyProtocol, toErrorObject, type Wire, type WireRequestOptions } from './wire.ts';

export class ConnectionWire implements Wire {
  readonly #connection: Connection;
  readonly #protocol: AnyProtocol;
  readonly #transport: Transport;

  constructor(protocol: AnyProtocol, transport: Transport, onClosed: () => void) {
    this.#protocol = protocol;
    this.#transport = transport;
    const adapted = wrapTransport(transport as unknown as OurTransport, {
      // With the options that v1 passes: a program's own transport may look at them.
      send: (message, options) => {
        const sent = message as JSONRPCMessage;
        if (!('method' in sent)) return transport.send(sent);
        const { relatedRequestId } = options ?? {};
        return transport.send(sent, 'id' in sent || relatedRequestId !== undefined ? { relatedRequestId } : undefined);
      },
      close: (next) => {
        next();
        onClosed();
      },
    });
    let nextId = 0;
    this.#connection = new Connection(adapted, {
      // v1 counts from 0.
      newId: () => nextId++,
      onRequest: (request, call) => this.#serve(request, call),
      onNotification: (notification) => protocol._notice(notification as Notification),
      onError: (error) => protocol._report(error),
      requestTimeoutMs: Infinity,
      maxRequestTimeoutMs: Infinity,
    });
  }

  open(): Promise<void> {
    return this.#connection.start();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  request(method: string, params: JsonObject | undefined, options: WireRequestOptions): Promise<JsonObject> {
    return this.#connection.request(method, params, { ...options, onProgress: options.onProgress as never });
  }

  notify(method: string, params: JsonObject | undefined, relatedRequestId: RequestId | undefined): Promise<void> {
    return this.#connection.notify(method, params, { relatedRequestId });
  }

  handle(): void {
    // Every message reaches the protocol.
  }

  listen(): void {
    // The same.
  }

  async #serve({ id, ...request }: JsonRpcRequest, { signal, info }: InboundCall): Promise<JsonRpcResponse> {
    try {
      const inbound = { signal, sessionId: this.#transport.sessionId, info: info as MessageExtraInfo | undefined };
      return { jsonrpc: '2.0', id, result: (await this.#protocol._answer({ ...request, id } as JSONRPCRequest, inbound)) as JsonObject };
    } catch (error) {
      return { jsonrpc: '2.0', id, error: toErrorObject(error) as JsonRpcErrorObject };
    }
  }
}
