/** The handlers, interceptors and middleware of each method. They are combined per revision on first use and cached. */

import type { JsonObject, MortiseError } from '@mortise/jsonrpc-core';
import { type Era, REVISIONS, type Revision } from '@mortise/protocol';
import type { ExtensionCall } from '@mortise/protocol/contracts';
import { type Convert, findRequest, type MethodFacts } from '@mortise/protocol/revisions';
import type { CapabilityBook } from './capabilities.ts';
import type { Context } from './context.ts';
import { existsIn } from './era.ts';

export interface MethodEntry {
  /** Takes canonical params, returns a canonical result. */
  readonly run: (params: JsonObject, context: Context) => JsonObject | Promise<JsonObject>;
  /** True if the method has no time limit. */
  readonly isUnbounded?: boolean | undefined;
  /** The eras in which an extension's method exists. Undefined for the program's own methods, which are served in every revision that has them. */
  readonly eras?: readonly Era[] | undefined;
  readonly nameParam?: string | undefined;
  /** True if the target is a name that the program registered, not text from the peer. */
  readonly findsByName?: boolean | undefined;
  /** Makes the result of a call that timed out or could not ask the client. Without it, the client gets an error response. */
  readonly toFailedResult?: (error: MortiseError) => JsonObject;
}

/** Handles a notification of legacy clients. */
export type NotificationHandler = (
  notification: { readonly method: string; readonly params: JsonObject },
  call: ExtensionCall,
) => void | Promise<void>;

/** Middleware, or an interceptor of an extension. */
export type ChainLink = (context: Context, next: (params?: JsonObject) => Promise<JsonObject>) => Promise<JsonObject> | JsonObject;

interface Wrapper {
  /** Undefined for every method. */
  readonly method: string | undefined;
  readonly link: ChainLink;
}

/** Everything needed to serve one method in one revision. */
export interface Route {
  readonly method: string;
  readonly revision: Revision;
  /** The revision's facts about the method. Undefined for a method of the program or of an extension. */
  readonly facts: MethodFacts | undefined;
  readonly entry: MethodEntry;
  /** The parameter that holds the name or URI the request is about. */
  readonly targetParam: string | undefined;
  /** Middleware and interceptors, outermost first. */
  readonly chain: readonly ChainLink[];
  /** Whether in some revision the result may be a question to the client, after which the handler runs again. */
  readonly mayAsk: boolean;
  readonly readParams: Convert | undefined;
  readonly writeResult: Convert | undefined;
}

export class Methods {
  /** The program's own notification handlers. */
  readonly notifications: Map<string, NotificationHandler> = new Map();
  readonly #capabilities: CapabilityBook;
  readonly #entries = new Map<string, readonly MethodEntry[]>();
  readonly #middleware: Wrapper[];
  readonly #interceptors: Wrapper[] = [];
  #routes = new Map<Revision, Map<string, Route>>();

  /** @param outermost Wraps every method. */
  constructor(capabilities: CapabilityBook, outermost: ChainLink | undefined) {
    this.#capabilities = capabilities;
    this.#middleware = outermost ? [{ method: undefined, link: outermost }] : [];
  }

  /** Adds an extension's entry, or sets the program's own. Undefined removes it. */
  set(method: string, entry: MethodEntry | undefined): void {
    this.#entries.set(method, withEntry(this.#entries.get(method), entry));
    this.forgetRoutes();
  }

  use(method: string | undefined, link: ChainLink): void {
    this.#middleware.push({ method, link });
    this.forgetRoutes();
  }

  /** Adds an extension's interceptor between the middleware and the method. */
  intercept(method: string, link: ChainLink): void {
    this.#interceptors.push({ method, link });
    this.forgetRoutes();
  }

  has(method: string): boolean {
    return isKnownRequest(method) || this.#entries.has(method);
  }

  /** Returns the parameter that holds the name or URI a method's request is about. */
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

  /** Clears the cached routes after a registration. */
  forgetRoutes(): void {
    this.#routes = new Map();
  }

  #createRoute(revision: Revision, method: string): Route | undefined {
    const facts = findRequest(revision, method, 'client');
    const entry = (this.#entries.get(method) ?? []).find(({ eras }) =>
      eras ? existsIn(eras, revision) : facts || !isKnownRequest(method),
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
      targetParam: this.nameParam(method),
      chain: wrappers.map(({ link }) => link),
      mayAsk: entry.eras === undefined && REVISIONS.some(({ requests }) => requests.get(method)?.inputRequired === true),
      readParams: revision.fromWire.params.get(method),
      writeResult: revision.toWire.results.get(method),
    };
  }
}

/** Extensions come first, in the order in which they were added. */
function withEntry(entries: readonly MethodEntry[] = [], entry: MethodEntry | undefined): readonly MethodEntry[] {
  const ofExtensions = entries.filter(({ eras }) => eras);
  const own = entry?.eras ? entries.filter(({ eras }) => !eras) : [];
  return [...ofExtensions, ...(entry ? [entry] : []), ...own];
}

let knownRequests: ReadonlySet<string> | undefined;

/** Tells whether the protocol has a request of this name in any revision. Only methods of the program's own are served in every revision. */
export function isKnownRequest(method: string): boolean {
  return (knownRequests ??= new Set(REVISIONS.flatMap(({ requests }) => [...requests.keys()]))).has(method);
}
