/** What serves each method: handlers, interceptors and middleware, put together for a revision when first needed, and kept. */

import type { JsonObject, MortiseError } from '@mortise/jsonrpc-core';
import { type Era, REVISIONS, type Revision } from '@mortise/protocol';
import type { ExtensionCall } from '@mortise/protocol/contracts';
import { type Convert, findRequest, type MethodFacts } from '@mortise/protocol/revisions';
import type { CapabilityBook } from './capabilities.ts';
import type { Context } from './context.ts';
import { existsIn } from './era.ts';

export interface MethodEntry {
  /** Takes canonical params, gives a canonical result. */
  readonly run: (params: JsonObject, context: Context) => JsonObject | Promise<JsonObject>;
  /** True where the method may take as long as it likes. */
  readonly isUnbounded?: boolean | undefined;
  /** Where an extension's method exists; without it, the method is the program's own and is served wherever the revision has it. */
  readonly eras?: readonly Era[] | undefined;
  readonly nameParam?: string | undefined;
  /** True where the target is a name that the program has registered, and not the peer's own text. */
  readonly findsByName?: boolean | undefined;
  /** The result of a call that was stopped at its time, or could not ask what it had to; an error without. */
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

/** A method of one revision with everything that serving it needs. */
export interface Route {
  readonly method: string;
  readonly revision: Revision;
  /** What the revision says of the method; undefined for a method of the program's own, or of an extension. */
  readonly facts: MethodFacts | undefined;
  readonly entry: MethodEntry;
  /** The parameter that names what the request is about. */
  readonly targetParam: string | undefined;
  /** Middleware and interceptors, outermost first. */
  readonly chain: readonly ChainLink[];
  /** In some revision, its result may be a question to the client; the handler is then run again. */
  readonly mayAsk: boolean;
  readonly readParams: Convert | undefined;
  readonly writeResult: Convert | undefined;
}

export class Methods {
  /** The program's own handlers. */
  readonly notifications: Map<string, NotificationHandler> = new Map();
  readonly #capabilities: CapabilityBook;
  readonly #entries = new Map<string, readonly MethodEntry[]>();
  readonly #middleware: Wrapper[];
  readonly #interceptors: Wrapper[] = [];
  #routes = new Map<Revision, Map<string, Route>>();

  /** @param outermost Stands around every method. */
  constructor(capabilities: CapabilityBook, outermost: ChainLink | undefined) {
    this.#capabilities = capabilities;
    this.#middleware = outermost ? [{ method: undefined, link: outermost }] : [];
  }

  /** Adds an extension's entry, or sets the program's own; undefined takes that away. */
  set(method: string, entry: MethodEntry | undefined): void {
    this.#entries.set(method, withEntry(this.#entries.get(method), entry));
    this.forgetRoutes();
  }

  use(method: string | undefined, link: ChainLink): void {
    this.#middleware.push({ method, link });
    this.forgetRoutes();
  }

  /** Puts an extension's interceptor between the middleware and the method. */
  intercept(method: string, link: ChainLink): void {
    this.#interceptors.push({ method, link });
    this.forgetRoutes();
  }

  has(method: string): boolean {
    return isKnownRequest(method) || this.#entries.has(method);
  }

  /** The parameter of a method that names what the request is about. */
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
    // What does not exist is not kept: a caller could fill the memory with names.
    if (route) routes.set(method, route);
    return route;
  }

  /** Routes are kept until something is registered. */
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

/** Whether the protocol has a request of this name in any revision: only the program's own methods are served in all. */
export function isKnownRequest(method: string): boolean {
  return (knownRequests ??= new Set(REVISIONS.flatMap(({ requests }) => [...requests.keys()]))).has(method);
}
