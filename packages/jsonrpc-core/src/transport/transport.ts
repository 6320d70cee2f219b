/// <reference lib="esnext.disposable" preserve="true" />

/**
 * The interface between MCP and the transports that carry its messages. `Transport` has the same six members as in the official SDK, so existing
 * custom transports work unchanged. The numbered guarantees are the ids of the test cases in `@mortise/transport-testkit`.
 */

import type { Logger } from '../instruments.ts';
import type { JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, RequestId } from '../message.ts';

/** What a transport may report about a message besides its content. */
export interface MessageInfo {
  /** The verified sender of the message, as an opaque principal (see `@mortise/protocol/contracts`). */
  readonly principal?: string | undefined;
  /** What the transport knows about the sender, for example the claims of the verified token. Passed to handlers unchanged. */
  readonly auth?: unknown;
  /**
   * The size of the message's text in bytes (`measureMessage` of `/messages` counts it). May be left out for short messages. A `Connection` limits
   * requests in flight by it (`maxInFlightBytes`).
   */
  readonly bytes?: number | undefined;
  /** How many bytes of responses the peer had not read when the message arrived. They count as in flight. @default 0 */
  readonly unreadBytes?: number | undefined;
}

/** The part of a request's options by which a transport can pause its timeouts. */
export interface WaitingCaller {
  /**
   * Pauses the request's timeouts, including the maximum, while the transport waits for a person or for a server that signs in.
   *
   * @returns A function that ends the pause. Overlapping pauses end with the last one.
   * @default none: the time limits are not paused
   */
  pauseTimeout?(): () => void;
}

/**
 * Gets each JSON value that a transport receives. It is `unknown` because nothing has checked it yet. A function that takes a `JsonRpcMessage` is
 * accepted too.
 */
// Wide enough for the `onmessage` of the official SDKs: `authInfo` is the member that their infos have. The type of a method, because only the
// parameters of methods may be narrower in the function that is assigned.
type MessageCallback = { call(message: unknown, info?: MessageInfo & { readonly authInfo?: unknown }): void }['call'];

/** The options of `send`. */
export interface SendOptions extends WaitingCaller {
  /** The id of the request to which this message belongs. A transport with one stream per request chooses by it. @default none */
  readonly relatedRequestId?: RequestId | undefined;
}

/**
 * A channel for messages in both directions.
 *
 * T1   Nothing is delivered before `start`; whatever arrived earlier is delivered after it.
 * T2   Messages are delivered one by one, in the order in which the peer sent them.
 * T3   `send` settles: it resolves once the message is handed to the layer below (waiting while that is full), and rejects,
 *      never hangs, when the transport is not started, closed, or closes while it waits.
 * T4   `onclose` fires exactly once, after the last `onmessage`, whichever side closed, also while sends are pending.
 * T5   A frame that is not JSON is reported by `onerror` (a `ParseError`, which `Connection` answers) and skipped; the next one
 *      is still read. JSON that is not a message is passed to `onmessage` unchanged; the reader validates it.
 * T6   A frame longer than the transport's limit is reported by `onerror` (a `MessageTooLargeError`) without being kept in
 *      memory; the next one is still read, or the transport closes, as its documentation says.
 * T7   `close` resolves when everything is released, and may be called twice and at any time, also before `start`.
 * T8   A callback that throws is reported by `onerror`; the next message is still delivered.
 * T9   Any Unicode text arrives unchanged, with newlines, U+2028, and characters that a chunk boundary splits.
 * T10  A message of 1 MiB arrives whole.
 * T11  10,000 messages in a row arrive, in order, none twice.
 * T12  A slow reader does not make the sender's memory grow without bound: `send` waits.
 * T13  Two pairs never see each other's messages.
 * T14  After `close` no timer, handle or listener is left that would keep a process alive.
 */
export interface Transport {
  /** Opens the channel and begins to deliver messages. Rejects if the channel cannot be opened, or was already started or closed. */
  start(): Promise<void>;
  /**
   * Sends one message. When nothing has to wait it may return `resolvedPromise`, so that a message costs no promise.
   *
   * After a batch, the argument is the array of responses, in spite of the type. The transport must write it as one JSON text, as `serializeMessage`
   * does. Only a transport whose peer sent an array gets one.
   *
   * @throws {UsageError} `ERR_NOT_CONNECTED`: before `start`.
   * @throws {ConnectionClosedError} The transport is closed.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void>;
  /** Closes the channel and releases all its resources. */
  close(): Promise<void>;
  /** Called with each JSON value that arrives. It may not be a valid message: see T5. */
  onmessage?: MessageCallback | undefined;
  /** Called with each error that does not end the channel by itself. */
  onerror?: ((error: Error) => void) | undefined;
  /** Called once, when the channel has ended. */
  onclose?: (() => void) | undefined;
  /** The id of the session that the channel belongs to, if the transport has sessions. */
  readonly sessionId?: string | undefined;
  /** Called with the revision that was negotiated by `initialize`, if the transport needs it. */
  setProtocolVersion?: ((version: string) => void) | undefined;
}

