/** `StreamableHTTPClientTransport`: the class that MCP's TypeScript users know. `httpTransport` is the same as a factory. */

import {
  ConnectionClosedError,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
  type Transport,
  UsageError,
} from '@mortise/jsonrpc-core';
import {
  createCallableTransport,
  type ExchangeOptions,
  type ExchangeTransport,
  type LegacyOpener,
  type MessageInfo,
  type SendOptions,
  type TransportFactory,
  type WaitingCaller,
} from '@mortise/jsonrpc-core/transport';
import { reportTo } from '../report-to.ts';
import { type ClientSettings, type HttpTransportOptions, toSettings, toWire } from './client-options.ts';
import type { LegacyChannel } from './legacy/legacy-channel.ts';
import type { Lineage } from './legacy/posting-channel.ts';
import { Exchanges } from './modern/exchanges.ts';
import { ToolHeaders, versionOf } from './modern/request-headers.ts';
import { toEraKey, type Wire } from './wire.ts';

/** The options of `StreamableHTTPClientTransport`: those of `httpTransport`, and those that MCP's users know. */
export interface StreamableHTTPClientTransportOptions extends HttpTransportOptions {
  /**
   * A legacy session that was opened before and is gone on with: nothing is initialized, and its stream is opened at once.
   *
   * @default none
   */
  readonly sessionId?: string | undefined;
  /** The revision that was agreed on in it. @default none */
  readonly protocolVersion?: string | undefined;
}

/** What transports to one server that follow one another share. */
interface Family extends Lineage {
  readonly tools: ToolHeaders;
  /** The channel that was opened last. */
  channel: LegacyChannel | undefined;
}

/**
 * A client's side of Streamable HTTP in every revision, with HTTP+SSE for servers that know nothing newer.
 *
 * Modern requests go out by `exchange`, each a POST of its own; `openLegacy` gives a channel of the legacy era, with its session. Used
 * as a plain `Transport`, it does the one or the other as each message wants. Nothing is sent before the first message.
 *
 * `close` ends everything: what waits rejects, streams are closed, and a legacy session is ended at the server.
 *
 * @see 2026-07-28 basic/transports/streamable-http; 2025-11-25 basic/transports#streamable-http
 */
