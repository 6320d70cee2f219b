/** What stands around every request: `server.use((call, next) => ...)`, for all methods or for one. */

import type { JsonObject, RequestId } from '@mortise/jsonrpc-core';
import type { ClientCapabilities, Era, Implementation, Revision } from '@mortise/protocol';
import type { AuthInfo, CallOrigin, Principal } from '@mortise/protocol/contracts';

/** Who the client says it is and what it says it can do, for this request. */
export interface ClientFacts {
  /** For display and logs only: it is not verified. */
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}

/** A request on its way to its handler, as middleware sees it. */
export interface MiddlewareCall<App = unknown> {
  readonly method: string;
  /** The parameters in the canonical model. To change them, hand others to `next`. */
  readonly params: JsonObject;
  /** What the request is about: a tool's or prompt's name, a resource's URI; undefined for other methods. */
  readonly target: string | undefined;
  readonly requestId: RequestId;
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly revision: Revision;
  readonly era: Era;
  readonly client: ClientFacts;
  /** The request's `_meta`. */
  readonly meta: JsonObject;
  /** Aborted when the call is cancelled, its bound is reached, or the server closes. */
  readonly signal: AbortSignal;
  /** What `options.context` made for this request; undefined without that option. */
  readonly app: App;
  /** The HTTP request behind the call, where there is one. */
  readonly origin: CallOrigin | undefined;
  /** The legacy session's id, where the transport has one. */
  readonly sessionId: string | undefined;
  /** A place for what one middleware wants to tell another, or a handler (`ctx.state`). Lives as long as the request. */
  readonly state: Map<unknown, unknown>;
}

/**
 * Goes on with the request: the next middleware, at last the handler.
 *
 * @param params Replaces the parameters for what comes after.
 * @returns The result in the canonical model, but for lists: their items have the shape of the caller's revision.
 */
export type NextMiddleware = (params?: JsonObject) => Promise<JsonObject>;

/**
 * Wraps requests. Gives back the result, that of `next` or one of its own; a `ProtocolError` that it throws is the answer.
 * The first one added is the outermost.
 */
export type Middleware<App = unknown> = (call: MiddlewareCall<App>, next: NextMiddleware) => Promise<JsonObject> | JsonObject;
