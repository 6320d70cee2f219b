/** Middleware around requests: `client.use((call, next) => ...)`, for all methods or for one. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Era, Implementation, Revision, ServerCapabilities } from '@mortise/protocol';
import type { Progress } from '@mortise/protocol/model';

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
  /** The caller's signal, if it gave one. */
  readonly signal: AbortSignal | undefined;
  /** Called for each progress notification, if the caller asked for progress. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** For values that one middleware passes to another. Lives as long as the request. */
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

/** The middleware of one client: the program's, and within it that of its extensions. */
export class MiddlewareChain {
  isEmpty = true;
  readonly #outer: Entry[] = [];
  readonly #inner: Entry[] = [];

  /** @param method Undefined for all. */
  add(method: string | undefined, run: ClientMiddleware): void {
    this.isEmpty = false;
    this.#outer.push({ method, run });
  }

  /** Adds middleware within all that the program adds. */
  addInner(method: string, run: ClientMiddleware): void {
    this.isEmpty = false;
    this.#inner.push({ method, run });
  }

  /** Runs a request through the middleware for its method, and at last through `send`. */
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

/** The tool, prompt or resource that a request is about. */
export function toTarget({ name, uri }: JsonObject): string | undefined {
  if (typeof name === 'string') return name;
  return typeof uri === 'string' ? uri : undefined;
}
