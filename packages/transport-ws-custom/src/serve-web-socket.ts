/** `serveWebSocket`: one line from a server to a port; `attachWebSocket`: the same on an HTTP server that is there already. */

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connectable } from '@mortise/jsonrpc-core';
import { toReachableHost } from '@mortise/protocol/edge';
import { WebSocketOptionError } from './errors.ts';
import { SocketHost } from './socket-host.ts';
import { stderrLogger } from './stderr-logger.ts';
import { refuseUpgrade, UpgradeRefusal } from './upgrade-refusal.ts';
import type { WebSocketServerOptions } from './web-socket-options.ts';

/** How `serveWebSocket` serves. */
export interface ServeWebSocketOptions extends WebSocketServerOptions {
  /** The port to listen on, which has no default; 0 for any that is free. */
  readonly port: number;
  /** The address to listen on. Anything but loopback is open to the network: give a `tokenVerifier`. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** Aborting it closes. @default none */
  readonly signal?: AbortSignal | undefined;
  /** How long calls in flight may go on when the server closes, in milliseconds. @default 5,000 */
  readonly drainMs?: number | undefined;
}

/** How a host of WebSockets is closed. */
export interface CloseOptions {
  /** How long calls in flight may go on; then they are aborted. In milliseconds. @default 5,000 */
  readonly drainMs?: number | undefined;
}

/** WebSockets on an HTTP server. */
export interface AttachedWebSocket extends AsyncDisposable {
  /** How many connections are open. */
  readonly count: number;
  /**
   * Takes no new connection (503), lets calls in flight finish, and closes all with 1001. The HTTP server stays open. Safe to call twice.
   */
  close(options?: CloseOptions): Promise<void>;
}

/** A server that listens. */
export interface WebSocketServing extends AttachedWebSocket {
  /** Where clients connect: `ws://127.0.0.1:3001/mcp`. */
  readonly url: string;
  readonly port: number;
  readonly httpServer: Server;
}

/** What is needed of an HTTP or HTTPS server. */
export interface UpgradeSource {
  on(event: 'upgrade', listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): unknown;
  off(event: 'upgrade', listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): unknown;
}

const DEFAULT_DRAIN_MS = 5000;
const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 15_000;

/**
 * Serves a server, such as an `McpServer`, over WebSocket on a port of its own.
 *
 * Resolves once it listens. `signal` closes it later; one that aborts before that rejects with its reason, and nothing listens.
 *
 * @throws {WebSocketOptionError} `ERR_WEBSOCKET_OPTION`: no port, an option that cannot hold or that there is not, or what is served is no server.
 * @throws What `listen` fails with: a port in use, an address that is not this machine's.
 */
export async function serveWebSocket(server: Connectable, options: ServeWebSocketOptions): Promise<WebSocketServing> {
  const { port, host = '127.0.0.1', path = '/mcp', signal, drainMs: ownDrainMs = DEFAULT_DRAIN_MS } = checkPort(options);
  signal?.throwIfAborted();
  const sockets = new SocketHost(server, { ...options, logger: options.logger ?? stderrLogger });
  const httpServer = createServer({ maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HEADERS_TIMEOUT_MS }, (_request, response) => {
    response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end('This is a WebSocket server\n');
  });
  httpServer.on('upgrade', (request, socket, head) => {
    if (sockets.isFor(request)) return sockets.accept(request, socket, head);
    socket.on('error', () => undefined);
    refuseUpgrade(request, socket, new UpgradeRefusal(404, 'There is nothing at this path'));
  });
  await listen(httpServer, port, host);
  const logError = (error: unknown): void => sockets.logger.log('error', 'The HTTP server failed', { error: String(error) });
  // A connection that cannot be taken, for want of descriptors perhaps, is no reason to end the process.
  httpServer.on('error', logError);
  let closing: Promise<void> | undefined;
  const close = ({ drainMs = ownDrainMs }: CloseOptions = {}): Promise<void> => {
    signal?.removeEventListener('abort', onAbort);
    closing ??= closeAll(httpServer, sockets, drainMs);
    return closing;
  };
  const onAbort = (): void => void close().catch(logError);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) {
    await close();
    throw signal.reason;
  }
  const { port: bound } = httpServer.address() as AddressInfo;
  return {
    url: `ws://${toUrlHost(host)}:${bound}${path}`,
    port: bound,
    httpServer,
    get count() {
      return sockets.count;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/**
 * Serves a server over WebSocket at one path of an HTTP or HTTPS server that is there already. Upgrades to other paths are left to its
 * other listeners.
 *
 * @throws {WebSocketOptionError} `ERR_WEBSOCKET_OPTION`: an option cannot hold, or there is none of that name.
 */
export function attachWebSocket(server: Connectable, httpServer: UpgradeSource, options: WebSocketServerOptions = {}): AttachedWebSocket {
  const sockets = new SocketHost(server, options);
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (sockets.isFor(request)) sockets.accept(request, socket, head);
  };
  httpServer.on('upgrade', onUpgrade);
  const close = async ({ drainMs = DEFAULT_DRAIN_MS }: CloseOptions = {}): Promise<void> => {
    await sockets.close(drainMs);
    httpServer.off('upgrade', onUpgrade);
  };
  return {
    get count() {
      return sockets.count;
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** Programs without types forget the options, or hand on a text of the environment. */
function checkPort(options: ServeWebSocketOptions | undefined): ServeWebSocketOptions {
  const port: unknown = options?.port;
  if (options !== undefined && Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535) return options;
  const shown =
    port === undefined ? 'is missing' : `cannot be ${typeof port === 'string' ? JSON.stringify(port.slice(0, 20)) : String(port)}`;
  throw new WebSocketOptionError(`port: it ${shown}: ${PORT_HELP}`);
}

const PORT_HELP = 'give a whole number from 0 to 65535, as serveWebSocket(server, { port: 3001 }); 0 for any that is free';

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function closeAll(server: Server, sockets: SocketHost, drainMs: number): Promise<void> {
  await sockets.close(drainMs);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}

function toUrlHost(host: string): string {
  const reachable = toReachableHost(host);
  return reachable.includes(':') ? `[${reachable}]` : reachable;
}
