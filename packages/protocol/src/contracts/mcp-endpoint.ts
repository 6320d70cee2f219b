/**
 * The interface between a server and its host. A host is the code that receives requests for the server (`transport-http`, an in-memory
 * exchange, a proxy).
 *
 * E1  `handle` never throws or rejects: every failure is an error response with the request's id. It responds once, after the last
 *     notification of the call was passed to `call.send`. If it can respond at once, it returns the response itself, not a promise.
 * E2  Calls are independent: they may run concurrently, even with equal ids, for one principal or several.
 * E3  After `call.signal` aborts, the server sends nothing more for the call. The promise that `handle` returned still resolves.
 * E4  A session belongs to the principal that opened it. A message of another principal gets the same response as if the session did not
 *     exist.
 * E5  `state` is plain JSON that fully describes the session between calls. A session that is opened from a saved `state`, or restores it,
 *     continues where the saved one was. Its calls in progress, and its requests to the client, continue too.
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

/** The HTTP request that a call arrived in. */
export interface CallOrigin {
  readonly method: string;
  /** The absolute URL of the HTTP request. */
  readonly url: string;
  /** Returns the value of a header of the HTTP request; the case of the name does not matter. */
  header(name: string): string | undefined;
  /** The network address of the client, if known. */
  readonly remoteAddress?: string;
}

/** One request to a server: its caller, how to send messages to the caller, and whether it is cancelled. Made by the server's host. */
export interface Call {
  readonly principal: Principal;
  readonly auth?: AuthInfo | undefined;
  /** Aborts when the caller cancels or disconnects (modern era), or the host closes. Hosts create the signal at first access. */
  readonly signal: AbortSignal;
  /** Whether `signal` has aborted. Reading this does not create the signal. */
  readonly isCancelled: boolean;
  /** Cancels this request because of `notifications/cancelled` or a closed session (legacy era). A second call does nothing. */
  cancel(reason: Error): void;
  /** Sends the caller a message that belongs to this request: a notification, or in the legacy era a request to the client. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void>;
  /** Closes the request's SSE stream early; the client then polls. Undefined if impossible. @param retryMs When the client reconnects. */
  readonly closeStream?: ((retryMs?: number) => void) | undefined;
  readonly origin?: CallOrigin | undefined;
  /**
   * The error for an `Mcp-Param-*` header that differs from the arguments of a tool call. The server responds with this error, unless the
   * caller may not see the tool: then it responds as for an unknown tool.
   */
  readonly paramFault?: ProtocolError | undefined;
}

/** How a legacy session reaches its client outside of requests: by the GET stream of HTTP, or by a two-way connection. */
export interface SessionLink {
  readonly principal: Principal;
  readonly auth?: AuthInfo | undefined;
  /** The session id, if the client was given one. Handlers see it as `ctx.sessionId`. */
  readonly sessionId?: string | undefined;
  /** Whether the server can send requests to the client. False if the program turned off the streams that such requests need. */
  readonly canRequest: boolean;
  /** Sends the client a message that belongs to no request. Rejects if there is no stream to send it on. */
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void>;
  /** Ends the connection of the stream for such messages; the client resumes it. Undefined if the client cannot. */
  readonly closeStream?: (() => void) | undefined;
  /** Called after a message changed the session's `state`, so that the host can save the state by compare-and-set. */
  onStateChange?(): void;
}

/** The state of a legacy session as plain data. The server defines its content; hosts store it and pass it back. */
export interface SessionState extends JsonObject {
  /** The version of the format of this state. A server rejects a format that it does not know. */
  readonly layout: number;
}

/** A session of the legacy era: its state, and the functions that handle its messages and close it. */
export interface LegacySession {
  readonly state: SessionState;
  /**
   * Settles when the session gets the events of all that its client listens to, after `openSession` with a saved state and after `restore`.
   * Rejects if a message bus fails; close the session then.
   */
  readonly ready: Promise<void>;
  /** Handles one message of the client. Resolves to the response to a request, and to undefined for other messages. Never rejects. */
  receive(message: JsonRpcMessage, call: Call): Promise<JsonRpcResponse | undefined>;
  /**
   * Takes over the state of this session that another machine has saved. Does not call `onStateChange`.
   *
   * @throws {ProtocolError} `saved` has a layout or revision that this server does not know. The session is then unchanged.
   */
  restore(saved: SessionState): void;
  /** Sends the client a change of each list and resource that it listens to, because some may not have reached it. */
  announceAll(): void;
  /** Aborts the session's requests and ends its subscriptions. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * The arguments of a tool that are also sent in `Mcp-Param-*` headers. A key is the name that `x-mcp-header` in the input schema gives
 * (`Region`, not `Mcp-Param-Region`), as written there; names are unique regardless of case. The value is the path of the argument in
 * `arguments`.
 */
export type ParamHeaders = ReadonlyMap<string, readonly string[]>;

/** A server as its hosts see it. A host is the code that receives requests for a server, such as an HTTP transport. */
export interface McpEndpoint {
  /** Handles one request of the modern era. Legacy requests go to a session of `openSession`. @see 2026-07-28 basic/index */
  handle(request: JsonRpcRequest, call: Call): JsonRpcResponse | Promise<JsonRpcResponse>;
  /**
   * Opens a session of the legacy era: a new session, or a saved one that continues.
   *
   * @throws {ProtocolError} `saved` has a layout or revision that this server does not know.
   */
  openSession(link: SessionLink, saved?: SessionState): LegacySession;
  /** Returns the arguments of a tool that have `x-mcp-header`, even if the caller may not see the tool; undefined if it has none. */
  paramHeaders(toolName: string): ParamHeaders | undefined;
  /** Returns the parameter of a method that HTTP also sends in `Mcp-Name`; undefined if it has none. */
  nameParam(method: string): string | undefined;
  /** Sets the logger that the server uses if the program gave it none. */
  offerLogger?(logger: Logger): void;
}

/**
 * A transport that receives requests itself and passes them directly to the server, its endpoint, without a connection. It is recognized by
 * its `attach` method. Without an attached endpoint it works as a plain `Transport`, so that servers of other SDKs can use it.
 */
export interface EndpointTransport {
  attach(endpoint: McpEndpoint & Connectable): Promise<ServerConnection>;
}
