/** What serves a method, and a method of one revision with everything that serving it needs, looked up once and kept. */

import type { JsonObject, MortiseError } from '@mortise/jsonrpc-core';
import { type Era, REVISIONS, type Revision } from '@mortise/protocol';
import type { ExtensionCall } from '@mortise/protocol/contracts';
import type { Convert, MethodFacts } from '@mortise/protocol/revisions';
import type { Context } from './context.ts';

export interface MethodEntry {
  /** Takes canonical params, gives a canonical result. */
  readonly run: (params: JsonObject, context: Context) => JsonObject | Promise<JsonObject>;
  /** True where the method may take as long as it likes. */
  readonly isUnbounded?: boolean | undefined;
  /** Where an extension's method exists; a method without is served wherever the revision has it. */
  readonly eras?: readonly Era[] | undefined;
  readonly nameParam?: string | undefined;
  /** True where the target is a name that the program has registered, and not the peer's own text. */
  readonly findsByName?: boolean | undefined;
  /** The result of a call that was stopped at its time, or could not ask what it had to; an error without. */
  readonly toFailedResult?: (error: MortiseError) => JsonObject;
}

export interface NotificationEntry {
  readonly eras?: readonly Era[] | undefined;
  readonly run: (params: JsonObject, call: ExtensionCall) => void | Promise<void>;
}

/** Stands between the middleware and the method: what extensions put in front. */
export type Interceptor = (context: Context, next: () => Promise<JsonObject>) => Promise<JsonObject>;

/** What a chain consists of: middleware and interceptors, by one signature. */
export type ChainLink = (context: Context, next: (params?: JsonObject) => Promise<JsonObject>) => Promise<JsonObject> | JsonObject;

export interface RouteInit {
  readonly method: string;
  readonly revision: Revision;
  /** What the revision says of the method; undefined for a method of the program's own, or of an extension. */
  readonly facts?: MethodFacts | undefined;
  readonly entry: MethodEntry;
  /** The parameter that names what the request is about. */
  readonly targetParam?: string | undefined;
  /** What stands around the method, outermost first. */
  readonly chain: readonly ChainLink[];
}

/** A method of one revision with everything that serving it needs. */
export interface Route extends RouteInit {
  /** Its handler may answer by a question, in some revision, and is then run again. */
  readonly mayAsk: boolean;
  readonly readParams: Convert | undefined;
  readonly writeResult: Convert | undefined;
}

export function createRoute(init: RouteInit): Route {
  const { method, revision, entry } = init;
  return {
    ...init,
    mayAsk: entry.eras === undefined && REVISIONS.some(({ requests }) => requests.get(method)?.inputRequired === true),
    readParams: revision.fromWire.params.get(method),
    writeResult: revision.toWire.results.get(method),
  };
}

let knownRequests: ReadonlySet<string> | undefined;

/** Whether the protocol has a request of this name in any revision: only the program's own methods are served in all. */
export function isKnownRequest(method: string): boolean {
  return (knownRequests ??= new Set(REVISIONS.flatMap(({ requests }) => [...requests.keys()]))).has(method);
}
