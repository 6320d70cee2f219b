/** `@mortise/transport-http/hono`: an MCP endpoint in a Hono application, on any platform that Hono runs on. */

import type { McpEndpoint } from '@mortise/protocol/contracts';
import { createMount } from './mount.ts';
import type { HttpHandler } from './server/create-http-handler.ts';
import { isLoopbackAddress, type NodeRequest } from './server/http/node-exchange.ts';
import type { FetchInfo } from './server/http/web-exchange.ts';
import type { HttpHandlerOptions } from './server/options.ts';

/** The members of a Hono context that `mountOnHono` uses. */
export interface HonoContextLike {
  readonly req: { readonly raw: Request };
  /** The platform's environment. `@hono/node-server` puts Node's request here. */
  readonly env?: unknown;
  /** The response so far, with the headers that middleware has set. */
  readonly res?: { readonly headers: { get(name: string): string | null } };
}

/** The members of a Hono application that `mountOnHono` uses. */
export interface HonoLike {
  all(path: string, handler: (context: HonoContextLike) => Promise<Response>): unknown;
}

/**
 * Mounts an MCP endpoint on a Hono application. If the platform does not report the socket's address, only loopback hosts and
 * `allowedHosts` are accepted.
 *
 * @param options.path @default '/mcp'
 * @param options.logger @default none, because platforms log in different ways
 * @returns The handler. Close it together with the application.
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: the application or the endpoint is missing, or an option is invalid.
 */
export function mountOnHono(app: HonoLike, endpoint: McpEndpoint, options: HttpHandlerOptions = {}): HttpHandler {
  const { handler, paths } = createMount(app, endpoint, options);
  for (const path of paths) app.all(path, (context) => handler.fetch(context.req.raw, toInfo(context)));
  return handler;
}

function toInfo(context: HonoContextLike): FetchInfo {
  const { env } = context;
  // Hono makes the response when it is read, which only pages need.
  const allowedOrigin = context.req.raw.headers.has('origin') ? context.res?.headers.get('access-control-allow-origin') : undefined;
  const page = allowedOrigin ? { allowedOrigin } : {};
  const incoming = typeof env === 'object' && env !== null ? (env as { readonly incoming?: Partial<NodeRequest> }).incoming : undefined;
  const socket = incoming?.socket;
  if (socket === undefined || socket === null) return page;
  const { localAddress, remoteAddress } = socket;
  return { ...page, remoteAddress, isLoopback: localAddress === undefined ? undefined : isLoopbackAddress(localAddress) };
}
