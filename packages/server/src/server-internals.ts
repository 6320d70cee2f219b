/** What a server shares with the parts that it is made of. `Server` is the only one to implement it. */

import type { Clock, JsonObject, JsonRpcRequest, JsonRpcResponse, Logger } from '@mortise/jsonrpc-core';
import type { Implementation, Revision } from '@mortise/protocol';
import type { ListRootsResult } from '@mortise/protocol/model';
import type { Ask, AskInterceptor, Call, ListenFilter, ServerExtension } from '@mortise/protocol/contracts';
import type { UrlElicitationData } from '@mortise/protocol/wire';
import type { Round } from './asks/round.ts';
import type { CapabilityBook } from './capabilities.ts';
import type { Context } from './context.ts';
import type { Deadlines } from './deadlines.ts';
import type { Events } from './events.ts';
import type { AskOptions } from './handler-context.ts';
import type { MethodEntry, NotificationEntry, Route } from './method.ts';
import type { ServerOptions } from './options.ts';
import type { Session } from './session.ts';

/** An answer; a plain one where nothing waits, so that it costs no promise. */
export type Answer = JsonRpcResponse | Promise<JsonRpcResponse>;

/** A connection that the server ends when it closes. */
export interface OpenConnection {
  drain(deadlineMs: number): Promise<void>;
}

/** A `subscriptions/listen` that the server ends when it closes. */
export interface OpenListen {
  readonly host: Call;
  end(): Promise<void>;
}

export interface ServerInternals {
  readonly info: Implementation;
  readonly options: ServerOptions;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Those that are spoken here, newest first. */
  readonly revisions: readonly Revision[];
  readonly versions: readonly string[];
  readonly capabilities: CapabilityBook;
  readonly deadlines: Deadlines;
  readonly events: Events;
  readonly extensions: readonly ServerExtension[];
  /** What extensions put around questions to clients of the legacy era. */
  readonly askInterceptors: AskInterceptor[];
  /** What extensions add to the filter of `subscriptions/listen`. */
  readonly listenFilters: ListenFilter[];
  readonly connections: Set<OpenConnection>;
  readonly sessions: Set<Session>;
  readonly listens: Set<OpenListen>;
  /** Answers one request. Neither throws nor rejects. */
  serve(request: JsonRpcRequest, call: Call, session?: Session): Answer;
  /** What serves a method in a revision; undefined where the answer is -32601. */
  findRoute(revision: Revision, method: string): Route | undefined;
  /** Who handles a notification: the program first, then extensions. */
  findNotificationHandlers(revision: Revision, method: string): readonly NotificationEntry[];
  setMethod(method: string, entry: MethodEntry): void;
  hasMethod(method: string): boolean;
  /** Advertises what registering something shows. What the program declares wins. */
  registerCapability(name: string, capability: JsonObject): void;
  /** Logs a warning the first time that it is given. */
  warnOnce(message: string): void;
  /** Uses what asks the client: at once where it is loaded, so that questions asked in one turn stay together. */
  withAsks<T>(use: (asks: Asks) => Promise<T>): Promise<T>;
}

/** What asks the client (`asks/asks.ts`), loaded when a handler first asks. */
export interface Asks {
  elicit(context: Context, params: unknown, options?: AskOptions): Promise<unknown>;
  askClient(context: Context, method: string, params?: JsonObject, options?: AskOptions): Promise<JsonObject>;
  listRoots(context: Context, options?: AskOptions): Promise<ListRootsResult>;
  /** Puts a prepared question: as a request where there is a session, else as part of a round. */
  send(context: Context, ask: Ask): Promise<JsonObject>;
  /** Opens what earlier rounds of a request left, or begins the first. */
  openRound(context: Context): Promise<Round>;
  /** Runs the handler of a request that goes on with an earlier one. */
  resume(context: Context): Promise<JsonObject>;
  /** What becomes of a result that asks, written by hand. */
  askByHand(context: Context, result: JsonObject): Promise<JsonObject>;
  /** What becomes of a handler's error that the user has to open pages first. */
  askForPages(context: Context, pages: UrlElicitationData['elicitations']): Promise<JsonObject>;
}
