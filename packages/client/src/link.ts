/** How requests travel: over one channel, or each in an exchange of its own. Everything above is the same for both. */

import {
  type Clock,
  ConnectionClosedError,
  ConnectionLostError,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Logger,
  ProtocolError,
  type RequestId,
  type Transport,
} from '@mortise/jsonrpc-core';
import {
  Connection,
  type ConnectionRules,
  type InboundCall,
  type RequestOptions,
  type RequestOutcome,
  type RequestParams,
  RequestTable,
} from '@mortise/jsonrpc-core/connection';
import { isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import type { ExchangeTransport } from '@mortise/jsonrpc-core/transport';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';

/** What becomes of messages that answer no request: the session's part of a link. */
export interface LinkHost {
  onNotification(notification: JsonRpcNotification): void;
  /** Answers a request from the server. Absent where a client sends no responses: requests are then dropped. */
  readonly onRequest?: ((request: JsonRpcRequest, call: InboundCall) => RequestOutcome) | undefined;
  /** Whether an array of messages is a batch. */
  readonly isBatchingOn: boolean;
  /** Whether an error that answers an unreadable message leaves `id` out. */
  readonly isErrorIdOptional: boolean;
}

/** What a link does while its server's era is not known: a legacy server may ping even now. */
export const undecidedHost: LinkHost = {
  onNotification: () => undefined,
  onRequest: ({ id, method }) => {
    if (method === 'ping') return { jsonrpc: '2.0', id, result: {} };
    throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found');
  },
  isBatchingOn: false,
  isErrorIdOptional: false,
};

/** What every link takes from the client. */
export interface LinkSettings {
  /** How long a request waits that says nothing else. */
  readonly requestTimeoutMs: number;
  /** How long a request waits whatever progress comes, unless it has a longer time of its own. */
  readonly maxRequestTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether to note when messages come. */
  readonly isKeptAlive: boolean;
  onError(error: Error): void;
}

/** A request that stays open and delivers notifications until one side ends it. */
export interface LinkStream {
  /** Resolves with the result by which the server ended it, or undefined where it just said so; rejects when it broke. */
  readonly ended: Promise<JsonObject | undefined>;
  /** Ends it from this side. `ended` then resolves. */
  cancel(): void;
}

interface OpenStream {
  onNotification(notification: JsonRpcNotification): void;
  /** The server said that it ended the stream without a result. */
  onCancelled(): void;
}

/** A way to a server. */
export type Link = ChannelLink | ExchangeLink;

/** What links have in common: who hears of what the server sends by itself. */
abstract class NotifiedLink {
  /** Set once the era is known. */
  host: LinkHost = undecidedHost;
  /** Called when the channel below was lost and is being opened again: what the server knew of this client is gone. */
  onInterrupted: (() => void) | undefined;
  /** What the transport complained of last. */
  lastError: Error | undefined;
  readonly #streams = new Map<RequestId, OpenStream>();

  abstract request(method: string, params: RequestParams | undefined, options?: RequestOptions): Promise<JsonObject>;

  /** Opens a request that stays open. `onNotification` gets what carries its id, in order. */
  openStream(method: string, params: JsonObject, onNotification: (notification: JsonRpcNotification) => void): LinkStream {
    const controller = new AbortController();
    const { signal } = controller;
    // Without a reason, which would go to the server.
    const cancel = (): void => controller.abort(null);
    // The server must not get a cancellation of what it ended itself.
    const onCancelled = (): void => {
      options.isCancellable = false;
      cancel();
    };
    let id: RequestId | undefined;
    const onId = (given: RequestId): void => void this.#streams.set((id = given), { onNotification, onCancelled });
    const options = { timeoutMs: Infinity, maxTimeoutMs: Infinity, signal, isCancellable: true, onId };
    const ended = this.request(method, params, options)
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
        return undefined;
      })
      .finally(() => id !== undefined && this.#streams.delete(id));
    return { ended, cancel };
  }

  /** Hands a notification to the stream that it belongs to, else to the host. @param exchange The id of the exchange that it came in. */
  protected route(notification: JsonRpcNotification, exchange?: RequestId): void {
    const { method, params } = notification;
    // `Connection` has seen to requests of the server that it cancels; a late cancellation concerns nobody.
    if (method === 'notifications/cancelled') return this.#streams.get(params?.['requestId'] as RequestId)?.onCancelled();
    const meta = params?.['_meta'];
    const subscription = isJsonObject(meta) ? meta[META_SUBSCRIPTION_ID] : undefined;
    const stream = this.#streams.get(exchange ?? (subscription as RequestId));
    if (stream) stream.onNotification(notification);
    // What belongs to a subscription that is over, or never was, concerns nobody.
    else if (subscription === undefined) this.host.onNotification(notification);
  }
}

/** A link over one channel. */
export class ChannelLink extends NotifiedLink implements ConnectionRules {
  /** When the last message came, by the clock's monotonic time, if the client is to keep the connection alive. */
  heardAtMs: number;
  readonly #connection: Connection;
  readonly #settings: LinkSettings;

