/// <reference lib="esnext.disposable" preserve="true" />

/**
 * The interface between MCP and what carries its messages. `Transport` has the six members that custom transports for MCP already
 * have, so theirs plug in unchanged. The numbered promises are the ids of the cases in `@mortise/transport-testkit`.
 */

import type { Logger } from '../instruments.ts';
import type { JsonRpcMessage, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, RequestId } from '../message.ts';

/** What a transport may say about a message beside its content. */
export interface MessageInfo {
  /** Who sent it, where the transport verified that (an opaque principal, see `@mortise/protocol/contracts`). */
  readonly principal?: string | undefined;
  /** What the transport learnt of the caller (for example the verified token's claims). Passed on to handlers as it is. */
  readonly auth?: unknown;
  /**
   * How many bytes its text has (`measureMessage` at `/messages` counts them). A transport may leave it out for short messages. A `Connection`
   * bounds what is in flight by it (`maxInFlightBytes`).
   */
  readonly bytes?: number | undefined;
  /** How many bytes of answers the peer had not taken when the message came. They count as in flight. @default 0 */
  readonly unreadBytes?: number | undefined;
}

/** The caller that waits for the answer to what a transport sends. */
export interface WaitingCaller {
  /**
   * Stops the clock of the caller's time limit, hard bound included, while a transport waits for a person or a server that signs in.
   *
   * @returns Lets the time go on. Of several pauses the last one ends it.
   * @default none: the time runs on
   */
  pauseTimeout?(): () => void;
}

/** How a message is to be sent. */
export interface SendOptions extends WaitingCaller {
  /** The request that this message belongs to, so that a transport with a stream per request can choose the right one. @default none */
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
 *      is still read. JSON that is not a message is handed to `onmessage` as it is: the reader above judges it.
 * T6   A frame longer than the transport's bound is reported by `onerror` (a `MessageTooLargeError`) without being kept in
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
  /** Begins delivery. Rejects when the channel cannot be opened, or was already started or closed. */
  start(): Promise<void>;
  /**
   * Sends one message. When nothing waits it may return `resolvedPromise`, so that a message costs no promise.
   *
   * A transport whose peer sent an array of messages (a batch) is handed the array of their answers here, in spite of the
   * type, and writes it as one JSON text; `serializeMessage` does.
   *
   * @throws {UsageError} `ERR_NOT_CONNECTED`: before `start`.
   * @throws {ConnectionClosedError} When the transport is closed.
   */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void>;
  /** Closes the channel and releases everything that it holds. */
  close(): Promise<void>;
  /** Called with each JSON value that arrives. A correct peer sends messages only; see T5. */
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  /** Called with errors that do not end the channel by themselves. */
  onerror?: ((error: Error) => void) | undefined;
  /** Called once, when the channel has ended. */
  onclose?: (() => void) | undefined;
  /** The id of the session that the channel belongs to, where the transport has such a thing. */
  readonly sessionId?: string | undefined;
  /** Called with the revision that `initialize` agreed on, where the transport needs to know it. */
  setProtocolVersion?: ((version: string) => void) | undefined;
}

/**
 * A transport that was written for another SDK, whose types for messages are its own: the members of `Transport` with nothing said of the
 * messages. It is taken where a server or a client takes a transport; what it carries is checked as from any other.
 */
export interface TransportLike extends Omit<Transport, 'send' | 'onmessage'> {
  send(message: never, options?: never): Promise<void>;
  onmessage?: ((message: never, info?: never) => void) | undefined;
}

/** An error that says why a channel ended. Reported by `onerror` before `onclose`, it becomes the cause of what was pending. */
export interface ChannelEndError extends Error {
  readonly endsChannel?: true;
}

/** How one exchange is made. */
export interface ExchangeOptions extends WaitingCaller {
  /** Ends the exchange, which tells the peer to stop; `exchange` then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /**
   * The same for callers and transports that need no `AbortSignal`, which costs more than all else of a short exchange: `listener` is called
   * with the reason, at once if it has happened. A transport uses this or `signal`, and calls it at most once.
   *
   * @default none
   */
  onAbort?: ((listener: (reason: unknown) => void) => void) | undefined;
  /** More request headers, where the transport has headers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Called with each notification that belongs to this request, in order, before the answer. @default none */
  readonly onMessage?: ((message: JsonRpcNotification) => void) | undefined;
}

/**
 * A transport's second ability: one request with everything that belongs to it, apart from all others.
 *
 * X1  Resolves with the response whose id is the request's own, whatever its kind; never with another's.
 * X2  `onMessage` is called in order, and never after `exchange` has settled.
 * X3  Aborting `signal` rejects with its reason, and the peer notices.
 * X4  Rejects with `ConnectionClosedError` when the stream ends before the answer.
 * X5  Any number of exchanges run at once, also with equal ids, and do not meet.
 */
export interface ExchangeTransport {
  /**
   * Sends a request and waits for its answer.
   *
   * @throws {ExchangeHttpError} When the peer answered with a status that carries no JSON-RPC response to this request.
   * @throws {ConnectionClosedError} When the stream ended before the answer.
   */
  exchange(request: JsonRpcRequest, options?: ExchangeOptions): Promise<JsonRpcResponse>;
}

/** Another ability: opens the channel of the legacy era (a session, or HTTP+SSE) towards the same peer. */
export interface LegacyOpener {
  /** Resolves to a fresh, unstarted transport. */
  openLegacy(): Promise<Transport>;
}

/** Makes fresh transports to one peer: for restarts, reconnection and a second look at the era. Each is unstarted. */
export type TransportFactory = () => Transport;

/** One connection that a server holds open. */
export interface ServerConnection {
  /** Resolves when the connection has ended, for whatever reason. Never rejects. */
  readonly closed: Promise<void>;
  /**
   * Takes no new request, lets those in flight finish, then closes.
   *
   * @param deadlineMs After this many milliseconds what still runs is aborted.
   */
  drain(deadlineMs: number): Promise<void>;
  /** Aborts what is in flight and closes. Safe to call twice. */
  close(): Promise<void>;
  /** Does what `close` does, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What the program that serves a transport offers the server. */
export interface ConnectOptions {
  /** Where a server without a logger of its own is to write. @default none */
  readonly logger?: Logger | undefined;
}

/** Something that can be served over a transport; `McpServer` is one. */
export interface Connectable {
  /** Starts the transport and serves it. May be called any number of times. */
  connect(transport: Transport, options?: ConnectOptions): Promise<ServerConnection>;
}

/** Tells whether a transport can make exchanges. */
export function isExchangeTransport(transport: object): transport is ExchangeTransport {
  return typeof (transport as Partial<ExchangeTransport>).exchange === 'function';
}

/** Tells whether a transport can open a channel of the legacy era. */
export function isLegacyOpener(transport: object): transport is LegacyOpener {
  return typeof (transport as Partial<LegacyOpener>).openLegacy === 'function';
}

/**
 * The promise that `send` returns when nothing waits: one for all, so that a message costs none. Callers that see this very
 * promise need not listen to it.
 */
export const resolvedPromise: Promise<void> = Promise.resolve();
