/** Middleware: `server.use((call, next) => ...)` wraps all requests, or those of one method. */

import type { Clock, JsonObject, ProtocolError, RequestId } from '@mortise/jsonrpc-core';
import type { ClientCapabilities, Era, Implementation, Revision } from '@mortise/protocol';
import type { AuthInfo, CallOrigin, Principal } from '@mortise/protocol/contracts';
import type { RawSession } from '../raw-handler.ts';

/** The client's name and capabilities, as the client states them in this request or session. */
export interface ClientFacts {
  /** The client's name and version. For display and logs only, because they are not verified. */
  readonly info: Implementation | undefined;
  /** The capabilities that the client declares. */
  readonly capabilities: ClientCapabilities;
}

/** The first argument of middleware: facts of the request that is being served. */
export interface MiddlewareCall<App = unknown> {
  /** The method of the request, such as `tools/call`. */
  readonly method: string;
  /** The parameters, in the shape of the newest revision (canonical form). To change them, pass other parameters to `next`. */
  readonly params: JsonObject;
  /** The name of the tool or prompt, or the URI of the resource, that the request is about. Undefined for other methods. */
  readonly target: string | undefined;
  /** The request's JSON-RPC id. */
  readonly requestId: RequestId;
  /** The caller: a verified identity, `local` or `anonymous`. */
  readonly principal: Principal;
  /** The claims of the caller's verified token; undefined without a token. */
  readonly auth: AuthInfo | undefined;
  /** The protocol revision of the request. */
  readonly revision: Revision;
  /** The era of the revision: `legacy` or `modern`. */
  readonly era: Era;
  /** What the client states about itself. */
  readonly client: ClientFacts;
  /** The request's `_meta`. */
  readonly meta: JsonObject;
  /** Aborts when the call is cancelled, its time limit is reached, or the server closes. */
  readonly signal: AbortSignal;
  /** The app context that `options.context` made for this request. Undefined without that option. */
  readonly app: App;
  /** Facts of the HTTP request that brought the call. Undefined on other transports. */
  readonly origin: CallOrigin | undefined;
  /** The legacy session's id, if the transport has one. */
  readonly sessionId: string | undefined;
  /** The legacy session, by which a gateway tells clients apart and reaches them. Undefined in the modern era, which has no sessions. */
  readonly session: RawSession | undefined;
  /** The error for `Mcp-Param-*` headers that contradict the arguments. The server throws it, once it has found the tool for this caller. */
  readonly paramFault: ProtocolError | undefined;
  /** The server's clock. */
  readonly clock: Clock;
  /** Shares values with other middleware and with the handler (`ctx.state`). Lives as long as the request. */
  readonly state: Map<unknown, unknown>;
}

/**
 * The second argument of middleware: passes the request on to the next middleware, and finally to the handler.
 *
 * @param params Replaces the parameters for everything that follows.
 * @returns The result, in the shape of the newest revision (canonical form).
 */
export type NextMiddleware = (params?: JsonObject) => Promise<JsonObject>;

/**
 * A function that wraps the handling of requests. Returns the result of `next`, or a result of its own. A `ProtocolError` that it throws
 * becomes the error response. The middleware added first is the outermost.
 */
export type Middleware<App = unknown> = (call: MiddlewareCall<App>, next: NextMiddleware) => Promise<JsonObject> | JsonObject;
