/** Every way to reach the calculator: to choose another one is to change one line. */

import { createServer, connect as connectSocket, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientTransportSource } from '@mortise/client';
import { createInMemoryPair } from '@mortise/jsonrpc-core';
import type { McpServer } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { NewlineTransport } from './newline-transport.ts';

/** How the server is reached, and what ends it. */
export interface Reached {
  readonly transport: ClientTransportSource;
  close(): Promise<void>;
}

/** Serves a server in one way. */
export type Reach = (server: McpServer) => Promise<Reached>;

const overStdio: Reach = async () => ({
  transport: stdioTransport({ command: process.execPath, args: [fileURLToPath(new URL('./server.js', import.meta.url))] }),
  close: async () => undefined,
});

const overHttp: Reach = async (server) => {
  const serving = await serveHttp(server, { port: 0 });
  return { transport: httpTransport(serving.url), close: () => serving.close() };
};

const overWebSocket: Reach = async (server) => {
  const serving = await serveWebSocket(server, { port: 0 });
  return { transport: webSocketTransport(serving.url), close: () => serving.close() };
};

const inMemory: Reach = async (server) => {
  const [near, far] = createInMemoryPair();
  const connection = await server.connect(far);
  return { transport: near, close: () => connection.close() };
};

const overNewlines: Reach = async (server) => {
  const path = process.platform === 'win32' ? `\\\\.\\pipe\\swap-${process.pid}` : join(tmpdir(), `swap-${process.pid}.sock`);
  const listener = createServer((socket) => void server.connect(new NewlineTransport(async () => socket)));
  await new Promise<void>((resolve, reject) => listener.once('error', reject).listen(path, resolve));
  return {
    transport: () => new NewlineTransport(() => openSocket(path)),
    close: () => new Promise((resolve) => listener.close(() => resolve())),
  };
};

/** What the flag `--transport` may say. */
export const transports: Readonly<Record<'stdio' | 'http' | 'websocket' | 'memory' | 'newlines', Reach>> = {
  stdio: overStdio,
  http: overHttp,
  websocket: overWebSocket,
  memory: inMemory,
  newlines: overNewlines,
};

function openSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(path, () => resolve(socket)).once('error', reject);
  });
}
