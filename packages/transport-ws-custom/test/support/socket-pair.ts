/** Two ends of one WebSocket over a real port, within one process. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Transport } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import type { MessageSocket } from '@mortise/transport-ws-custom';
import { webSocketTransport, type WebSocketConstructor } from '@mortise/transport-ws-custom/client';
import { resumeOnClient, resumeOnServer } from '@mortise/transport-ws-custom/resume';
import { WebSocket, WebSocketServer } from 'ws';
import { SocketTransport } from '../../src/socket-transport.ts';
import { WsSocket } from '../../src/ws-socket.ts';

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
  /** Both ends agree to `mortise.resume.v1`; only with `isWholeClient`. */
  readonly isResumable?: boolean;
  /** Gives it another platform's WebSocket. */
  readonly webSocket?: WebSocketConstructor;
}

export async function createSocketPair({
  maxMessageBytes = DEFAULT_MAX_BYTES,
  isWholeClient,
  isResumable = false,
  webSocket,
}: SocketPairOptions = {}): Promise<SocketPair> {
  const resume = resumeOnServer({ windowMs: 5000 });
  const listener = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    handleProtocols: () => (isResumable ? resume.protocol : 'mcp'),
  });
  await once(listener, 'listening');
  const url = `ws://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  let serverWs: WebSocket | undefined;
  let clientWs: WebSocket | undefined;
  const accepted = new Promise<MessageSocket>((resolve, reject) => {
    listener.once('connection', (ws, request) => {
      serverWs = ws;
      const socket = new WsSocket(ws, maxMessageBytes, request.socket);
      if (!isResumable) return resolve(socket);
      const host = { clock: systemClock, signal: new AbortController().signal };
      resume.accept(socket, { principal: 'anyone', key: 'anyone' }, host).then((channel) => resolve(channel ?? socket), reject);
    });
  });
  const connect = (): Promise<WsSocket> =>
    new Promise((resolve, reject) => {
      const ws = new WebSocket(url, ['mcp'], { maxPayload: maxMessageBytes, perMessageDeflate: false });
      clientWs = ws;
      ws.once('open', () => resolve(new WsSocket(ws, maxMessageBytes))).once('error', reject);
    });
  const whole = { maxMessageBytes, ...(webSocket && { webSocket }), ...(isResumable && { resume: resumeOnClient() }) };
  return {
    client: isWholeClient ? webSocketTransport(url, whole) : toTransport(connect),
    server: toTransport((signal) => abortable(accepted, signal)),
    injectFrame: async (to, frame) => (to === 'server' ? clientWs : serverWs)?.send(frame, { binary: false }),
    close: async () => {
      for (const ws of listener.clients) ws.terminate();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

function toTransport(open: (signal: AbortSignal) => Promise<MessageSocket>): Transport {
  const rest = { heartbeat: undefined, maxBacklogBytes: Infinity, info: undefined, expiresAtMs: undefined };
  return new SocketTransport({ open, clock: systemClock, ...rest });
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    promise.then(resolve, reject);
  });
}
