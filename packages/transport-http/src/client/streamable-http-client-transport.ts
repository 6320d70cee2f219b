/** `StreamableHTTPClientTransport`, which has the interface of the official SDK. `httpTransport` makes the same transport as a factory. */

import {
  UsageError,
  ConnectionClosedError,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
  type Transport,
} from '@mortise/jsonrpc-core';
import {
  createCallableTransport,
  emitClose,
  emitError,
  type ExchangeOptions,
  type ExchangeTransport,
  type LegacyOpener,
  type SendOptions,
  toError,
  type TransportFactory,
  type WaitingCaller,
} from '@mortise/jsonrpc-core/transport';
import type { HttpTransportOptions, StreamableHTTPClientTransportOptions } from './client-options.ts';
import { Exchanges } from './exchanges.ts';
import type { LegacyChannel } from './legacy/legacy-channel.ts';
import { versionOf } from './request-headers.ts';
import { toEraKey, Wire } from './wire.ts';

/**
 * The client transport for Streamable HTTP in every revision. Uses HTTP+SSE for servers that support nothing newer.
 *
 * `exchange` sends a modern request as a POST of its own. `openLegacy` makes a connection with a session of the legacy era. `send` works
 * with both: it sends each message in the era that the message belongs to. Nothing is sent before the first message.
 *
 * `close` rejects pending requests, closes streams, and ends a legacy session on the server.
 *
 * @see 2026-07-28 basic/transports/streamable-http; 2025-11-25 basic/transports#streamable-http
 */
export class StreamableHTTPClientTransport implements Transport, ExchangeTransport, LegacyOpener {
  onmessage?: Transport['onmessage'];
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  /** The key under which a client remembers which era this server supports. Contains no secret. */
  readonly eraKey: string;
  readonly #url: string | URL;
  readonly #options: StreamableHTTPClientTransportOptions;
  readonly #wire: Wire;
  readonly #exchanges: Exchanges;
  readonly #cancels = new Map<RequestId, AbortController>();
  /** The legacy channel that was opened last, by this transport or by one that its `renew` made. */
  #newest: { channel: LegacyChannel | undefined } = { channel: undefined };
  #channel: LegacyChannel | undefined;
  /** The legacy channel that `send` uses, while it opens and after it has opened. */
  #own: Promise<LegacyChannel> | undefined;
  #isStarted = false;
  #hasClosed = false;
  #closing: Promise<void> | undefined;

