/**
 * The interface between a server and its host: the code that receives requests for it (`transport-http`, an in-memory exchange,
 * a proxy).
 *
 * E1  `handle` never throws or rejects: every failure is an error response with the request's id. It responds once, after the last
 *     notification of the call was passed to `call.send`. If it need not wait, it returns the response without a promise.
 * E2  Calls are independent: they may run concurrently, even with equal ids, for one principal or several.
 * E3  After `call.signal` aborts, the server sends nothing more for the call. `handle` still settles.
 * E4  A session belongs to the principal that opened it. For a message of another principal the session does not exist.
 * E5  `state` is plain JSON that fully describes the session between calls. A session opened from it continues where it was.
 */

import type {
  Connectable,
  JsonObject,
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  Logger,
  ProtocolError,
  ServerConnection,
} from '@mortise/jsonrpc-core';
import type { AuthInfo, Principal } from './auth.ts';

/** The options of `close`, of a server and of what serves it to clients. */
export interface CloseOptions {
  /** How long requests in flight may still run, in milliseconds; then they are aborted. @default 5_000; 0 for `server.close()` */
  readonly drainMs?: number | undefined;
}

/** The HTTP request of a call. */
export interface CallOrigin {
  readonly method: string;
  /** The absolute URL of the request. */
  readonly url: string;
  /** Gives the value of a request header, by case-insensitive name. */
  header(name: string): string | undefined;
  /** The client's network address, if known. */
  readonly remoteAddress?: string;
}

/** One request, as its host sees it: its caller, the way to send messages to the caller, and whether it is cancelled. */
export interface Call {
  readonly principal: Principal;
  readonly auth?: AuthInfo | undefined;
  /** Aborts when the caller cancels or disconnects (modern era), or the host closes. Hosts create it at first access. */
  readonly signal: AbortSignal;
  /** Whether `signal` has aborted. Reading this does not create the signal. */
  readonly isCancelled: boolean;
  /** Cancels the call (legacy era): its client sent a cancelled notification, or its session closed. A second call does nothing. */
  cancel(reason: Error): void;
  /** Sends a message that belongs to this call: a notification, or in the legacy era a request to the client. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void>;
  /** Closes the stream early so that the client polls. Undefined if the host cannot. @param retryMs After which time to reconnect. */
  readonly closeStream?: ((retryMs?: number) => void) | undefined;
  readonly origin?: CallOrigin | undefined;
  /**
   * Set where an `Mcp-Param-*` header differs from the arguments of a tool call. The endpoint refuses the call with it, unless the caller may
   * not see the tool: then the response is that of an unknown tool.
   */
  readonly paramFault?: ProtocolError | undefined;
}

/** A session's connection to its client outside of calls (the GET stream, or the channel). */
export interface SessionLink {
  readonly principal: Principal;
  readonly auth?: AuthInfo | undefined;
  /** The session id, if the client knows one. Handlers see it as `ctx.sessionId`. */
  readonly sessionId?: string | undefined;
  /** Whether the server can send requests to the client: false if the program turned off streams of sessions. */
  readonly canRequest: boolean;
  /** Sends a message that belongs to no call. Rejects if there is no stream for it. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void>;
  /** Called after a message that changed `state`, so that the host can save it by compare-and-set. */
  onStateChange?(): void;
}

/** The state of a session as plain data. The server defines its content; hosts store it and return it. */
export interface SessionState extends JsonObject {
  /** The version of the format. A server rejects a format that it does not know. */
  readonly layout: number;
}

/** A session of the legacy era: its state, and the handling of its messages. */
export interface LegacySession {
  readonly state: SessionState;
  /** Handles one message. Resolves to the response to a request, and to undefined for other messages. Never rejects. */
  receive(message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined>;
  /** Aborts the session's calls and ends its subscriptions. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * The arguments of a tool that are also sent in `Mcp-Param-*` headers. A key is the name in the schema's `x-mcp-header` (`Region`, not
 * `Mcp-Param-Region`), as written there; names are unique regardless of case. The value is the path of the argument in `arguments`.
 */
export type ParamHeaders = ReadonlyMap<string, readonly string[]>;

/** A server, as its hosts see it. */
export interface McpEndpoint {
  /** Handles one modern request. @see 2026-07-28 basic/index */
  handle(request: JsonRpcRequest, call: Call): JsonRpcResponse | Promise<JsonRpcResponse>;
  /**
   * Opens a session of the legacy era: a new session, or one from its saved state.
   *
   * @throws {ProtocolError} `saved` has a layout or revision that this server does not know.
   */
  openSession(link: SessionLink, saved?: SessionState): LegacySession;
  /** Gives the `x-mcp-header` arguments of a tool, whoever may see it; undefined if it has none. */
  paramHeaders(toolName: string): ParamHeaders | undefined;
  /** Gives the parameter of an extension's method that is sent in `Mcp-Name`. For MCP's own methods see `MethodFacts.nameParam`. */
  nameParam(method: string): string | undefined;
  /** Sets the logger that the endpoint uses if the program gave it none. */
  offerLogger?(logger: Logger): void;
}

/**
 * A transport that hosts requests and calls the endpoint directly, without a connection. It is recognized by its `attach` method.
 * Without an attached endpoint it works as a plain `Transport`, so that servers of other SDKs can use it.
 */
export interface EndpointTransport {
  attach(endpoint: McpEndpoint & Connectable): Promise<ServerConnection>;
}
