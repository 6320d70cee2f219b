/** `@mortise/client/middleware`: the types of what stands around requests: `client.use((call, next) => ...)`, for all methods or for one. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Progress } from '@mortise/protocol/model';
import type { Era, Implementation, Revision, ServerCapabilities } from '@mortise/protocol';

/** Who the server says it is and what it can do. */
export interface ServerFacts {
  /** For display and logs only: it is not verified. */
  readonly info: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
}

/** A request on its way to the server, as middleware sees it. */
export interface ClientCall {
  readonly method: string;
  /** The parameters in the canonical model. To change them, hand others to `next`. */
  readonly params: JsonObject;
  /** What the request is about: a tool's or prompt's name, a resource's URI; undefined for other methods. */
  readonly target: string | undefined;
  readonly revision: Revision;
  readonly era: Era;
  readonly server: ServerFacts;
  /** The caller's signal, where there is one. */
  readonly signal: AbortSignal | undefined;
  /** Told each step of progress, where the caller wants to know. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** A place for what one middleware wants to tell another. Lives as long as the request. */
  readonly state: Map<unknown, unknown>;
}

/**
 * Goes on with the request: the next middleware, at last the server.
 *
 * @param params Replaces the parameters for what comes after.
 * @returns The result in the canonical model.
 */
export type NextClientMiddleware = (params?: JsonObject) => Promise<JsonObject>;

/** Wraps requests. Gives back the result, that of `next` or one of its own. The first one added is the outermost. */
export type ClientMiddleware = (call: ClientCall, next: NextClientMiddleware) => Promise<JsonObject> | JsonObject;
