/**
 * The low-level client: a connection that finds out the server's era and is opened again when it breaks, requests, and handlers by method.
 * `McpClient` adds the names of MCP's features.
 */

import { InvalidResponseError, type JsonObject, type JsonRpcNotification, type JsonRpcResponse } from '@mortise/jsonrpc-core';
import { runCallback } from '@mortise/jsonrpc-core/connection';
import { checkOptions, guardLogger, silentLogger, systemClock, toError } from '@mortise/jsonrpc-core/transport';
import type { Era, Revision } from '@mortise/protocol';
import { checkServerNotification } from '@mortise/protocol/checks';
import type { ClientExtensionHost } from '@mortise/protocol/contracts';
import type {
  ClientRequestMethod,
  Implementation,
  ParamsOf,
  ResultOf,
  ServerCapabilities,
  SubscriptionFilter,
} from '@mortise/protocol/model';
import { clientCapabilitiesFor } from '@mortise/protocol/revisions';
import { Answers, type RequestHandler } from './answers/answers.ts';
import { assertNotifies } from './capabilities.ts';
import {
  CALL_OPTIONS,
  CLIENT_OPTIONS,
  CONNECT_OPTIONS,
  type CallOptions,
  type ClientOptions,
  type ConnectOptions,
} from './client-options.ts';
import { Connector } from './connector.ts';
import { Extensions } from './extensions.ts';
import type { ClientMiddleware } from './middleware.ts';
import { Requests } from './requests.ts';
import type { Session, SessionSettings } from './session.ts';
import type { Subscription } from './subscription.ts';
import type { ClientTransportSource } from './transport-source.ts';

/** Gets the params of a notification. One that is async may fail later, which is reported. */
type NotificationHandler = (params: JsonObject) => unknown;

/**
 * A client without names for MCP's features: requests and handlers by method.
 *
 * Speaks either era. Serves one connection at a time, which it opens again when it breaks, if it was given a factory.
 */
export class Client {
  /** Who the client says it is. */
  readonly info: Implementation;
  protected readonly options: ClientOptions;
  readonly #settings: SessionSettings;
  readonly #extensions: Extensions;
  readonly #connector: Connector;
  readonly #requests: Requests;
  readonly #handlers = new Map<string, Set<NotificationHandler>>();
  readonly #watchers = new Set<(notification: JsonRpcNotification) => unknown>();

