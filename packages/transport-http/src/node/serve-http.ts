/** `serveHttp`: one line from a server to a port. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { McpEndpoint } from '@mortise/protocol/contracts';
import { createHttpHandler, type HttpHandler } from '../server/handler.ts';
import type { HttpHandlerOptions } from '../server/options.ts';

/** The options of `serveHttp`, beside those of `createHttpHandler`. */
export interface ServeHttpOptions extends HttpHandlerOptions {
  /** 0 for any that is free. */
  readonly port: number;
  /** The address to listen on. Anything but loopback is open to the network: give a `tokenVerifier`. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** @default '/mcp' */
  readonly path?: string | undefined;
  /** Closes the server when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** How long calls in flight may go on when the server closes, in milliseconds. @default 5_000 */
  readonly drainMs?: number | undefined;
}

/** A server that listens. */
export interface HttpServing extends AsyncDisposable {
  /** Where clients connect. */
  readonly url: string;
  readonly port: number;
  readonly handler: HttpHandler;
  readonly server: Server;
  /** Stops listening and closes the handler. Safe to call twice. */
  close(): Promise<void>;
}

const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 15_000;
const CHECK_EVERY_MS = 5_000;

/**
 * Serves an endpoint, such as an `McpServer`, on a port of its own.
 *
 * Resolves once it listens. `signal` closes it later; one that has aborted already rejects with its reason.
 *
 * @throws What `listen` fails with: a port in use, an address that is not this machine's.
 */
export async function serveHttp(endpoint: McpEndpoint, options: ServeHttpOptions): Promise<HttpServing> {
  const { port, host = '127.0.0.1', path = '/mcp', signal, drainMs, ...rest } = options;
  signal?.throwIfAborted();
  const handler = createHttpHandler(endpoint, { ...rest, path });
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
  });
  server.maxHeadersCount = 0;
  server.on('request', (request, response) => void handler.node(request, response));
  await listen(server, port, host);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeAll(server, handler, drainMs));
  signal?.addEventListener('abort', () => void close(), { once: true });
  const bound = server.address() as AddressInfo;
  return { url: `http://${toUrlHost(host)}:${bound.port}${path}`, port: bound.port, handler, server, close, [Symbol.asyncDispose]: close };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

async function closeAll(server: Server, handler: HttpHandler, drainMs: number | undefined): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  await handler.close(drainMs === undefined ? {} : { drainMs });
  server.closeAllConnections();
  await closed;
}

function toUrlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
