/** Sends requests to a server over one channel, or each as an exchange of its own, and hides the difference from the rest of the client. */

import {
  type Clock,
  ConnectionClosedError,
  ConnectionLostError,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type Logger,
  ProtocolError,
  type RequestId,
  type Transport,
} from '@mortise/jsonrpc-core';
import { Connection, type ConnectionRules, type InboundCall, type RequestOutcome, RequestTable } from '@mortise/jsonrpc-core/connection';
import { isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import type { ExchangeTransport } from '@mortise/jsonrpc-core/transport';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';

/** Gets the server's messages that are not responses. Every session is a `LinkHost`. */
export interface LinkHost {
  onNotification(notification: JsonRpcNotification): void;
  /** Answers a request from the server. Absent in the modern era, where clients send no responses: requests are then dropped. */
  readonly onRequest?: ((request: JsonRpcRequest, call: InboundCall) => RequestOutcome) | undefined;
  readonly rules: ConnectionRules;
}

/** The `LinkHost` until the server's era is known. It answers `ping`, which a legacy server may already send. */
export const undecidedHost: LinkHost = {
  onNotification: () => undefined,
  onRequest: ({ id, method }) => {
    if (method === 'ping') return { jsonrpc: '2.0', id, result: {} };
    throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found');
  },
  rules: { isBatchingOn: false, isErrorIdOptional: false, isAnswering: true },
};

/** The client's settings that every `Link` uses. */
export interface LinkSettings {
  /** The timeout of a request without its own `timeoutMs`, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** The total timeout of a request, which progress does not restart, in milliseconds. A longer `timeoutMs` of the request wins. */
  readonly maxRequestTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  onError(error: Error): void;
}

/** A connection to a server: sends messages, and passes on what the server sends. */
export abstract class Link {
  /** The object that gets the server's requests and notifications: the session, once the era is known. */
  host: LinkHost = undecidedHost;
  /** Called when the transport has lost its channel and opens it again by itself. The server no longer knows the session then. */
  onInterrupted: (() => void) | undefined;
  /** The last error that the transport reported. */
  lastError: Error | undefined;
  /** The requests that wait for a response. */
  abstract readonly requests: RequestTable;
  /** Resolves when the connection has ended. Never rejects. */
  abstract readonly closed: Promise<void>;
  abstract start(): Promise<void>;
  abstract notify(method: string, params?: JsonObject): Promise<void>;
  abstract close(): Promise<void>;

  /** Passes a notification to the stream that it belongs to, else to `host`. @param exchange The id of the exchange that carried it. */
  protected route(notification: JsonRpcNotification, exchange?: RequestId): void {
    const { method, params } = notification;
    // `Connection` handles cancellations of the server's own requests. Any other one ends a stream, or came too late.
    if (method === 'notifications/cancelled') return this.requests.endStream(params?.['requestId']);
    const meta = params?.['_meta'];
    const subscription = isJsonObject(meta) ? meta[META_SUBSCRIPTION_ID] : undefined;
    if (this.requests.deliver(exchange ?? subscription, notification)) return;
    // A notification with the id of an unknown or ended subscription is dropped.
    if (subscription === undefined) this.host.onNotification(notification);
  }
}

/** A connection to a server over one channel, such as stdio. */
export class ChannelLink extends Link {
  readonly requests: RequestTable;
  readonly #connection: Connection;

  /** @param transport An unstarted transport, which `start` starts. */
  constructor(transport: Transport, { requestTimeoutMs, maxRequestTimeoutMs, clock, onError }: LinkSettings) {
    super();
    const link = this;
    this.#connection = new Connection(transport, {
      clock,
      requestTimeoutMs,
      maxRequestTimeoutMs,
      onRequest: (request, call) => this.host.onRequest?.(request, call),
      get rules() {
        return link.host.rules;
      },
      onNotification: (notification) => this.route(notification),
      onError: (error) => {
        this.lastError = error;
        onError(error);
        // In a microtask, because the connection rejects the requests in flight first.
        if (error instanceof ConnectionLostError) queueMicrotask(() => this.onInterrupted?.());
      },
    });
    this.requests = this.#connection.requests;
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

  notify(method: string, params?: JsonObject): Promise<void> {
    return this.#connection.notify(method, params);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}

/** A connection to a server that sends each request as an exchange, such as an HTTP POST. A broken exchange does not affect the others. */
export class ExchangeLink extends Link {
  readonly closed: Promise<void>;
  readonly requests: RequestTable;
  readonly #transport: ExchangeTransport & Partial<Transport>;
  readonly #settings: LinkSettings;
  #isClosed = false;
  #resolveClosed: () => void = () => undefined;

  /** @param transport An unstarted transport; `start` starts it, if it has a `start`. */
  constructor(transport: ExchangeTransport & Partial<Transport>, settings: LinkSettings) {
    super();
    this.#transport = transport;
    this.#settings = settings;
    this.requests = new RequestTable({
      send: (request, pending) => (this.#isClosed ? Promise.reject(new ConnectionClosedError()) : transport.exchange(request, pending)),
      sendCancelled: () => undefined,
      onMessage: (notification, pending) => this.route(notification, pending.id),
      onError: (error) => settings.onError(error),
      timeoutMs: settings.requestTimeoutMs,
      maxTimeoutMs: settings.maxRequestTimeoutMs,
      clock: settings.clock,
    });
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
  }

  /** Starts the transport. Errors that belong to no exchange go to the client, and to the `onerror` that was set before. */
  async start(): Promise<void> {
    const transport = this.#transport;
    const { onerror } = transport;
    const report = (error: Error): void => {
      this.#settings.onError(error);
      onerror?.call(transport, error);
    };
    transport.onerror = report;
    void this.closed.then(() => {
      if (transport.onerror === report) transport.onerror = onerror;
    });
    await transport.start?.();
  }

  /** Sends a notification. Only a transport with `send` can carry one. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.#transport.send?.({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      this.requests.failAll(new ConnectionClosedError());
      try {
        await this.#transport.close?.();
      } finally {
        this.#resolveClosed();
      }
    }
    await this.closed;
  }
}
