/** `serveHttp`: serves an MCP endpoint on a port. */

import { createServer, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { guardLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { toReachableHost } from '@mortise/protocol/edge';
import { HttpOptionError } from '../errors.ts';
import { createHttpHandler, DEFAULT_DRAIN_MS, type HttpHandler } from '../server/create-http-handler.ts';
import type { ServeHttpOptions } from '../server/options.ts';
import { stderrLogger } from './stderr-logger.ts';

/** An HTTP server that listens on a port, as `serveHttp` returns it. */
export interface HttpServing extends AsyncDisposable {
  /** The URL of the MCP endpoint, to give to clients. */
  readonly url: string;
  /** The port that the server listens on. */
  readonly port: number;
  /** The handler that serves the requests. */
  readonly handler: HttpHandler;
  /** Node's HTTP server. */
  readonly server: Server;
  /**
   * Stops listening, closes the handler, and waits up to `drainMs` for pending responses to be sent; then drops the rest. Safe to call
   * twice.
   */
  close(): Promise<void>;
}

const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 15_000;
const CHECK_EVERY_MS = 5_000;

/**
 * Serves an MCP endpoint, such as an `McpServer`, on a port of its own.
 *
 * Resolves when the server listens. Aborting `signal` closes the server. If it does not listen yet, `serveHttp` rejects with the reason.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an option is invalid or the port is missing. `ERR_LISTEN`: the port is in use or not
 * allowed, or the host is not an address of this machine.
 */
export async function serveHttp(endpoint: McpEndpoint, options: ServeHttpOptions): Promise<HttpServing> {
  const { port, host = '127.0.0.1', path = '/mcp', signal, drainMs = DEFAULT_DRAIN_MS } = options ?? {};
  const logger = guardLogger(options?.logger ?? stderrLogger);
  const handler = createHttpHandler(endpoint, { ...options, path, logger });
  checkPort(port);
  signal?.throwIfAborted();
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  });
  server.maxHeadersCount = 0;
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', handler.node);
  await listen(server, port, host);
  const logError = (error: unknown): void => logger.log('error', 'The HTTP server failed', { error: String(error) });
  // A connection that cannot be accepted, for example without free descriptors, must not end the process.
  server.on('error', logError);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    signal?.removeEventListener('abort', onAbort);
    return (closing ??= closeAll({ server, sockets, handler }, drainMs));
  };
  const onAbort = (): void => void close().catch(logError);
  signal?.addEventListener('abort', onAbort);
  if (signal?.aborted === true) {
    await close();
    throw signal.reason;
  }
  const bound = server.address() as AddressInfo;
  return {
    url: `http://${toAuthority(toReachableHost(host), bound.port)}${path}`,
    port: bound.port,
    handler,
    server,
    close,
    [Symbol.asyncDispose]: close,
  };
}

const PORT_HELP = 'give a whole number from 0 to 65535, such as serveHttp(server, { port: 3000 }), or 0 for any free port';

function checkPort(port: unknown): asserts port is number {
  if (port === undefined) throw new HttpOptionError(`The option "port" is missing: ${PORT_HELP}`);
  if (Number.isInteger(port) && (port as number) >= 0 && (port as number) <= 65_535) return;
  const shown = typeof port === 'string' ? JSON.stringify(port.slice(0, 20)) : String(port);
  throw new HttpOptionError(`The option "port" cannot be ${shown}: ${PORT_HELP}`);
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(toListenError(error, host, port));
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

const REASONS: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: () => 'another program listens there: end it, give another "port", or 0 for any that is free',
  EACCES: (_host, port) => `this user may not open port ${port}: give a port from 1024 on, or 0 for any free port`,
  EADDRNOTAVAIL: (host) => `"${host}" is not an address of this machine: set "host" to one of its addresses, or leave it out for loopback`,
  ENOTFOUND: (host) => `"${host}" cannot be resolved: set "host" to an address of this machine, or leave it out for loopback`,
};

function toListenError(error: NodeJS.ErrnoException, host: string, port: number): HttpOptionError {
  const { code: errno } = error;
  const reason = REASONS[errno ?? '']?.(host, port) ?? error.message;
  return new HttpOptionError(`Cannot listen on ${toAuthority(host, port)}: ${reason}`, { code: 'ERR_LISTEN', errno, cause: error });
}

interface Open {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
  readonly handler: HttpHandler;
}

async function closeAll({ server, sockets, handler }: Open, drainMs: number): Promise<void> {
  const deadlineMs = performance.now() + drainMs;
  // `close` of `node:http` also closes idle connections, among which it counts those whose response is still being written.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  // Also upgraded sockets, which the HTTP server does not track.
  const destroyAll = (): void => sockets.forEach((socket) => socket.destroy());
  try {
    await handler.close({ drainMs });
    const deadline = systemClock.schedule(destroyAll, Math.max(0, deadlineMs - performance.now()), { keepAlive: true });
    await untilSent(sockets);
    deadline.cancel();
  } finally {
    destroyAll();
    await closed;
  }
}

/** Waits until Node has handed all written data to the operating system, or the connections are closed. */
async function untilSent(sockets: ReadonlySet<Socket>): Promise<void> {
  for (let sending = findSending(sockets); sending.length > 0; sending = findSending(sockets)) await Promise.all(sending.map(drained));
}

/** Resolves when all earlier writes to a socket are done: an empty write comes last. `drain` is only emitted if the buffer was full. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.writableEnded) socket.once('close', () => resolve());
    else socket.write('', () => resolve());
  });
}

function findSending(sockets: ReadonlySet<Socket>): readonly Socket[] {
  return Array.from(sockets).filter(({ writableLength, destroyed }) => writableLength > 0 && !destroyed);
}

function toAuthority(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