export class StreamableHTTPClientTransport implements Transport, ExchangeTransport, LegacyOpener {
  onmessage?: ((message: JsonRpcMessage, info?: MessageInfo) => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onclose?: (() => void) | undefined;
  /** Names the server for whoever remembers things about it; holds no secret. */
  readonly eraKey: string;
  readonly #url: string | URL;
  readonly #options: StreamableHTTPClientTransportOptions;
  readonly #settings: ClientSettings;
  readonly #wire: Wire;
  readonly #exchanges: Exchanges;
  readonly #family: Family;
  readonly #cancels = new Map<RequestId, AbortController>();
  /** The channel of those who use this as a plain transport. */
  #own: Promise<LegacyChannel> | undefined;
  #channel: LegacyChannel | undefined;
  #isStarted = false;
  #hasClosed = false;
  #closing: Promise<void> | undefined;

  /**
   * @param url The server's address.
   * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an address that is not one of http or https, or an option that cannot hold.
   */
  constructor(url: string | URL, options: StreamableHTTPClientTransportOptions = {}) {
    const family = familyOf(options) ?? { isBadRequestSpent: false, tools: new ToolHeaders(), channel: undefined };
    this.#url = url;
    this.#options = options;
    this.#family = family;
    this.#wire = toWire(url, options);
    this.#settings = toSettings(options);
    this.eraKey = toEraKey(this.#wire.url);
    const report = (error: Error): void => this.#report(error);
    this.#exchanges = new Exchanges(this.#wire, { maxMessageBytes: this.#settings.maxMessageBytes, report }, family.tools);
  }

  /** The id of the legacy session, while there is one: also of one that a client opened anew in place of a lost one. A secret. */
  get sessionId(): string | undefined {
    return this.#family.channel === undefined ? this.#options.sessionId : this.#family.channel.sessionId;
  }

  /** Differs where the authorization that its authorizer gave last does; tells nothing of it. Private results are kept by it. */
  get authContext(): string | undefined {
    return this.#wire.authContext;
  }

  /** Makes another, unstarted transport to the same server. With it a client opens a connection again that it has lost. */
  renew(): StreamableHTTPClientTransport {
    const { sessionId: _id, protocolVersion: _version, ...options } = this.#options;
    return new StreamableHTTPClientTransport(this.#url, withFamily(options, this.#family));
  }

  /** Begins. Only a session that is gone on with is spoken to now. */
  async start(): Promise<void> {
    if (this.#closing !== undefined) throw new ConnectionClosedError();
    if (this.#isStarted) throw new UsageError('ERR_ALREADY_STARTED');
    this.#isStarted = true;
    if (this.#options.sessionId !== undefined) await this.#ownChannel();
  }

  /**
   * Makes a modern exchange. Needs no `start`.
   *
   * A tool's arguments that its schema marks are sent as headers too, if its list was read before; where the server misses them the list
   * is read, and the call made once more. Tools with a mark that does not hold are left out of lists and reported to `onerror`.
   *
   * @see 2026-07-28 basic/transports/streamable-http
   */
  exchange(request: JsonRpcRequest, options?: ExchangeOptions): Promise<JsonRpcResponse> {
    return this.#exchanges.exchange(request, options);
  }

  /** Gives a fresh, unstarted channel of the legacy era. Its errors and its end are reported here too. */
  async openLegacy(): Promise<Transport> {
    const { LegacyChannel } = await import('./legacy/legacy-channel.ts');
    if (this.#closing !== undefined) throw new ConnectionClosedError();
    const channel = new LegacyChannel(this.#wire, this.#settings, this.#family, this.#options);
    channel.onerror = (error) => this.#report(error);
    channel.onclose = () => this.#tellClosed();
    this.#channel = channel;
    this.#family.channel = channel;
    return channel;
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
    // What belongs to no session and answers nothing belongs to the exchanges.
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
    await this.#family.channel?.terminateSession();
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
    this.#tellClosed();
  }

  #tellClosed(): void {
    if (this.#hasClosed) return;
    this.#hasClosed = true;
    try {
      this.onclose?.();
    } catch (error) {
      this.#report(error);
    }
  }

  #ownChannel(): Promise<LegacyChannel> {
    this.#own ??= this.openLegacy().then(async (channel) => {
      channel.onmessage = (message, info) => this.onmessage?.(message, info);
      await channel.start();
      return channel as LegacyChannel;
    });
    return this.#own;
  }

  async #sendModern(request: JsonRpcRequest, caller: WaitingCaller | undefined): Promise<void> {
    const controller = new AbortController();
    this.#cancels.set(request.id, controller);
    try {
      const onMessage = (notification: JsonRpcNotification): void => this.#deliver(notification);
      this.#deliver(
        await this.exchange(request, {
          signal: controller.signal,
          onMessage,
          pauseTimeout: () => caller?.pauseTimeout?.() ?? ((): void => undefined),
        }),
      );
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    } finally {
      if (this.#cancels.get(request.id) === controller) this.#cancels.delete(request.id);
    }
  }

  /** In this era a request is cancelled by leaving it. */
  async #notifyModern(notification: JsonRpcNotification): Promise<void> {
    if (notification.method !== 'notifications/cancelled') return this.#exchanges.notify(notification);
    this.#cancels.get(notification.params?.['requestId'] as RequestId)?.abort();
  }

  #deliver(message: JsonRpcMessage): void {
    if (this.#closing !== undefined) return;
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.#report(error);
    }
  }

  #report(thrown: unknown): void {
    reportTo(this, thrown);
  }
}

/** A transport to a server over HTTP. Called, it gives another, unstarted one. */
export interface HttpTransport extends Transport, ExchangeTransport, LegacyOpener, TransportFactory {
  /** Names the server: its address, without what may be secret in it. */
  readonly eraKey: string;
  /** Differs where the authorization that its authorizer gave last does; tells nothing of it. Private results are kept by it. */
  readonly authContext: string | undefined;
}

/**
 * Describes a server that is reached over HTTP: `httpTransport('https://host/mcp')`. Nothing is sent before a client connects.
 *
 * Speaks every revision; which one the server speaks the client finds out. The result is a transport and a factory at once, so that a
 * client can open a session again that the server has lost.
 *
 * @throws {HttpOptionError} `ERR_HTTP_OPTION`: an address that is not one of http or https, or an option that cannot hold.
 * @see 2026-07-28 basic/transports/streamable-http
 */
export function httpTransport(url: string | URL, options: HttpTransportOptions = {}): HttpTransport {
  const own = new StreamableHTTPClientTransport(url, options);
  const members = {
    exchange: own.exchange.bind(own),
    openLegacy: () => own.openLegacy(),
    eraKey: own.eraKey,
    get authContext() {
      return own.authContext;
    },
  };
  return createCallableTransport(own, () => own.renew(), members);
}

const FAMILY = Symbol('family');

/** Options that carry what transports of one family share. */
interface FamilyOptions extends StreamableHTTPClientTransportOptions {
  readonly [FAMILY]?: Family;
}

function familyOf(options: FamilyOptions): Family | undefined {
  return options[FAMILY];
}

function withFamily(options: StreamableHTTPClientTransportOptions, family: Family): FamilyOptions {
  return { ...options, [FAMILY]: family };
}