/**
 * A transport written for another SDK, with that SDK's message types. Servers and clients accept it like a `Transport`, and check its messages the
 * same way.
 */
export interface TransportLike extends Omit<Transport, 'send' | 'onmessage'> {
  send(message: never, options?: never): Promise<void>;
  onmessage?: ((message: never, info?: never) => void) | undefined;
}

/** An error that says why a channel ended. Report it by `onerror` before `onclose`: it becomes the cause of the errors of pending requests. */
export interface ChannelEndError extends Error {
  readonly endsChannel?: true;
}

/** The options of `exchange`. */
export interface ExchangeOptions extends WaitingCaller {
  /** Aborting it ends the exchange and tells the peer to stop. `exchange` then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /**
   * Cheaper alternative to `signal`: creating an `AbortSignal` costs more than the rest of a short exchange. `listener` is called with the reason
   * when the exchange is aborted, or at once if it already is. A transport uses either this or `signal`, and calls it at most once.
   *
   * @default none
   */
  onAbort?: ((listener: (reason: unknown) => void) => void) | undefined;
  /** More HTTP headers for the request, if the transport has headers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called with each notification that belongs to this request, in order, before the response. @default none */
  readonly onMessage?: ((message: JsonRpcNotification) => void) | undefined;
}

/**
 * An optional ability of a transport: to send one request on its own, with its notifications and its response.
 *
 * X1  Resolves with the response whose id is the request's own, whatever its kind; never with another's.
 * X2  `onMessage` is called in order, and never after `exchange` has settled.
 * X3  Aborting `signal` rejects with its reason, and the peer notices.
 * X4  Rejects with `ConnectionClosedError` when the stream ends before the response.
 * X5  Any number of exchanges run at once, also with equal ids, and do not affect each other.
 */
export interface ExchangeTransport {
  /**
   * Sends a request and waits for its response.
   *
   * @throws {ExchangeHttpError} The HTTP response carries no JSON-RPC response to this request.
   * @throws {ConnectionClosedError} The stream ended before the response.
   */
  exchange(request: JsonRpcRequest, options?: ExchangeOptions): Promise<JsonRpcResponse>;
}

/** The optional ability of a transport to open a channel of the legacy era (a session, or HTTP+SSE) to the same peer. */
export interface LegacyOpener {
  /** Opens a channel of the legacy era: resolves to a new, unstarted transport. */
  openLegacy(): Promise<Transport>;
}

/** Makes new, unstarted transports to one peer, for restarts, for reconnection, and to detect the peer's era again. */
export type TransportFactory = () => Transport;

/** One connection of a server to a client. */
export interface ServerConnection {
  /** Resolves when the connection has ended, for any reason. Never rejects. */
  readonly closed: Promise<void>;
  /**
   * Rejects new requests, lets those in flight finish, then closes.
   *
   * @param deadlineMs Milliseconds after which the remaining requests are aborted.
   */
  drain(deadlineMs: number): Promise<void>;
  /** Aborts requests in flight and closes. Safe to call twice. */
  close(): Promise<void>;
  /** Same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the program that serves a transport passes to the server. */
export interface ConnectOptions {
  /** The logger that a server uses if it has none of its own. @default none */
  readonly logger?: Logger | undefined;
}

/** A server that can be served over a transport, such as `McpServer`. */
export interface Connectable {
  /** Starts the transport and serves it. May be called any number of times. */
  connect(transport: Transport, options?: ConnectOptions): Promise<ServerConnection>;
}

/** Tells whether a transport can send each request as an exchange. */
export function isExchangeTransport(transport: object): transport is ExchangeTransport {
  return typeof (transport as Partial<ExchangeTransport>).exchange === 'function';
}

/** Tells whether a transport can open a channel of the legacy era. */
export function isLegacyOpener(transport: object): transport is LegacyOpener {
  return typeof (transport as Partial<LegacyOpener>).openLegacy === 'function';
}

/**
 * The shared promise that `send` returns when nothing has to wait, so that a message costs no promise. Callers that get this very promise need not
 * await it.
 */
export const resolvedPromise: Promise<void> = Promise.resolve();
