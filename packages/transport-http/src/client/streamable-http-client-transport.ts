/** `StreamableHTTPClientTransport`: the class that MCP's TypeScript users know. `httpTransport` is the same as a factory. */

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
  type MessageInfo,
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
 * A client's side of Streamable HTTP in every revision, with HTTP+SSE for servers that know nothing newer.
 *
 * Modern requests go out by `exchange`, each a POST of its own; `openLegacy` gives a channel of the legacy era, with its session. Used
 * as a plain `Transport`, it sends each message in the message's own era. Nothing is sent before the first message.
 *
 * `close` ends everything: what waits rejects, streams are closed, and a legacy session is ended at the server.
 *
 * @see 2026-07-28 basic/transports/streamable-http; 2025-11-25 basic/transports#streamable-http
 */
export class StreamableHTTPClientTransport implements Transport, ExchangeTransport, LegacyOpener {
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  /** Names the server for programs that remember things about it; holds no secret. */
  readonly eraKey: string;
  readonly #url: string | URL;
  readonly #options: StreamableHTTPClientTransportOptions;
  readonly #wire: Wire;
  readonly #exchanges: Exchanges;
  readonly #cancels = new Map<RequestId, AbortController>();
  /** The channel that was opened last by this transport or one that `renew` made of it. */
  #newest: { channel: LegacyChannel | undefined } = { channel: undefined };
  #channel: LegacyChannel | undefined;
  /** The channel of a program that uses this as a plain transport. */
  #own: Promise<LegacyChannel> | undefined;
  #isStarted = false;
  #hasClosed = false;
  #closing: Promise<void> | undefined;

  /**
   * @param url The server's address.
   * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an invalid address or option value.
   */
  constructor(url: string | URL, options: StreamableHTTPClientTransportOptions = {}) {
    this.#url = url;
    this.#options = options;
    this.#wire = new Wire(url, options);
    this.#exchanges = new Exchanges(this.#wire, (error) => emitError(this, error));
    this.eraKey = toEraKey(this.#wire.url);
  }

  /** The id of the legacy session, while there is one: also of one that a client opened in place of a lost one. A secret. */
  get sessionId(): string | undefined {
    const { channel } = this.#newest;
    return channel === undefined ? this.#options.sessionId : channel.sessionId;
  }

  /** Differs where the authorization that its authorizer gave last does, and gives nothing of it away. Private results are cached by it. */
  get authContext(): string | undefined {
    return this.#wire.authContext;
  }

  /** Makes another, unstarted transport to the same server. A client uses it to replace a session that is lost. */
  renew(): StreamableHTTPClientTransport {
    const { sessionId: _id, protocolVersion: _version, ...options } = this.#options;
    const renewed = new StreamableHTTPClientTransport(this.#url, options);
    renewed.#newest = this.#newest;
    return renewed;
  }

  /** Begins. Nothing is sent now, unless a session is resumed. */
  async start(): Promise<void> {
    if (this.#closing !== undefined) throw new ConnectionClosedError();
    if (this.#isStarted) throw new UsageError('ERR_ALREADY_STARTED');
    this.#isStarted = true;
    if (this.#options.sessionId !== undefined) await this.#ownChannel();
  }

  /**
   * Makes a modern exchange. Needs no `start`.
   *
   * A tool's arguments that its schema marks are sent as headers too, if its list was read before; if the server refuses the headers, the
   * list is read and the call made once more. Tools with an invalid mark are left out of lists and reported to `onerror`.
   *
   * @see 2026-07-28 basic/transports/streamable-http
   */
  exchange(request: JsonRpcRequest, options?: ExchangeOptions): Promise<JsonRpcResponse> {
    return this.#exchanges.exchange(request, options);
  }

  /** Gives a fresh, unstarted channel of the legacy era. Its errors and its end are reported here too. */
  async openLegacy(): Promise<Transport> {
    return this.#openChannel();
  }

  /**
   * Sends a message: a modern one as an exchange, a legacy one in the session. Settles as `send` of the channel does: for a request when
   * its answer has been delivered.
   */
  async send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    if (this.#closing !== undefined) throw new ConnectionClosedError();
    const params = 'method' in message ? message.params : undefined;
    if (versionOf(params) !== undefined && 'id' in message) return this.#sendModern(message as JsonRpcRequest, options);
    if (!this.#isStarted) throw new UsageError('ERR_NOT_CONNECTED');
    // A notification without a session belongs to the exchanges.
    if (this.#channel === undefined && 'method' in message && !('id' in message)) return this.#notifyModern(message);
    // Not awaited where it is open, so that the order of calls is the order of sending.
    const channel = this.#own === undefined || this.#channel === undefined ? await this.#ownChannel() : this.#channel;
    return channel.send(message, options);
  }

  /** Called by clients with the version that `initialize` agreed on. */
  setProtocolVersion(version: string): void {
    this.#channel?.setProtocolVersion(version);
  }

  /**
   * Ends the legacy session at the server, as `close` does too.
   *
   * @throws {ExchangeHttpError} The server failed at it; one that does not let clients end sessions has not.
   */
  async terminateSession(): Promise<void> {
    await this.#newest.channel?.terminateSession();
  }

  close(): Promise<void> {
    // Later, so that a callback that closes again finds the promise that is already there.
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

  /** In this era a request is cancelled by closing its stream. */
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

/** A transport to a server over HTTP. Called, it gives another, unstarted one. */
export interface HttpTransport extends Transport, ExchangeTransport, LegacyOpener, TransportFactory {
  /** Names the server: its address without secrets. */
  readonly eraKey: string;
  /** Differs where the authorization that its authorizer gave last does, and gives nothing of it away. Private results are cached by it. */
  readonly authContext: string | undefined;
}

/**
 * Describes a server that is reached over HTTP: `httpTransport('https://host/mcp')`. Nothing is sent before a client connects.
 *
 * Speaks every revision; the client finds out which one the server speaks. The result is a transport and a factory at once, so that a
 * client can replace a session that the server has lost.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an invalid address or option value.
 * @see 2026-07-28 basic/transports/streamable-http
 */
export function httpTransport(url: string | URL, options: HttpTransportOptions = {}): HttpTransport {
  const own = new StreamableHTTPClientTransport(url, options);
  return createCallableTransport(own, () => own.renew());
}
