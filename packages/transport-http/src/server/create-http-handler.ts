/** `createHttpHandler`: serves an MCP endpoint to requests of `node:http` and `fetch`. */

import type { AuthInfo, CloseOptions, McpEndpoint } from '@mortise/protocol/contracts';
import { routeRequest } from './http/route-request.ts';
import { NodeExchange, type NodeRequest, type NodeResponse } from './http/node-exchange.ts';
import { type FetchInfo, WebExchange } from './http/web-exchange.ts';
import { SharedState } from './http/shared-state.ts';
import { type HttpHandlerOptions, toSettings } from './options.ts';

/** What a web framework already knows about a Node request. */
export interface NodeInfo {
  /** The authenticated caller, if the framework has verified it. @default `request.auth` */
  readonly auth?: AuthInfo | undefined;
  /** The parsed body, if the framework has already read it. @default `request.body` */
  readonly parsedBody?: unknown;
}

/** The numbers of open calls, sessions and streams of a handler. */
export interface HttpHandlerCounts {
  /** The open legacy sessions. */
  readonly sessions: number;
  /** The open streams: `subscriptions/listen`, GET and HTTP+SSE. */
  readonly streams: number;
  /** The requests that are being served. */
  readonly calls: number;
}

/** Serves an MCP endpoint over HTTP. Its functions do not use `this`, so they can be passed on their own. */
export interface HttpHandler extends AsyncDisposable {
  /** Responds to a web `Request`, on Bun, Deno, Workers and others. Never rejects. */
  readonly fetch: (request: Request, info?: FetchInfo) => Promise<Response>;
  /** Responds to a request of `node:http`: a listener for `createServer`, or a handler for Express. Never rejects. */
  readonly node: (request: NodeRequest, response: NodeResponse, info?: unknown) => Promise<void>;
  /** The numbers of open calls, sessions and streams now, for tests and metrics. */
  readonly counts: HttpHandlerCounts;
  /** Refuses new requests, ends each `subscriptions/listen`, waits for other calls, then aborts those that are left. Safe to call twice. */
  close(options?: CloseOptions): Promise<void>;
}

export const DEFAULT_DRAIN_MS = 5_000;

/**
 * Serves an MCP endpoint, such as an `McpServer`, over HTTP, in every revision, to requests of `fetch` and `node:http`.
 *
 * Does NOT listen on a port: pass `node` to `createServer` or `fetch` to Bun, Deno or Workers, or use `serveHttp`.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an option is unknown or has an invalid value.
 * @see 2026-07-28 basic/transports/streamable-http
 */
export function createHttpHandler(endpoint: McpEndpoint, options: HttpHandlerOptions = {}): HttpHandler {
  const shared = new SharedState(endpoint, toSettings(options));
  const close = ({ drainMs = DEFAULT_DRAIN_MS }: CloseOptions = {}): Promise<void> => shared.close(drainMs);
  return {
    // Express passes `next` as the third argument.
    node: (request, response, info) =>
      routeNodeRequest(shared, request, response, typeof info === 'object' && info !== null ? info : NO_INFO),
    fetch: (request, info = {}) => routeWebRequest(shared, request, info),
    get counts() {
      return { sessions: shared.sessions.size, streams: shared.streams.size, calls: shared.calls.size };
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

const NO_INFO: NodeInfo = {};

/** Serves one web `Request`. */
export function routeWebRequest(shared: SharedState, request: Request, info: FetchInfo): Promise<Response> {
  const http = new WebExchange(shared, request, info);
  void routeRequest(http).then(() => http.settle());
  return http.response;
}

/** Serves one request of `node:http`. */
export function routeNodeRequest(shared: SharedState, request: NodeRequest, response: NodeResponse, info: NodeInfo): Promise<void> {
  const given = { auth: info.auth ?? request.auth, parsedBody: info.parsedBody ?? request.body };
  return routeRequest(new NodeExchange(shared, request, response, given));
}
