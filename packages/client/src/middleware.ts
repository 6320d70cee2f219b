/** Middleware around requests: `client.use((call, next) => ...)`, for all methods or for one. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Era, Implementation, Revision, ServerCapabilities } from '@mortise/protocol';
import type { Progress } from '@mortise/protocol/model';

/** The server's name, version and capabilities. */
export interface ServerFacts {
  /** The server's name and version, for display and logs only: they are not verified. */
  readonly info: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
}

/** A request on its way to the server, as middleware sees it. */
export interface ClientCall {
  readonly method: string;
  /** The parameters in the canonical model (the shapes of the newest revision). To change them, pass new ones to `next`. */
  readonly params: JsonObject;
  /** The name of the tool or prompt, or the URI of the resource, in the request; undefined for other methods. */
  readonly target: string | undefined;
  readonly revision: Revision;
  readonly era: Era;
  readonly server: ServerFacts;
  /** The signal that the program passed with the request, if any. */
  readonly signal: AbortSignal | undefined;
  /** Called for each progress notification, if the program asked for progress. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** Passes values from one middleware to another during this request. */
  readonly state: Map<unknown, unknown>;
}

/**
 * Calls the next middleware. The last middleware's `next` sends the request to the server.
 *
 * @param params Replaces the parameters for the next middleware and the server.
 * @returns The result in the canonical model (the shapes of the newest revision).
 */
export type NextClientMiddleware = (params?: JsonObject) => Promise<JsonObject>;

/** Wraps requests: returns the result of `next`, or a result of its own. The middleware added first is the outermost. */
export type ClientMiddleware = (call: ClientCall, next: NextClientMiddleware) => Promise<JsonObject> | JsonObject;

/** The middleware chain of one client. Middleware added by the program runs before middleware added by extensions. */
export class MiddlewareChain {
  isEmpty = true;
  readonly #outer: Entry[] = [];
  readonly #inner: Entry[] = [];

  /** Adds middleware of the program. @param method The method whose requests to wrap; undefined for all methods. */
  add(method: string | undefined, run: ClientMiddleware): void {
    this.isEmpty = false;
    this.#outer.push({ method, run });
  }

  /** Adds middleware of an extension. It runs after all middleware of the program. */
  addInner(method: string, run: ClientMiddleware): void {
    this.isEmpty = false;
    this.#inner.push({ method, run });
  }

  /** Runs a request through the middleware for its method, then through `send`. */
  run(call: ClientCall, send: (params: JsonObject) => Promise<JsonObject>): Promise<JsonObject> {
    const chain = [...this.#outer, ...this.#inner].filter(({ method }) => method === undefined || method === call.method);
    const step = async (at: number, params: JsonObject): Promise<JsonObject> => {
      const entry = chain[at];
      if (!entry) return send(params);
      return entry.run({ ...call, params, target: toTarget(params) }, (changed) => step(at + 1, changed ?? params));
    };
    return step(0, call.params);
  }
}

interface Entry {
  readonly method: string | undefined;
  readonly run: ClientMiddleware;
}

/** Returns the name or URI of the tool, prompt or resource in a request; undefined if it has none. */
export function toTarget({ name, uri }: JsonObject): string | undefined {
  if (typeof name === 'string') return name;
  return typeof uri === 'string' ? uri : undefined;
}
