/** What v1's two server transports for Streamable HTTP have in common: v1's options over our transport. */

import type { Connectable, JsonRpcMessage, JsonRpcRequest, RequestId, ServerConnection } from '@mortise/jsonrpc-core';
import type { SendOptions } from '@mortise/jsonrpc-core/transport';
import type { Call, McpEndpoint, SessionLink } from '@mortise/protocol/contracts';
import { StreamableHTTPServerTransport as OwnTransport } from '@mortise/transport-http/server';
import { type EventStore, fromV1EventStore } from './http-event-store.ts';
import { incoming } from './incoming.ts';

/** The options of v1's server transports for Streamable HTTP. */
export interface WebStandardStreamableHTTPServerTransportOptions {
  /** Makes the id of the session. Without it there is no session: each request is served on its own. */
  sessionIdGenerator?: (() => string) | undefined;
  /** Called with the id of a new session. */
  onsessioninitialized?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Called with the id of a session that its client has ended. */
  onsessionclosed?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Sends each response as one JSON body. @default false */
  enableJsonResponse?: boolean | undefined;
  /** Stores events, so that clients can resume streams. */
  eventStore?: EventStore | undefined;
  /** Host names that may stand in `Host`. On a loopback connection loopback names are always allowed, and others only if listed. */
  allowedHosts?: string[] | undefined;
  /** Origins of pages that may call. Those that a CORS middleware allows may call, too. */
  allowedOrigins?: string[] | undefined;
  /** Has no effect: `Host` and `Origin` are always checked. */
  enableDnsRebindingProtection?: boolean | undefined;
  /** How long a client should wait before it resumes a stream that the server closed early, in milliseconds. */
  retryInterval?: number | undefined;
  /** Has no effect: open streams always get a comment every 15 seconds. */
  keepAliveMs?: number | undefined;
  /** The maximum size of a request body, in bytes. @default 4 MiB */
  maxRequestBodySize?: number | undefined;
}

/** Our transport with v1's options, and with v1's way to close the stream of a request by its id. */
export class HttpServerTransport extends OwnTransport {
  /** The requests in progress, by the id that their client gave them. */
  readonly #calls = new Map<RequestId, Call>();
  /** The way to the client outside of its requests. */
  #link: SessionLink | undefined;

  constructor(options: WebStandardStreamableHTTPServerTransportOptions = {}) {
    const { eventStore, maxRequestBodySize, keepAliveMs: _keepAliveMs, ...same } = options;
    super({
      ...same,
      ...(maxRequestBodySize === undefined ? {} : { maxBodyBytes: maxRequestBodySize }),
      ...(eventStore === undefined ? {} : { eventStore: fromV1EventStore(eventStore) }),
      // v1 reports what it refuses to `onerror`.
      logger: { log: (level, message) => (level === 'debug' || level === 'info' ? undefined : this.onerror?.(new Error(message))) },
    });
  }

  override attach(endpoint: McpEndpoint & Connectable): Promise<ServerConnection> {
    return super.attach(this.#remember(endpoint));
  }

  /** @internal Tells the program of a request that was refused, as v1 does. */
  _reportRefusal(status: number): void {
    if (status >= 400) this.onerror?.(new Error(`A request was refused with HTTP status ${status}`));
  }

  /** Sends a message past the server: on the stream of the request that it belongs to, or outside of requests. */
  override async send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    if (!('method' in message)) return super.send(message, options);
    const call = options?.relatedRequestId === undefined ? undefined : this.#calls.get(options.relatedRequestId);
    if (call) return call.send(message);
    await this.#link?.send(message).catch((error: unknown) => {
      // As in v1, a notification is dropped while the client has no stream open.
      if ('id' in message) throw error;
    });
  }

  /** Closes the stream of a request, so that the client polls for the rest. */
  closeSSEStream(requestId: RequestId): void {
    this.#calls.get(requestId)?.closeStream?.();
  }

  /** Closes the stream outside of requests, so that the client polls for what comes on it. */
  closeStandaloneSSEStream(): void {
    this.#link?.closeStream?.();
  }

  /** Wraps an endpoint to know the session and the calls in progress. */
  #remember(endpoint: McpEndpoint & Connectable): McpEndpoint & Connectable {
    const during = async <T>(id: RequestId | undefined, call: Call, run: () => T | Promise<T>): Promise<T> => {
      if (id === undefined) return run();
      this.#calls.set(id, call);
      // v1's handlers may close the stream of their request: `extra.closeSSEStream()`.
      const closeSSEStream = call.closeStream && ((): void => call.closeStream?.());
      const closeStandaloneSSEStream = this.#link?.closeStream;
      try {
        return await incoming.run({ ...incoming.getStore(), closeSSEStream, closeStandaloneSSEStream }, run);
      } finally {
        if (this.#calls.get(id) === call) this.#calls.delete(id);
      }
    };
    return {
      connect: (transport) => endpoint.connect(transport),
      handle: (request, call) => during(request.id, call, () => endpoint.handle(request, call)),
      openSession: (link, saved) => {
        this.#link = link;
        const session = endpoint.openSession(link, saved);
        return {
          get state() {
            return session.state;
          },
          get ready() {
            return session.ready;
          },
          receive: (message, call) => during((message as JsonRpcRequest).id, call, () => session.receive(message, call)),
          restore: (state) => session.restore(state),
          announceAll: () => session.announceAll(),
          close: () => session.close(),
        };
      },
      paramHeaders: (toolName) => endpoint.paramHeaders(toolName),
      nameParam: (method) => endpoint.nameParam(method),
      offerLogger: (logger) => endpoint.offerLogger?.(logger),
    };
  }
}