  /** @param transport Unstarted; `start` starts it. */
  constructor(transport: Transport, settings: LinkSettings) {
    super();
    const { requestTimeoutMs, maxRequestTimeoutMs, clock } = settings;
    this.#settings = settings;
    this.heardAtMs = clock.monotonicMs();
    if (settings.isKeptAlive) this.#noteMessages(transport);
    this.#connection = new Connection(transport, {
      clock,
      requestTimeoutMs,
      maxRequestTimeoutMs,
      onRequest: (request, call) => this.host.onRequest?.(request, call),
      rules: this,
      onNotification: (notification) => this.route(notification),
      onError: (error) => this.#onError(error),
    });
  }

  get isBatchingOn(): boolean {
    return this.host.isBatchingOn;
  }
  get isErrorIdOptional(): boolean {
    return this.host.isErrorIdOptional;
  }
  get isAnswering(): boolean {
    return this.host.onRequest !== undefined;
  }

  get closed(): Promise<void> {
    return this.#connection.closed;
  }

  get transport(): Transport {
    return this.#connection.transport;
  }

  start(): Promise<void> {
    return this.#connection.start();
  }

  request(method: string, params: RequestParams | undefined, options?: RequestOptions): Promise<JsonObject> {
    return this.#connection.request(method, params, options);
  }

  requestRaw(method: string, params: JsonObject | undefined, options?: RequestOptions): Promise<JsonRpcResponse> {
    return this.#connection.requestRaw(method, params, options);
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    return this.#connection.notify(method, params);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /**
   * Lets the time of every request stand still while this side answers the server: `Connection.pauseTimeouts`. Ends by itself when `signal`
   * aborts, and after `maxRequestTimeoutMs`, so that a question that nobody answers does not hold every call for ever.
   */
  pauseTimeouts(signal: AbortSignal): () => void {
    const { clock, maxRequestTimeoutMs } = this.#settings;
    const resume = this.#connection.pauseTimeouts();
    const timer = maxRequestTimeoutMs === Infinity ? undefined : clock.schedule(() => end(), maxRequestTimeoutMs);
    const end = (): void => {
      timer?.cancel();
      signal.removeEventListener('abort', end);
      resume();
    };
    signal.addEventListener('abort', end, { once: true });
    return end;
  }

  #onError(error: Error): void {
    this.lastError = error;
    this.#settings.onError(error);
    // Later, for the connection has yet to reject what was in flight.
    if (error instanceof ConnectionLostError) queueMicrotask(() => this.onInterrupted?.());
  }

  /** The connection calls the callback that it finds set when it starts. */
  #noteMessages(transport: Transport): void {
    const { onmessage } = transport;
    transport.onmessage = (message, info) => {
      this.heardAtMs = this.#settings.clock.monotonicMs();
      onmessage?.call(transport, message, info);
    };
  }
}

/** A link whose every request is an exchange. An exchange that breaks concerns no other. */
export class ExchangeLink extends NotifiedLink {
  readonly closed: Promise<void>;
  readonly #transport: ExchangeTransport & Partial<Transport>;
  readonly #settings: LinkSettings;
  readonly #requests: RequestTable;
  #isClosed = false;
  #resolveClosed: () => void = () => undefined;

  /** @param transport Unstarted; `start` starts it, if it can be started. */
  constructor(transport: ExchangeTransport & Partial<Transport>, settings: LinkSettings) {
    super();
    this.#transport = transport;
    this.#settings = settings;
    this.#requests = new RequestTable({
      send: (request, pending) => transport.exchange(request, pending),
      sendCancelled: () => undefined,
      onMessage: (notification, pending) => this.route(notification, pending.id),
      onError: (error) => settings.onError(error),
      timeoutMs: settings.requestTimeoutMs,
      maxTimeoutMs: settings.maxRequestTimeoutMs,
      clock: settings.clock,
    });
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
  }

  /** Errors that belong to no exchange go to the client from now on, and to whoever listened before. */
  async start(): Promise<void> {
    const transport = this.#transport;
    const { onerror } = transport;
    const report = (error: Error): void => {
      onerror?.call(transport, error);
      this.#settings.onError(error);
    };
    transport.onerror = report;
    void this.closed.then(() => {
      if (transport.onerror === report) transport.onerror = onerror;
    });
    await transport.start?.();
  }

  request(method: string, params: RequestParams | undefined, options?: RequestOptions): Promise<JsonObject> {
    return this.#isClosed ? Promise.reject(new ConnectionClosedError()) : this.#requests.request(method, params, options);
  }

  requestRaw(method: string, params: JsonObject | undefined, options?: RequestOptions): Promise<JsonRpcResponse> {
    return this.#isClosed ? Promise.reject(new ConnectionClosedError()) : this.#requests.requestRaw(method, params, options);
  }

  /** Only a transport that is a channel too can carry a message that belongs to no request. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.#transport.send?.({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.#requests.failAll(new ConnectionClosedError());
      await this.#transport.close?.();
      this.#resolveClosed();
    }
    await this.closed;
  }
}
