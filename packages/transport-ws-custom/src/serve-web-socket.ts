/** `serveWebSocket` listens on a port of its own; `attachWebSocket` uses an existing HTTP server. */

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import type { Connectable, Logger, LogLevel } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable } from '@mortise/jsonrpc-core/transport';
import type { CloseOptions } from '@mortise/protocol/contracts';
import { toReachableHost } from '@mortise/protocol/edge';
import { SocketHost, type WebSocketServerOptions } from './socket-host.ts';
import { refuseUpgrade, UpgradeRefusal } from './upgrade.ts';

/** The options of `serveWebSocket`. */
export interface ServeWebSocketOptions extends WebSocketServerOptions, CloseOptions {
  /** The port to listen on; 0 lets the system choose a free one. */
  readonly port: number;
  /** The address to listen on. Any address but loopback is reachable from the network: set a `tokenVerifier`. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** Closes the server when it aborts. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** The result of `attachWebSocket`: counts and closes the WebSocket connections of an HTTP server. */
export interface AttachedWebSocket extends AsyncDisposable {
  /** How many WebSocket connections are open. */
  readonly count: number;
  /**
   * Refuses new connections with 503, lets running requests finish, and closes all connections with 1001. The HTTP server of
   * `attachWebSocket` stays open. Safe to call twice.
   */
  close(options?: CloseOptions): Promise<void>;
}

/** The result of `serveWebSocket`: a listening WebSocket server. */
export interface WebSocketServing extends AttachedWebSocket {
  /** The URL that clients connect to, such as `ws://127.0.0.1:3001/mcp`. */
  readonly url: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** Node's HTTP server. */
  readonly httpServer: Server;
}

/** The members of an HTTP or HTTPS server that `attachWebSocket` uses. */
export interface UpgradeSource {
  on(event: 'upgrade', listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): unknown;
  off(event: 'upgrade', listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): unknown;
  listenerCount(event: 'upgrade'): number;
}

/** The names and types of the options that only `serveWebSocket` has; `SocketHost` checks the others. */
const LISTENING: OptionTable<Omit<ServeWebSocketOptions, keyof WebSocketServerOptions>> = {
  port: 0,
  host: 'string',
  signal: 'object',
  drainMs: 0,
};

const DEFAULT_DRAIN_MS = 5000;
const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 15_000;

/**
 * Serves a server, such as an `McpServer`, over WebSocket on a port of its own.
 *
 * Resolves once the server listens. If `options.signal` aborts before that, rejects with its reason; if it aborts later, the server closes.
 *
 * @throws {TypeError} `port` is missing, an option is unknown or has a wrong value, or `server` is not a server.
 * @throws The error of Node's `listen`, such as a port in use or an address that this machine does not have.
 */
export async function serveWebSocket(server: Connectable, options: ServeWebSocketOptions): Promise<WebSocketServing> {
  const { port, host = '127.0.0.1', signal, drainMs: ownDrainMs = DEFAULT_DRAIN_MS, ...rest } = options ?? {};
  checkOptions('serveWebSocket options', { port, host, signal, drainMs: ownDrainMs }, LISTENING);
  if (!Number.isInteger(port) || port > 65_535)
    throw new TypeError('serveWebSocket: "port" must be from 0 to 65535, as in serveWebSocket(server, { port: 3001 }); 0 is any free port');
  signal?.throwIfAborted();
  const sockets = new SocketHost(server, { ...rest, logger: rest.logger ?? stderrLogger });
  const httpServer = createServer({ maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: HEADERS_TIMEOUT_MS }, (_request, response) => {
    response.writeHead(426, { Connection: 'close', Upgrade: 'websocket' }).end('This is a WebSocket server\n');
  });
  httpServer.on('upgrade', (request, socket, head) => {
    if (sockets.isFor(request)) return sockets.accept(request, socket, head);
    socket.on('error', () => undefined);
    refusePath(request, socket);
  });
  await listen(httpServer, port, host);
  const logError = (error: unknown): void => sockets.logger.log('error', 'The HTTP server failed', { error: String(error) });
  // If a connection cannot be accepted, as with too many open files, the process must not end.
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
    url: `ws://${toUrlHost(host)}:${bound}${sockets.path}`,
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
 * Serves a server, such as an `McpServer`, over WebSocket at one path of an existing HTTP or HTTPS server. Leaves upgrades to other paths to
 * other `upgrade` listeners, or refuses them with 404 if there are none.
 *
 * @throws {TypeError} An option is unknown or has a wrong value, or `server` is not a server.
 */
export function attachWebSocket(server: Connectable, httpServer: UpgradeSource, options: WebSocketServerOptions = {}): AttachedWebSocket {
  const sockets = new SocketHost(server, options);
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (sockets.isFor(request)) return sockets.accept(request, socket, head);
    // Node does not handle the errors of an upgraded socket: without a listener, a reset ends the process.
    socket.on('error', () => undefined);
    if (httpServer.listenerCount('upgrade') === 1) refusePath(request, socket);
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

function refusePath(request: IncomingMessage, socket: Duplex): void {
  refuseUpgrade(request, socket, new UpgradeRefusal(404, 'There is no MCP endpoint at this path'));
}

const WRITTEN: ReadonlySet<LogLevel> = new Set(['warning', 'error', 'critical', 'alert', 'emergency']);

/** Writes warnings and errors to standard error; used if the option `logger` is not set. */
const stderrLogger: Logger = {
  log(level, message, data) {
    if (WRITTEN.has(level)) process.stderr.write(`${level}: ${message}${data === undefined ? '' : ` ${inspect(data, { depth: 4 })}`}\n`);
  },
};

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
