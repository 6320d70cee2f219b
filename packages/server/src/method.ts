/** `Methods`: the handlers, interceptors and middleware of each method. They are combined per revision on first use, and cached. */

import type { JsonObject, MortiseError } from '@mortise/jsonrpc-core';
import { type Era, REVISIONS, type Revision } from '@mortise/protocol';
import type { ExtensionCall } from '@mortise/protocol/contracts';
import { type Convert, findRequest, type MethodFacts } from '@mortise/protocol/revisions';
import type { CapabilityBook } from './capabilities.ts';
import type { Context } from './context.ts';

export interface MethodEntry {
  /** Serves a request of this method. Params and result have the shape of the newest revision (canonical form). */
  readonly run: (params: JsonObject, context: Context) => JsonObject | Promise<JsonObject>;
  /** True if the method's handler may run without a time limit. */
  readonly isUnbounded?: boolean | undefined;
  /** The eras in which an extension's method exists. Undefined for the program's methods, which all revisions that have them serve. */
  readonly eras?: readonly Era[] | undefined;
  readonly nameParam?: string | undefined;
  /** True if requests name something that the program registered, such as a tool, and not any text from the client. */
  readonly findsByName?: boolean | undefined;
  /** Makes the result of a call that timed out or could not request input. Without this function, the client gets an error response. */
  readonly toFailedResult?: (error: MortiseError) => JsonObject;
}

/** Handles a notification that a legacy client sent. */
export type NotificationHandler = (
  notification: { readonly method: string; readonly params: JsonObject },
  call: ExtensionCall,
) => void | Promise<void>;

/** One element of a middleware chain: middleware of the program, or an interceptor of an extension. */
export type ChainLink = (context: Context, next: (params?: JsonObject) => Promise<JsonObject>) => Promise<JsonObject> | JsonObject;

interface Wrapper {
  /** The method that the middleware wraps. Undefined if it wraps all methods. */
  readonly method: string | undefined;
  readonly link: ChainLink;
}

/** Everything needed to serve requests of one method in one revision: handler, middleware and conversions. */
export interface Route {
  readonly method: string;
  readonly revision: Revision;
  /** What the revision defines for the method. Undefined for a method that only the program or an extension defines. */
  readonly facts: MethodFacts | undefined;
  readonly entry: MethodEntry;
  /** The parameter that names what the request is about, such as `name` in `tools/call` and `uri` in `resources/read`. */
  readonly nameParam: string | undefined;
  /** Middleware and interceptors, outermost first. */
  readonly chain: readonly ChainLink[];
  /** Whether the method's result may be `input_required` in some revision, after which the handler runs again. */
  readonly mayAsk: boolean;
  readonly readParams: Convert | undefined;
  readonly writeResult: Convert | undefined;
}

export class Methods {
  /** The notification handlers that the program set, by method. */
  readonly notifications: Map<string, NotificationHandler> = new Map();
  readonly #capabilities: CapabilityBook;
  readonly #entries = new Map<string, readonly MethodEntry[]>();
  readonly #middleware: Wrapper[];
  readonly #interceptors: Wrapper[] = [];
  #routes = new Map<Revision, Map<string, Route>>();

  /** @param outermost Middleware that wraps every method, outside all other middleware. */
  constructor(capabilities: CapabilityBook, outermost: ChainLink | undefined) {
    this.#capabilities = capabilities;
    this.#middleware = outermost ? [{ method: undefined, link: outermost }] : [];
  }

  /** Adds an extension's handler of a method, or sets the program's own handler. Undefined removes the program's. */
  set(method: string, entry: MethodEntry | undefined): void {
    this.#entries.set(method, withEntry(this.#entries.get(method), entry));
    this.forgetRoutes();
  }

  use(method: string | undefined, link: ChainLink): void {
    this.#middleware.push({ method, link });
    this.forgetRoutes();
  }

  /** Adds an extension's interceptor, which runs after the middleware and before the method's handler. */
  intercept(method: string, link: ChainLink): void {
    this.#interceptors.push({ method, link });
    this.forgetRoutes();
  }

  has(method: string): boolean {
    return isKnownRequest(method) || this.#entries.has(method);
  }

  /** Returns the parameter that names what a request is about, such as `name` for `tools/call` and `uri` for `resources/read`. */
  nameParam(method: string): string | undefined {
    const facts = REVISIONS.map(({ requests }) => requests.get(method));
    return [...(this.#entries.get(method) ?? []), ...facts].find((entry) => entry?.nameParam !== undefined)?.nameParam;
  }

  findRoute(revision: Revision, method: string): Route | undefined {
    let routes = this.#routes.get(revision);
    if (!routes) this.#routes.set(revision, (routes = new Map()));
    const known = routes.get(method);
    if (known) return known;
    const route = this.#createRoute(revision, method);
    // Unknown methods are not cached, because a caller could fill the memory with names.
    if (route) routes.set(method, route);
    return route;
  }

  /** Clears the cached routes after a handler or middleware was added or removed. */
  forgetRoutes(): void {
    this.#routes = new Map();
  }

  #createRoute(revision: Revision, method: string): Route | undefined {
    const facts = findRequest(revision, method, 'client');
    const entry = (this.#entries.get(method) ?? []).find(({ eras }) =>
      eras ? eras.includes(revision.era) : facts || !isKnownRequest(method),
    );
    if (!entry) return undefined;
    const needed = entry.eras ? undefined : facts?.serverCapability;
    if (needed !== undefined && !this.#capabilities.has(revision, needed)) return undefined;
    const wrappers = [...this.#middleware, ...this.#interceptors].filter((each) => each.method === undefined || each.method === method);
    return {
      method,
      revision,
      facts,
      entry,
      nameParam: this.nameParam(method),
      chain: wrappers.map(({ link }) => link),
      mayAsk: entry.eras === undefined && REVISIONS.some(({ requests }) => requests.get(method)?.inputRequired === true),
      readParams: revision.fromWire.params.get(method),
      writeResult: revision.toWire.results.get(method),
    };
  }
}

/** Adds a handler to the list of a method. Handlers of extensions come first, in the order in which they were added. */
function withEntry(entries: readonly MethodEntry[] = [], entry: MethodEntry | undefined): readonly MethodEntry[] {
  const ofExtensions = entries.filter(({ eras }) => eras);
  const own = entry?.eras ? entries.filter(({ eras }) => !eras) : [];
  return [...ofExtensions, ...(entry ? [entry] : []), ...own];
}

let knownRequests: ReadonlySet<string> | undefined;

/** Tells whether any revision of the protocol defines this request method. If none does, the program's handler serves it in all. */
export function isKnownRequest(method: string): boolean {
  return (knownRequests ??= new Set(REVISIONS.flatMap(({ requests }) => [...requests.keys()]))).has(method);
}
