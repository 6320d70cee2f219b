/** What stands around every request: `client.use((call, next) => ...)`, for all methods or for one. The server has the same. */

import type { JsonObject } from '@mortise/jsonrpc-core';
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

/** A middleware and the method that it is for; undefined for all. */
export interface MiddlewareEntry {
  readonly method: string | undefined;
  readonly run: ClientMiddleware;
}

/** Runs a request through those entries that are for its method, and at last through `send`. */
export function runMiddleware(
  entries: readonly MiddlewareEntry[],
  describe: (params: JsonObject) => ClientCall,
  params: JsonObject,
  send: (params: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject> {
  const { method, state } = describe(params);
  const chain = entries.filter((entry) => entry.method === undefined || entry.method === method);
  const step = async (at: number, current: JsonObject): Promise<JsonObject> => {
    const entry = chain[at];
    if (!entry) return send(current);
    return entry.run({ ...describe(current), state }, (changed) => step(at + 1, changed ?? current));
  };
  return step(0, params);
}