  /**
   * @param url The URL of the MCP endpoint.
   * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an invalid URL or option value.
   */
  constructor(url: string | URL, options: StreamableHTTPClientTransportOptions = {}) {
    this.#url = url;
    this.#options = options;
    this.#wire = new Wire(url, options);
    this.#exchanges = new Exchanges(this.#wire, (error) => emitError(this, error));
    this.eraKey = toEraKey(this.#wire.url);
  }

  /** The id of the current legacy session. It changes when a new session replaces one that the server has lost. Keep it secret. */
  get sessionId(): string | undefined {
    const { channel } = this.#newest;
    return channel === undefined ? this.#options.sessionId : channel.sessionId;
  }

  /** The cache key for private results. It changes with the authorization but does not reveal it. */
  get authContext(): string | undefined {
    return this.#wire.authContext;
  }

  /** Makes a new transport to the same server, not yet started. A client calls it to replace a session that the server has lost. */
  renew(): StreamableHTTPClientTransport {
    const { sessionId: _id, protocolVersion: _version, ...options } = this.#options;
    const renewed = new StreamableHTTPClientTransport(this.#url, options);
    renewed.#newest = this.#newest;
    return renewed;
  }

  /** Starts the transport. Sends nothing, unless the option `sessionId` names a session to resume. */
  async start(): Promise<void> {
    if (this.#closing !== undefined) throw new ConnectionClosedError();
    if (this.#isStarted) throw new UsageError('ERR_ALREADY_STARTED');
    this.#isStarted = true;
    if (this.#options.sessionId !== undefined) await this.#ownChannel();
  }

  /**
   * Sends a modern request. `start` need not be called before.
   *
   * Arguments that a tool's schema marks with `x-mcp-header` are also sent as headers, if `tools/list` was read before. If the server
   * refuses them, reads the list and sends the call once more. Tools with an invalid mark are left out of lists and reported to `onerror`.
   * Every proxy and log on the way can read such headers: a server must not mark secrets, or what identifies a person.
   *
   * @see 2026-07-28 basic/transports/streamable-http
   */
  exchange(request: JsonRpcRequest, options?: ExchangeOptions): Promise<JsonRpcResponse> {
    return this.#exchanges.exchange(request, options);
  }

  /** Makes a new channel of the legacy era, not yet started. Its errors and its end are also reported by this transport. */
  async openLegacy(): Promise<Transport> {
    return this.#openChannel();
  }

  /**
   * Sends a modern message as a POST of its own, and a legacy message in the session. For a request, the promise settles after its response
   * is delivered.
   */
  async send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    if (this.#closing !== undefined) throw new ConnectionClosedError();
    const params = 'method' in message ? message.params : undefined;
    if (versionOf(params) !== undefined && 'id' in message) return this.#sendModern(message as JsonRpcRequest, options);
    if (!this.#isStarted) throw new UsageError('ERR_NOT_CONNECTED');
    // A notification without a session is modern.
    if (this.#channel === undefined && 'method' in message && !('id' in message)) return this.#notifyModern(message);
    // Not awaited if the channel is open, so that messages are sent in the order of calls.
    const channel = this.#own === undefined || this.#channel === undefined ? await this.#ownChannel() : this.#channel;
    return channel.send(message, options);
  }

  /** Sets the protocol version that `initialize` agreed on. Called by clients. */
  setProtocolVersion(version: string): void {
    this.#channel?.setProtocolVersion(version);
  }

  /**
   * Ends the legacy session on the server. `close` does this too.
   *
   * @throws {ExchangeHttpError} The server failed to end the session. There is no error if the server does not let clients end sessions.
   */
  async terminateSession(): Promise<void> {
    await this.#newest.channel?.terminateSession();
  }

  close(): Promise<void> {
    // In a microtask, so that a callback that calls `close` again gets the same promise.
    this.#closing ??= Promise.resolve().then(() => this.#close());
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    this.#exchanges.close();
    await this.#channel?.close();
    this.#emitClose();
  }

  #emitClose(): void {
    if (this.#hasClosed) return;
    this.#hasClosed = true;
    emitClose(this);
  }

  async #openChannel(): Promise<LegacyChannel> {
    const { LegacyChannel } = await import('./legacy/legacy-channel.ts');
    if (this.#closing !== undefined) throw new ConnectionClosedError();
    const channel = new LegacyChannel(this.#wire, this.#options);
    channel.onerror = (error) => emitError(this, error);
    channel.onclose = () => this.#emitClose();
    this.#channel = channel;
    this.#newest.channel = channel;
    return channel;
  }

  #ownChannel(): Promise<LegacyChannel> {
    this.#own ??= this.#openChannel().then(async (channel) => {
      channel.onmessage = (message, info) => this.onmessage?.(message, info);
      await channel.start();
      return channel;
    });
    return this.#own;
  }

  async #sendModern(request: JsonRpcRequest, caller: WaitingCaller | undefined): Promise<void> {
    const controller = new AbortController();
    this.#cancels.set(request.id, controller);
    try {
      const onMessage = (notification: JsonRpcNotification): void => this.#deliver(notification);
      const pauseTimeout = (): (() => void) => caller?.pauseTimeout?.() ?? ((): void => undefined);
      this.#deliver(await this.exchange(request, { signal: controller.signal, onMessage, pauseTimeout }));
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    } finally {
      if (this.#cancels.get(request.id) === controller) this.#cancels.delete(request.id);
    }
  }

  /** Sends a modern notification. For `notifications/cancelled`, closes the HTTP response of the request instead, which cancels it. */
  async #notifyModern(notification: JsonRpcNotification): Promise<void> {
    if (notification.method !== 'notifications/cancelled') return this.#exchanges.notify(notification);
    this.#cancels.get(notification.params?.['requestId'] as RequestId)?.abort();
  }

  #deliver(message: JsonRpcMessage): void {
    if (this.#closing !== undefined) return;
    try {
      this.onmessage?.(message);
    } catch (error) {
      emitError(this, toError(error));
    }
  }
}

/** A transport to a server over HTTP. It is also a factory: calling it makes a new transport to the same server, not yet started. */
export interface HttpTransport extends Transport, ExchangeTransport, LegacyOpener, TransportFactory {
  /** The key under which a client remembers which era this server supports: its URL without secrets. */
  readonly eraKey: string;
  /** The cache key for private results. It changes with the authorization but does not reveal it. */
  readonly authContext: string | undefined;
}

/**
 * Makes a transport to a server over HTTP: `httpTransport('https://host/mcp')`. Sends nothing before a client connects.
 *
 * Supports every revision; the client detects which one the server uses. If a server refuses `initialize` with status 400, 404 or 405, the
 * transport tries HTTP+SSE. Redirects (307, 308) are followed within the server's origin only. The result is also a factory, so that a
 * client can replace a session that the server has lost.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an invalid URL or option value.
 * @see 2026-07-28 basic/transports/streamable-http
 */
export function httpTransport(url: string | URL, options: HttpTransportOptions = {}): HttpTransport {
  const own = new StreamableHTTPClientTransport(url, options);
  return createCallableTransport(own, () => own.renew());
}
