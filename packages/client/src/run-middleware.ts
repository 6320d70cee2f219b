/** Runs a request through the middleware that stands around it. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { ClientCall, ClientMiddleware } from './middleware.ts';

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
