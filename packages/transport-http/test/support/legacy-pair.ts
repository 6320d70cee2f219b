/** Both transport classes over a real port, after the handshake that a legacy channel begins with: two ends that anything may be sent between. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonRpcMessage, Transport } from '@mortise/jsonrpc-core';
import type { MessageInfo, SendOptions } from '@mortise/jsonrpc-core/transport';
import { NEWEST_LEGACY } from '@mortise/protocol';
import { type HttpTransportOptions, StreamableHTTPClientTransport } from '@mortise/transport-http/client';
import { StreamableHTTPServerTransport } from '@mortise/transport-http/server';

const INITIALIZE = 'handshake';

/** An end whose handshake nobody sees. */
class KitEnd implements Transport {
  onmessage: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onclose: (() => void) | undefined;
  readonly #inner: Transport;
  readonly #open: () => Promise<void>;

  constructor(inner: Transport, open: () => Promise<void>, isHandshake: (message: JsonRpcMessage) => boolean) {
    this.#inner = inner;
    this.#open = open;
    inner.onmessage = (message: JsonRpcMessage, info?: MessageInfo) => {
      if (!isHandshake(message)) this.onmessage?.(message, info);
    };
    inner.onerror = (error) => this.onerror?.(error);
    inner.onclose = () => this.onclose?.();
  }

  start(): Promise<void> {
    return this.#open();
  }

  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

export interface LegacyPair {
  readonly client: Transport;
  readonly server: Transport;
  close(): Promise<void>;
}

export async function createLegacyPair(options: HttpTransportOptions): Promise<LegacyPair> {
  const { maxMessageBytes } = options;
  const serverEnd = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => 'the-session',
    ...(maxMessageBytes !== undefined && { maxBodyBytes: maxMessageBytes }),
  });
  let hasStream: () => void = () => undefined;
  const streamOpened = new Promise<void>((resolve) => (hasStream = resolve));
  let hasStarted: () => void = () => undefined;
  const started = new Promise<void>((resolve) => (hasStarted = resolve));
  // Who hands requests over connects the transport first; what comes earlier waits for that.
  const http: Server = createServer((request, response) => {
    const served = started.then(() => serverEnd.handleRequest(request, response));
    if (request.method === 'GET') void served.then(hasStream);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const clientEnd = new StreamableHTTPClientTransport(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, options);

  const server = new KitEnd(
    serverEnd,
    async () => {
      await serverEnd.start();
      hasStarted();
    },
    (message) => {
      if (!('method' in message)) return false;
      if (message.method === 'initialize' && 'id' in message) {
        const result = { protocolVersion: NEWEST_LEGACY.version, capabilities: {}, serverInfo: { name: 'kit', version: '1' } };
        void serverEnd.send({ jsonrpc: '2.0', id: message.id, result });
      }
      return message.method === 'initialize' || message.method === 'notifications/initialized';
    },
  );
  const client = new KitEnd(
    clientEnd,
    async () => {
      await clientEnd.start();
      const params = { protocolVersion: NEWEST_LEGACY.version, capabilities: {}, clientInfo: { name: 'kit', version: '1' } };
      await clientEnd.send({ jsonrpc: '2.0', id: INITIALIZE, method: 'initialize', params });
      await clientEnd.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      await streamOpened;
    },
    (message) => 'id' in message && message.id === INITIALIZE,
  );
  const close = async (): Promise<void> => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  return { client, server, close };
}
