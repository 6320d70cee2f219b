/** Two ends of one WebSocket over a real port, within one process. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Transport } from '@mortise/jsonrpc-core';
import { createSocketTransport, WsSocket } from '@mortise/transport-ws-custom';
import { webSocketTransport, type WebSocketConstructor } from '@mortise/transport-ws-custom/client';
import { WebSocket, WebSocketServer } from 'ws';

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

export interface SocketPair {
  readonly client: Transport;
  readonly server: Transport;
  injectFrame(to: 'client' | 'server', frame: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export interface SocketPairOptions {
  readonly maxMessageBytes?: number | undefined;
  /** Makes the client's end through `webSocketTransport`; then nothing can be injected to the server. */
  readonly isWholeClient?: boolean;
  /** Gives it another platform's WebSocket. */
  readonly webSocket?: WebSocketConstructor;
}

export async function createSocketPair({
  maxMessageBytes = DEFAULT_MAX_BYTES,
  isWholeClient,
  webSocket,
}: SocketPairOptions = {}): Promise<SocketPair> {
  const listener = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload: maxMessageBytes, perMessageDeflate: false });
  await once(listener, 'listening');
  const url = `ws://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const bounds = { closeTimeoutMs: 300 };
  let serverWs: WebSocket | undefined;
  let clientWs: WebSocket | undefined;
  const accepted = new Promise<WsSocket>((resolve) => {
    listener.once('connection', (ws, request) => {
      serverWs = ws;
      resolve(new WsSocket(ws, maxMessageBytes, request.socket));
    });
  });
  const connect = (): Promise<WsSocket> =>
    new Promise((resolve, reject) => {
      const ws = new WebSocket(url, ['mcp'], { maxPayload: maxMessageBytes, perMessageDeflate: false });
      clientWs = ws;
      ws.once('open', () => resolve(new WsSocket(ws, maxMessageBytes))).once('error', reject);
    });
  const whole = { ...bounds, maxMessageBytes, ...(webSocket && { webSocket }) };
  return {
    client: isWholeClient ? webSocketTransport(url, whole) : createSocketTransport(connect, bounds),
    server: createSocketTransport((signal) => abortable(accepted, signal), bounds),
    injectFrame: async (to, frame) => (to === 'server' ? clientWs : serverWs)?.send(frame, { binary: false }),
    close: async () => {
      for (const ws of listener.clients) ws.terminate();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    promise.then(resolve, reject);
  });
}