  /**
   * @param info Shown to servers, for their logs and their users.
   * @throws {TypeError} There is no name or version, an option that does not exist, or one of the wrong kind.
   */
  constructor(info: Implementation, options: ClientOptions = {}) {
    if (typeof info?.name !== 'string' || typeof info.version !== 'string') {
      throw new TypeError('A client needs to say who it is, before its options: { name: "my-app", version: "1.0.0" }');
    }
    checkOptions('client options', options, CLIENT_OPTIONS);
    this.info = info;
    this.options = options;
    this.#extensions = new Extensions(options.extensions ?? []);
    this.#settings = this.#makeSettings();
    this.#connector = new Connector(this.#settings, options, {
      onSession: () => this.#requests.onSession(),
      onChange: (notification) => this.onChange(notification),
      onGap: () => this.forgetResults(),
    });
    this.#requests = new Requests({ connector: this.#connector, extensions: this.#extensions, settings: this.#settings, options });
  }

  // ---- what is known of the server

  /** Whether a session is open at this moment. */
  get isConnected(): boolean {
    return this.#connector.session !== undefined;
  }

  /** The era that is spoken. @throws {UsageError} `ERR_NOT_CONNECTED`: before `connect`. */
  get era(): Era {
    return this.session.revision.era;
  }

  /** The revision that is spoken. @throws {UsageError} `ERR_NOT_CONNECTED`: before `connect`. */
  get revision(): Revision {
    return this.session.revision;
  }

  /** The version of the revision that is spoken. @throws {UsageError} `ERR_NOT_CONNECTED`: before `connect`. */
  get protocolVersion(): string {
    return this.session.revision.version;
  }

  /** Who the server says it is, for display and logs only: it is not verified. */
  get serverInfo(): Implementation | undefined {
    return this.session.server.info;
  }

  /** What the server can do. */
  get serverCapabilities(): ServerCapabilities {
    return this.session.server.capabilities;
  }

  /** How to use the server, for the model; undefined where the server does not say. */
  get instructions(): string | undefined {
    return this.session.instructions;
  }

  protected get session(): Session {
    return this.#connector.currentSession;
  }

  // ---- connecting

  /**
   * Finds out which era the server speaks, and opens a session in it.
   *
   * @param source A transport, unstarted. A factory of them lets the client restart a server that died.
   * @throws {UnsupportedVersionError} There is no common revision.
   * @throws {MissingCapabilityError} The server lacks something of `requires`. The connection is then closed.
   * @throws {TimeoutError} The server did not answer the first message in time.
   */
  async connect(source: ClientTransportSource, options: ConnectOptions = {}): Promise<void> {
    checkOptions('connect() options', options, CONNECT_OPTIONS);
    this.#extensions.install(this.#extensionHost());
    await this.#connector.connect(source, options);
  }

  /**
   * Resolves when the connection is over for good: `close` was called, or it was lost and is not opened again. Never rejects. A connection
   * that is lost and will be opened again does not resolve it. Before `connect` it waits for the first connection to end.
   */
  get closed(): Promise<void> {
    return this.#connector.closed;
  }

  /** Ends the connection and everything that was opened on it. What waits rejects. May be called at any time and again. */
  async close(): Promise<void> {
    await this.#connector.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ---- asking

  /**
   * Sends a request and gives the result in the canonical model, whatever the era.
   *
   * With the option `resultCache`, a result that was kept counts as the answer for as long as its server says.
   *
   * @throws {RemoteError} The server said so; some of its errors have classes of their own.
   * @throws {MissingCapabilityError} Before sending, where the server cannot answer it.
   * @throws {InvalidResponseError} The answer is not a result of this method.
   * @throws {TimeoutError} {ConnectionLostError} {ConnectionClosedError} No answer came.
   * @throws The reason of `options.signal`, once that aborts; the request is cancelled at the server.
   */
  request<M extends ClientRequestMethod>(method: M, params: ParamsOf<M>, options?: CallOptions): Promise<ResultOf<M>>;
  request<M extends string>(
    method: M & (M extends ClientRequestMethod ? never : unknown),
    params?: JsonObject,
    options?: CallOptions,
  ): Promise<JsonObject>;
  request(method: string, params: JsonObject = {}, options?: CallOptions): Promise<JsonObject> {
    return this.#requests.request(method, params, options);
  }

  /**
   * Sends a request and gives the response as it came, errors, unknown members and unknown kinds of results included. For gateways.
   *
   * Nothing is checked, converted, kept or answered. In the modern era the mandatory `_meta` members are added unless they are there.
   */
  requestRaw(method: string, params?: JsonObject, options?: CallOptions): Promise<JsonRpcResponse> {
    return this.#requests.requestRaw(method, params, options);
  }

  /** Sends a notification. @throws {MissingCapabilityError} The revision has no such notification from clients. */
  async notify(method: string, params: JsonObject = {}): Promise<void> {
    const { revision, link } = await this.whenOpen();
    assertNotifies(revision, method);
    await link.notify(method, revision.toWire.notifications.get(method)?.(params) ?? params);
  }

  /**
   * Subscribes to changes: in the modern era by `subscriptions/listen`, in the legacy era from what the server sends unasked and
   * by `resources/subscribe`.
   *
   * @param filter What is wanted; extensions have keys of their own.
   * @param options.signal Ends it; the loop that reads it then throws the signal's reason.
   */
  listen(filter: SubscriptionFilter, options: { readonly signal?: AbortSignal | undefined } = {}): Subscription {
    return this.#connector.subscribe(filter, options.signal);
  }

  /** Forgets every result of this server that `resultCache` keeps. */
  forgetResults(): void {
    this.#requests.forgetResults(() => true);
  }

  /** Adds middleware around every request, or around those of one method. The first one added is the outermost. */
  use(middleware: ClientMiddleware): this;
  use(method: string, middleware: ClientMiddleware): this;
  use(first: string | ClientMiddleware, second?: ClientMiddleware): this {
    const [method, run] = typeof first === 'string' ? [first, second] : [undefined, first];
    if (!run) throw new TypeError(`use("${String(method)}") needs a middleware`);
    this.#requests.middleware.add(method, run);
    return this;
  }

  // ---- answering and listening

  /**
   * Answers a request from the server, or a question in one of its results. Declares the capability that MCP's own methods need.
   *
   * @throws {MissingCapabilityError} The legacy session that is open was opened without that capability: set handlers before `connect`.
   */
  setRequestHandler(method: string, handler: RequestHandler): void {
    assertMethod('setRequestHandler', method, 'elicitation/create');
    this.answers.set(method, handler);
  }

  /** Calls the handler with the params of each such notification, in the canonical model. @returns Ends it. */
  onNotification(method: string, handler: NotificationHandler): () => void {
    assertMethod('onNotification', method, 'notifications/message');
    const handlers = this.#handlers.get(method) ?? new Set();
    this.#handlers.set(method, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  /** Calls the handler with every notification that belongs to no subscription. @returns Ends it. */
  onAnyNotification(handler: (notification: JsonRpcNotification) => unknown): () => void {
    this.#watchers.add(handler);
    return () => void this.#watchers.delete(handler);
  }

  // ---- for the client of MCP's features

  /** The handlers of the server's questions. Setting one throws as `setRequestHandler` does. */
  protected get answers(): Answers {
    return this.#settings.answers;
  }

  /** The session, which is opened again if it was lost. */
  protected whenOpen(options?: CallOptions): Promise<Session> {
    if (options) checkOptions('the options of a call', options, CALL_OPTIONS);
    return this.#requests.whenOpen(options);
  }

  /** Something changed at the server. */
  protected onChange(notification: JsonRpcNotification): void {
    this.#requests.onChange(notification);
  }

  /** Calls the handlers of a notification. */
  protected dispatch(notification: JsonRpcNotification): void {
    this.onChange(notification);
    const { method, params = {} } = notification;
    const onError = (error: Error): void => this.report(error);
    for (const watcher of this.#watchers) runCallback(() => watcher(notification), onError);
    if (!this.#handlers.has(method)) return;
    const problem = checkServerNotification(method, params);
    if (problem !== undefined) return this.report(new InvalidResponseError(`the server sent a malformed "${method}": ${problem}`));
    for (const handler of [...(this.#handlers.get(method) ?? [])]) runCallback(() => handler(params), onError);
  }

  /** Reports an error that belongs to no request. */
  protected report(error: unknown): void {
    const reported = toError(error);
    this.#settings.logger.log('warning', reported.message);
    // An `onError` that fails must not make more errors.
    runCallback(
      () => this.options.onError?.(reported),
      () => undefined,
    );
  }

  // ---- inside

  #makeSettings(): SessionSettings {
    const { options, info } = this;
    const { clock = systemClock, requestTimeoutMs = 60_000 } = options;
    const answers = new Answers({
      ...options,
      clock,
      onError: (error) => this.report(error),
      onDeclare: (added) => this.#connector?.session?.onDeclare(added),
    });
    return {
      info,
      answers,
      clock,
      logLevel: undefined,
      requestTimeoutMs,
      maxRequestTimeoutMs: options.maxRequestTimeoutMs ?? Math.max(requestTimeoutMs, 600_000),
      initializeTimeoutMs: Math.min(30_000, requestTimeoutMs),
      logger: guardLogger(options.logger ?? silentLogger),
      capabilitiesFor: (revision) => clientCapabilitiesFor(revision, this.#extensions.declare(revision, answers.capabilities)),
      onNotification: (notification) => this.dispatch(notification),
      onError: (error) => this.report(error),
    };
  }

  /** What extensions get of this client. */
  #extensionHost(): ClientExtensionHost {
    const client = this;
    const { answers } = this.#settings;
    return {
      request: (method, params, options) => this.#requests.sendUnchecked(method, params, options),
      requestRaw: (method, params, options) => this.requestRaw(method, params, options),
      notify: (method, params) => this.notify(method, params),
      answer: (ask) => answers.answer(ask, ask.signal ?? new AbortController().signal, this.protocolVersion),
      intercept: (method, fn) => this.#requests.middleware.addInner(method, (call, next) => fn(call.params, next, call)),
      addMethod: (method, fn) => answers.add(method, fn),
      interceptAnswer: (method, fn) => answers.intercept(method, fn),
      onNotification: (method, fn) => this.onNotification(method, fn),
      listen: (filter, options) => this.listen(filter, options),
      get revision() {
        return client.session.revision;
      },
      get serverCapabilities() {
        return client.session.server.capabilities;
      },
    };
  }
}

/** The official SDK's first API takes a schema object in this place. */
function assertMethod(taker: string, method: unknown, example: string): void {
  if (typeof method === 'string') return;
  throw new TypeError(`${taker}() takes the name of a method, such as "${example}", and not a schema object or anything else`);
}
