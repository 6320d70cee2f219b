/** `StreamableHTTPServerTransport`, which has the interface of the official SDK and uses the same code as `createHttpHandler`. */

import { UsageError, ConnectionClosedError, type JsonRpcMessage, type ServerConnection, type Transport } from '@mortise/jsonrpc-core';
import {
  checkOptions,
  emitClose,
  emitError,
  type MessageInfo,
  type OptionTable,
  type SendOptions,
  toError,
} from '@mortise/jsonrpc-core/transport';
import type { EndpointTransport, McpEndpoint } from '@mortise/protocol/contracts';
import { HttpOptionError } from '../errors.ts';
import { TransportEndpoint } from './transport-endpoint.ts';
import { routeNodeRequest, routeWebRequest } from './create-http-handler.ts';
import { SharedState } from './http/shared-state.ts';
import type { NodeRequest, NodeResponse } from './http/node-exchange.ts';
import type { FetchInfo } from './http/web-exchange.ts';
import { type HttpHandlerOptions, type Settings, toSettings } from './options.ts';

/** The options of `StreamableHTTPServerTransport`: those of the official SDK, and those of `createHttpHandler` for one session. */
export interface StreamableHTTPServerTransportOptions extends Omit<HttpHandlerOptions, 'sessions' | 'path' | 'sse' | 'sessionStore'> {
  /** Makes the id of the session. Without this function there is no session: each request is served on its own. @default none */
  readonly sessionIdGenerator?: (() => string) | undefined;
  /** Sends each response as one JSON body. @default false */
  readonly enableJsonResponse?: boolean | undefined;
  /** Called with the id of a new session. @default none */
  readonly onsessioninitialized?: ((sessionId: string) => void | Promise<void>) | undefined;
  /** Called with the id of a session that has ended. @default none */
  readonly onsessionclosed?: ((sessionId: string) => void | Promise<void>) | undefined;
  /**
   * Has no effect, because the server always checks Host and Origin: list those that may call in `allowedHosts` and `allowedOrigins`.
   *
   * @default always on
   */
  readonly enableDnsRebindingProtection?: boolean | undefined;
  /** How long a client should wait before it resumes a stream that the server closed early, in milliseconds. @default 1_000 */
  readonly retryInterval?: number | undefined;
}

type OwnOptions = Omit<StreamableHTTPServerTransportOptions, keyof HttpHandlerOptions>;

const TABLE: OptionTable<OwnOptions> = {
  sessionIdGenerator: 'function',
  enableJsonResponse: 'boolean',
  onsessioninitialized: 'function',
  onsessionclosed: 'function',
  enableDnsRebindingProtection: 'boolean',
  retryInterval: 0,
};

/**
 * Serves one session, or any number of requests without a session (`sessionIdGenerator: undefined`), by `handleRequest(req, res, body)`. It
 * has the interface of the official SDK.
 *
 * Connected to an `McpServer` it serves every revision. For other servers it is a plain `Transport`.
 */
export class StreamableHTTPServerTransport implements Transport, EndpointTransport {
  onmessage: Transport['onmessage'];
  onerror: ((error: Error) => void) | undefined;
  onclose: (() => void) | undefined;
  readonly #settings: Settings;
  readonly #endpoint: TransportEndpoint = new TransportEndpoint((message, info) => this.#deliver(message, info));
  #resolveClosed: (() => void) | undefined;
  readonly #closed: Promise<void> = new Promise((resolve) => (this.#resolveClosed = resolve));
  #shared: SharedState | undefined;
  #sessionId: string | undefined;
  #isClosed = false;

  /** @throws {HttpOptionError} `ERR_HTTP_OPTION`: an option is unknown or has an invalid value. */
  constructor(options: StreamableHTTPServerTransportOptions = {}) {
    const { sessionIdGenerator, enableJsonResponse, onsessioninitialized, onsessionclosed, ...more } = options;
    const { enableDnsRebindingProtection, retryInterval, ...others } = more;
    const own = {
      sessionIdGenerator,
      enableJsonResponse,
      onsessioninitialized,
      onsessionclosed,
      enableDnsRebindingProtection,
      retryInterval,
    };
    checkOptions<OwnOptions>('options of an HTTP server', own, TABLE, HttpOptionError);
    const handlerOptions: HttpHandlerOptions = {
      ...others,
      jsonOnly: enableJsonResponse ?? others.jsonOnly,
      sessions: sessionIdGenerator !== undefined,
    };
    this.#settings = toSettings(handlerOptions, {
      isSingle: true,
      generateId: sessionIdGenerator,
      retryMs: retryInterval,
      onOpened: (id) => {
        this.#sessionId = id;
        return onsessioninitialized?.(id);
      },
      onClosed: (id) => {
        if (this.#isClosed) return undefined;
        void this.close();
        return onsessionclosed?.(id);
      },
    });
  }

  /** The id of the session; undefined until the session begins. */
  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /**
   * Connects the transport to an endpoint. Called by `McpServer.connect`.
   *
   * @throws {UsageError} `ERR_ALREADY_STARTED`: the transport is connected already. {ConnectionClosedError} The transport is closed.
   */
  async attach(endpoint: McpEndpoint): Promise<ServerConnection> {
    this.#begin(new SharedState(endpoint, this.#settings));
    const close = (): Promise<void> => this.close();
    const drain = async (deadlineMs: number): Promise<void> => {
      await this.#shared?.close(deadlineMs);
      await this.close();
    };
    return { closed: this.#closed, drain, close, [Symbol.asyncDispose]: close };
  }

  /** Starts to deliver messages by `onmessage`. Called by servers that use a plain `Transport`. @throws As `attach`. */
  async start(): Promise<void> {
    this.#begin(new SharedState(this.#endpoint, { ...this.#settings, skipsHandshake: true }));
  }

  /**
   * Serves one request of `node:http` or Express.
   *
   * @param body The parsed body, if a body parser has already read it. @default `request.body`
   */
  async handleRequest(request: NodeRequest, response: NodeResponse, body?: unknown): Promise<void> {
    await routeNodeRequest(this.#connected(), request, response, { parsedBody: body });
  }

  /** Serves one web `Request`, on Bun, Deno, Workers and others. */
  async handleFetch(request: Request, info: FetchInfo = {}): Promise<Response> {
    return routeWebRequest(this.#connected(), request, info);
  }

  /** Sends a message of the connected server. @throws {ConnectionClosedError} `ERR_CONNECTION_CLOSED`: the transport is closed. */
  async send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    if (this.#isClosed) throw new ConnectionClosedError();
    await this.#endpoint.send(message, options);
  }

  /** Ends the session and all requests in flight. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#shared?.close(0);
    this.#endpoint.close();
    this.#resolveClosed?.();
    emitClose(this);
  }

  #connected(): SharedState {
    if (this.#shared === undefined)
      throw new UsageError('ERR_NOT_CONNECTED', 'The transport is not connected: call server.connect(transport) first');
    return this.#shared;
  }

  #begin(shared: SharedState): void {
    if (this.#isClosed) throw new ConnectionClosedError();
    if (this.#shared !== undefined)
      throw new UsageError('ERR_ALREADY_STARTED', 'The transport is connected already: make a new transport for another server');
    this.#shared = shared;
  }

  #deliver(message: JsonRpcMessage, info: MessageInfo): void {
    try {
      this.onmessage?.(message, info);
    } catch (error) {
      emitError(this, toError(error));
    }
  }
}
