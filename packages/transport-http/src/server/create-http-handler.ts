/** `createHttpHandler`: one endpoint, for `node:http` and for `fetch`. */

import type { AuthInfo, McpEndpoint } from '@mortise/protocol/contracts';
import { routeRequest } from './http/route-request.ts';
import { NodeExchange, type NodeRequest, type NodeResponse } from './http/node-exchange.ts';
import { type FetchInfo, WebExchange } from './http/web-exchange.ts';
import { SharedState } from './http/shared-state.ts';
import { type HttpHandlerOptions, toSettings } from './options.ts';

/** How `HttpHandler.close` ends. */
export interface CloseOptions {
  /** How long calls in flight may go on, in milliseconds. The program's stores have what is left of it, one second at least. @default 5_000 */
  readonly drainMs?: number | undefined;
}

/** What only the framework around a Node request knows. */
export interface NodeInfo {
  /** What it has verified about the caller. @default `request.auth` */
  readonly auth?: AuthInfo | undefined;
  /** The body, where it has parsed it already. @default `request.body` */
  readonly parsedBody?: unknown;
}

/** What is going on in a handler. */
export interface HttpHandlerCounts {
  readonly sessions: number;
  readonly streams: number;
  readonly calls: number;
}

/** One MCP endpoint over HTTP. Its functions may be taken off it and passed on. */
export interface HttpHandler extends AsyncDisposable {
  /** Answers a web request. Never rejects. */
  readonly fetch: (request: Request, info?: FetchInfo) => Promise<Response>;
  /** Answers a request of `node:http`: a listener for `createServer`, a handler for Express. Never rejects. */
  readonly node: (request: NodeRequest, response: NodeResponse, info?: unknown) => Promise<void>;
  /** How much is open, for tests and metrics. */
  readonly counts: HttpHandlerCounts;
  /** Takes no new request, ends listens with their result, lets calls finish, aborts what is left. Safe to call twice. */
  close(options?: CloseOptions): Promise<void>;
}

export const DEFAULT_DRAIN_MS = 5_000;

/**
 * Serves an endpoint, such as an `McpServer`, over HTTP: every revision at once, on the web platform and on `node:http`.
 *
 * It listens nowhere: give `node` to `createServer`, `fetch` to Bun, Deno or Workers, or use `serveHttp`.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an option of the wrong kind, or an unknown one.
 * @see 2026-07-28 basic/transports/streamable-http
 */
export function createHttpHandler(endpoint: McpEndpoint, options: HttpHandlerOptions = {}): HttpHandler {
  const shared = new SharedState(endpoint, toSettings(options));
  const close = ({ drainMs = DEFAULT_DRAIN_MS }: CloseOptions = {}): Promise<void> => shared.close(drainMs);
  return {
    // Express passes `next` as the third argument.
    node: (request, response, info) =>
      routeNodeRequest(shared, request, response, typeof info === 'object' && info !== null ? info : NO_INFO),
    fetch: (request, info = {}) => {
      const http = new WebExchange(shared, request, info);
      void routeRequest(http).then(() => http.settle());
      return http.response;
    },
    get counts() {
      return { sessions: shared.sessions.size, streams: shared.streams.size, calls: shared.calls.size };
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

const NO_INFO: NodeInfo = {};

/** Serves one request of `node:http`. */
export function routeNodeRequest(shared: SharedState, request: NodeRequest, response: NodeResponse, info: NodeInfo): Promise<void> {
  const given = { auth: info.auth ?? request.auth, parsedBody: info.parsedBody ?? request.body };
  return routeRequest(new NodeExchange(shared, request, response, given));
}
