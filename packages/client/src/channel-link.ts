/** A link over one channel: a `Connection` whose notifications are told apart by subscription. */

import {
  type Clock,
  ConnectionLostError,
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcResponse,
  type Logger,
  type RequestId,
  type Transport,
} from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { Connection } from '@mortise/jsonrpc-core/connection';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import type { Link, LinkHost, LinkRequestOptions, LinkStream } from './link.ts';

/** What every link is given. */
export interface LinkSettings {
  /** How long a request waits that says nothing else. */
  readonly requestTimeoutMs: number;
  /** How long a request waits however much progress is told, unless it has a longer time of its own. */
  readonly maxRequestTimeoutMs: number;
  readonly maxInFlightBytes?: number | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether it is to be noted when messages come. @default false */
  readonly isKeptAlive?: boolean | undefined;
  onError(error: Error): void;
}

interface OpenStream {
  onNotification(notification: JsonRpcNotification): void;
  /** The server said that it ended the stream without a result. */
  onCancelled(): void;
}

export class ChannelLink implements Link {
  host: LinkHost;
  onInterrupted: (() => void) | undefined;
  /** When the last message came, by the clock's monotonic time; when this was made where nobody wants to know. */
  heardAtMs: number;
  /** What the transport complained of last. */
  lastError: Error | undefined;
  readonly #connection: Connection;
  readonly #settings: LinkSettings;
  readonly #streams = new Map<RequestId, OpenStream>();

  /** @param transport Unstarted; `start` starts it. */
  constructor(transport: Transport, host: LinkHost, settings: LinkSettings) {
    this.host = host;
    this.#settings = settings;
    const { requestTimeoutMs, maxRequestTimeoutMs, maxInFlightBytes, clock, logger } = settings;
    this.heardAtMs = clock.monotonicMs();
    if (settings.isKeptAlive) this.#noteMessages(transport, clock);
    this.#connection = new Connection(transport, {
      clock,
      logger,
      requestTimeoutMs,
      maxRequestTimeoutMs,
      maxInFlightBytes,
      onRequest: (request, call) => this.host.onRequest?.(request, call),
      isAnswering: () => this.host.onRequest !== undefined,
      isBatchingOn: () => this.host.isBatchingOn,
      isErrorIdOptional: () => this.host.isErrorIdOptional,
      onNotification: (notification) => this.#route(notification),
      onError: (error) => {
        this.lastError = error;
        settings.onError(error);
        // Later, for the connection is yet to reject what was in flight.
        if (error instanceof ConnectionLostError) queueMicrotask(() => this.onInterrupted?.());
      },
    });
  }

  get closed(): Promise<void> {
    return this.#connection.closed;
  }

  get transport(): Transport {
    return this.#connection.transport;
  }

  /** Starts the transport. Rejects with what the transport's `start` rejects with. */
  start(): Promise<void> {
    return this.#connection.start();
  }

  request(method: string, params: JsonObject | undefined, options?: LinkRequestOptions): Promise<JsonObject> {
    return this.#connection.request(method, params, options);
  }

  requestRaw(method: string, params: JsonObject | undefined, options?: LinkRequestOptions): Promise<JsonRpcResponse> {
    return this.#connection.requestRaw(method, params, options);
  }

  notify(method: string, params?: JsonObject): Promise<void> {
    return this.#connection.notify(method, params);
  }

  openStream(method: string, params: JsonObject, onNotification: (notification: JsonRpcNotification) => void): LinkStream {
    const controller = new AbortController();
    let id: RequestId | undefined;
    let isCancelledHere = false;
    let isCancelledThere = false;
    const options: LinkRequestOptions = {
      timeoutMs: Infinity,
      maxTimeoutMs: Infinity,
      signal: controller.signal,
      // The peer is told by hand, and only if it was not the peer that ended the stream.
      isCancellable: false,
      onId: (given) => {
        id = given;
        const onCancelled = (): void => {
          isCancelledThere = true;
          controller.abort();
        };
        this.#streams.set(given, { onNotification, onCancelled });
      },
    };
    const ended = this.request(method, params, options)
      .catch((error: unknown) => {
        if (isCancelledHere || isCancelledThere) return undefined;
        throw error;
      })
      .finally(() => {
        if (id !== undefined) this.#streams.delete(id);
      });
    const cancel = (): void => {
      if (isCancelledHere || id === undefined || !this.#streams.delete(id)) return;
      isCancelledHere = true;
      this.notify('notifications/cancelled', { requestId: id }).catch(() => undefined);
      controller.abort();
    };
    return { ended, cancel };
  }

  /**
   * See `Connection.pauseTimeouts`. Ends by itself when the signal aborts, for nobody waits any more for what this side answers, and after
   * `maxRequestTimeoutMs`: what is never answered must not hold every call for ever. Nor may many questions in turn: the connection bounds how long
   * one call stands still in all.
   */
  pauseTimeouts(signal: AbortSignal): () => void {
    const { clock, maxRequestTimeoutMs } = this.#settings;
    const resume = this.#connection.pauseTimeouts();
    const end = (): void => {
      timer?.cancel();
      signal.removeEventListener('abort', end);
      resume();
    };
    const timer = maxRequestTimeoutMs === Infinity ? undefined : clock.schedule(end, maxRequestTimeoutMs);
    signal.addEventListener('abort', end, { once: true });
    return end;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** The connection calls what it finds set before it starts. */
  #noteMessages(transport: Transport, clock: Clock): void {
    const { onmessage } = transport;
    transport.onmessage = (message, info) => {
      this.heardAtMs = clock.monotonicMs();
      onmessage?.call(transport, message, info);
    };
  }

  #route(notification: JsonRpcNotification): void {
    const { method, params } = notification;
    // Which requests of the server it cancels the connection has seen to; one that is late, or names no stream, concerns nobody.
    if (method === 'notifications/cancelled') return this.#streams.get(params?.['requestId'] as RequestId)?.onCancelled();
    const id = isJsonObject(params?.['_meta']) ? params['_meta'][META_SUBSCRIPTION_ID] : undefined;
    if (id === undefined) this.host.onNotification(notification);
    // What belongs to a subscription that is over, or never was, concerns nobody.
    else this.#streams.get(id as RequestId)?.onNotification(notification);
  }
}
