/**
 * The joint between a server and whatever hosts exchanges for it (`transport-http`, an in-memory exchange, a proxy).
 *
 * E1  `handle` neither throws nor rejects: every failure is an error response to the request's id. It answers once, after the last
 *     notification of the call has been handed to `call.send`; where nothing waits it answers without a promise.
 * E2  Calls are independent: any number run at once, also with equal ids, for any mix of principals.
 * E3  After `call.signal` aborts nothing more is sent for the call; `handle` still settles.
 * E4  A session belongs to the principal that opened it: a message of another is answered like one to an unknown session.
 * E5  `state` is plain JSON that fully describes the session between calls; a session opened from it goes on as if never closed.
 */

import type {
  Connectable,
  JsonObject,
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  Logger,
  ServerConnection,
} from '@mortise/jsonrpc-core';
import type { AuthInfo, Principal } from './auth.ts';

/** What the host knows of the HTTP request behind a call, where there is one. */
export interface CallOrigin {
  readonly method: string;
  /** The absolute URL that was asked for. */
  readonly url: string;
  /** The value of a request header, by case-insensitive name. */
  header(name: string): string | undefined;
  /** The peer's address, where known. */
  readonly remoteAddress?: string;
}

/** One request as its host knows it: who sent it, how to reach them while it runs, and whether they still wait. */
export interface Call {
  readonly principal: Principal;
  readonly auth?: AuthInfo | undefined;
  /** Aborts when the caller cancels or leaves (modern era), or the host closes. Hosts create it when it is first read. */
  readonly signal: AbortSignal;
  /** Whether `signal` has aborted. Reading this does not create the signal. */
  readonly isCancelled: boolean;
  /** Cancels the call, for a caller that cancels by a message of its own (legacy era). Does nothing the second time. */
  cancel(reason: Error): void;
  /** Sends what belongs to this call: notifications, and requests to the client in the legacy era only. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void>;
  /** Closes the stream early so that the client polls, where the host can. @param retryMs When to come back. */
  readonly closeStream?: ((retryMs?: number) => void) | undefined;
  readonly origin?: CallOrigin | undefined;
}

/** A session's way to its client when no call is at hand (the GET stream, the channel). */
export interface SessionLink {
  readonly principal: Principal;
  readonly auth?: AuthInfo | undefined;
  /** The session's id, where the client knows it. Shown to handlers as `ctx.sessionId`. */
  readonly sessionId?: string | undefined;
  /** Whether the client can be sent requests at all: false where the program turned sessions' streams off. */
  readonly canRequest: boolean;
  /** Sends a message that belongs to no call. Rejects where no stream can carry it. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void>;
  /** Called after a message that changed `state`, so that the host can save it by compare-and-set. */
  onStateChange?(): void;
}

/** A session as plain data. The server defines what is inside; hosts store it and hand it back. */
export interface SessionState extends JsonObject {
  /** The layout of the rest. A server refuses a layout that it does not know. */
  readonly layout: number;
}

/** What `initialize` agreed on with one client, and its dispatch. */
export interface LegacySession {
  readonly state: SessionState;
  /** Takes one message. Resolves to the answer of a request, to undefined for everything else. Never rejects. */
  receive(message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined>;
  /** Aborts the session's calls and forgets its subscriptions. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * How `Mcp-Param-*` headers mirror a tool's arguments. A key is the bare name that the schema's `x-mcp-header` gives (`Region`, not
 * `Mcp-Param-Region`), in its spelling there and unique without regard to case; its value is the path of the argument in `arguments`.
 */
export type ParamHeaders = ReadonlyMap<string, readonly string[]>;

/** A server, as hosts of exchanges see it. */
export interface McpEndpoint {
  /** Answers one modern request. @see 2026-07-28 basic/index */
  handle(request: JsonRpcRequest, call: Call): JsonRpcResponse | Promise<JsonRpcResponse>;
  /**
   * Opens a session of the legacy era, new or from its saved state.
   *
   * @throws {ProtocolError} When `saved` has a layout or revision that this server does not know.
   */
  openSession(link: SessionLink, saved?: SessionState): LegacySession;
  /**
   * The annotated arguments of a tool that this caller may see; undefined when there are none.
   *
   * @param caller What else rules of visibility look at. @default nothing is known but the principal
   */
  paramHeaders(toolName: string, principal: Principal, caller?: Pick<Call, 'auth' | 'origin'>): ParamHeaders | undefined;
  /** The parameter of an extension's method that `Mcp-Name` mirrors. Revisions say it of their own methods (`MethodFacts.nameParam`). */
  nameParam(method: string): string | undefined;
  /** Where to write, for as long as the program has given the endpoint no logger of its own. @default it is offered none */
  offerLogger?(logger: Logger): void;
}

/**
 * A transport that hosts exchanges and takes the endpoint itself instead of a connection. Found by `attach`; while nothing is
 * attached it is a plain `Transport`, so that other SDKs' servers can use it.
 */
export interface EndpointTransport {
  attach(endpoint: McpEndpoint & Connectable): Promise<ServerConnection>;
}
