/**
 * The low-level client: sends requests and answers those of the server, by method name, in either era. Opens a lost connection again.
 * `McpClient` adds methods for MCP's features.
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
import { type OpenedInTime, Requests } from './requests.ts';
import type { Session, SessionSettings } from './session.ts';
import type { Subscription } from './subscription.ts';
import type { ClientTransportSource } from './transport-source.ts';

/** Called with the params of a notification. May be async; errors are reported to `onError`. */
type NotificationHandler = (params: JsonObject) => unknown;

/**
 * A client with requests and handlers by method name, without methods for MCP's features.
 *
 * Works in both eras. Has one connection at a time, and opens it again when it breaks, if `connect` got a factory.
 */
export class Client {
  /** The client's name and version. */
  readonly info: Implementation;
  protected readonly options: ClientOptions;
  readonly #settings: SessionSettings;
  readonly #extensions: Extensions;
  readonly #connector: Connector;
  readonly #requests: Requests;
  readonly #handlers = new Map<string, Set<NotificationHandler>>();
  readonly #watchers = new Set<(notification: JsonRpcNotification) => unknown>();

  /**
   * @param info The client's name and version, which servers get for logs and display.
   * @throws {TypeError} The name or version is missing, or an option is unknown or has the wrong type.
   */
  constructor(info: Implementation, options: ClientOptions = {}) {
    if (typeof info?.name !== 'string' || typeof info.version !== 'string') {
      throw new TypeError('A client needs a name and a version: pass { name: "my-app", version: "1.0.0" } as its info');
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

  // ---- the session

  /** Whether a session is open now. */
  get isConnected(): boolean {
    return this.#connector.session !== undefined;
  }

  /**
   * The era of the session. Like the members below, it keeps its last value while a lost connection is opened again.
   *
   * @throws {UsageError | ConnectionClosedError} Before `connect`, or after `close`.
   */
  get era(): Era {
    return this.session.revision.era;
  }

  /** The revision of the session. @throws {UsageError} `ERR_NOT_CONNECTED`: before `connect`. */
  get revision(): Revision {
    return this.session.revision;
  }

  /** The protocol version of the session. @throws {UsageError} `ERR_NOT_CONNECTED`: before `connect`. */
  get protocolVersion(): string {
    return this.session.revision.version;
  }

  /** The server's name and version as the server states them, for display and logs only: they are not verified. */
  get serverInfo(): Implementation | undefined {
    return this.session.server.info;
  }

  /** The capabilities that the server declares. */
  get serverCapabilities(): ServerCapabilities {
    return this.session.server.capabilities;
  }

  /** The server's instructions for the model; undefined if it sent none. */
  get instructions(): string | undefined {
    return this.session.instructions;
  }

  /** The last session that was opened; undefined before `connect` and after `close`. */
  protected get lastSession(): Session | undefined {
    return this.#connector.last;
  }

  /** The same. @throws {UsageError | ConnectionClosedError} There is none. */
  protected get session(): Session {
    return this.#connector.lastOrThrow;
  }

  // ---- connecting

  /**
   * Detects the server's era and opens a session.
   *
   * @param source An unstarted transport, or a factory of transports. Only a factory lets the client open a lost connection again.
   * @throws {UnsupportedVersionError} Client and server have no common revision.
   * @throws {MissingCapabilityError} The server lacks a capability of `requires`. The connection is closed.
   * @throws {TimeoutError} The server did not respond to the first message in time.
   */
  async connect(source: ClientTransportSource, options: ConnectOptions = {}): Promise<void> {
    checkOptions('connect() options', options, CONNECT_OPTIONS);
    this.#extensions.install(this.#extensionHost());
    await this.#connector.connect(source, options);
  }

  /**
   * Resolves when the connection has ended and will not be opened again, by `close` or because it was lost. Never rejects. Before `connect`
   * it waits for the first connection to end.
   */
  get closed(): Promise<void> {
    return this.#connector.closed;
  }

  /** Closes the connection and its subscriptions. Pending requests reject. Safe to call at any time, and repeatedly. */
  async close(): Promise<void> {
    await this.#connector.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ---- requests

  /**
   * Sends a request and returns the result in the canonical model (the shapes of the newest revision), in either era.
   *
   * With the option `resultCache`, a cached result is returned as long as it is fresh.
   *
   * @throws {RemoteError} The server returned an error. Some errors have their own classes, such as `ResourceNotFoundError`.
   * @throws {MissingCapabilityError} Before sending: the server does not declare the capability that the method needs.
   * @throws {InvalidResponseError} The response is not a valid result of this method.
   * @throws {TimeoutError | ConnectionLostError | ConnectionClosedError} No response arrived.
   * @throws The reason of `options.signal` when it aborts. The request is cancelled at the server.
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
   * Sends a request and returns the unchanged response, which may be an error. For gateways.
   *
   * Does NOT check, convert or cache anything, and does not answer `input_required`. Adds the mandatory `_meta` members of the modern era
   * if they are missing.
   */
  requestRaw(method: string, params?: JsonObject, options?: CallOptions): Promise<JsonRpcResponse> {
    return this.#requests.requestRaw(method, params, options);
  }

  /** Sends a notification. @throws {MissingCapabilityError} The revision has no such notification from clients. */
  async notify(method: string, params: JsonObject = {}): Promise<void> {
    const [{ revision, link }] = await this.whenOpen();
    assertNotifies(revision, method);
    await link.notify(method, revision.toWire.notifications.get(method)?.(params) ?? params);
  }

  /**
   * Subscribes to changes. The modern era uses `subscriptions/listen`. In the legacy era the client filters the server's notifications and
   * sends `resources/subscribe`.
   *
   * @param filter The changes to report. Extensions may add keys.
   * @param options.signal Ends the subscription; reading it then throws the signal's reason.
   */
  listen(filter: SubscriptionFilter, options: { readonly signal?: AbortSignal | undefined } = {}): Subscription {
    return this.#connector.subscribe(filter, options.signal);
  }

  /** Removes all results of this server from the `resultCache`. */
  forgetResults(): void {
    this.#requests.forgetResults(() => true);
  }

  /** Adds middleware around all requests, or around those of one method. The middleware added first is the outermost. */
  use(middleware: ClientMiddleware): this;
  use(method: string, middleware: ClientMiddleware): this;
  use(first: string | ClientMiddleware, second?: ClientMiddleware): this {
    const [method, run] = typeof first === 'string' ? [first, second] : [undefined, first];
    if (!run) throw new TypeError(`use("${String(method)}") needs a middleware function as its second argument`);
    this.#requests.middleware.add(method, run);
    return this;
  }

  // ---- the server's requests and notifications

  /**
   * Sets the handler for a request from the server, or for an input request in an `input_required` result. Declares the capability of a
   * method that MCP defines.
   *
   * @throws {MissingCapabilityError} The open legacy session did not declare that capability: set handlers before `connect`.
   */
  setRequestHandler(method: string, handler: RequestHandler): void {
    assertMethod('setRequestHandler', method, 'elicitation/create');
    this.answers.set(method, handler);
  }

  /** Calls the handler with the params of each notification of this method, in the canonical model. @returns A function that removes the handler. */
  onNotification(method: string, handler: NotificationHandler): () => void {
    assertMethod('onNotification', method, 'notifications/message');
    const handlers = this.#handlers.get(method) ?? new Set();
    this.#handlers.set(method, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  /** Calls the handler with every notification that belongs to no subscription. @returns A function that removes the handler. */
  onAnyNotification(handler: (notification: JsonRpcNotification) => unknown): () => void {
    this.#watchers.add(handler);
    return () => void this.#watchers.delete(handler);
  }

  // ---- for McpClient

  /** The handlers for the server's requests. Setting a handler throws as `setRequestHandler` does. */
  protected get answers(): Answers {
    return this.#settings.answers;
  }

  /** Returns the open session, and the call's options with the time that is left. A lost connection is opened again first. */
  protected whenOpen(options?: CallOptions): Promise<OpenedInTime> {
    if (options) checkOptions('the options of a call', options, CALL_OPTIONS);
    return this.#requests.whenOpen(options);
  }

  /** Called with each notification of a change at the server. */
  protected onChange(notification: JsonRpcNotification): void {
    this.#requests.onChange(notification);
  }

  /** Passes a notification to the handlers of its method. */
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
    // An error of `onError` itself is not reported again.
    runCallback(
      () => this.options.onError?.(reported),
      () => undefined,
    );
  }

  /** Reports that a handler failed to answer the server, which only the program can mend: on the console, if it listens nowhere else. */
  #reportFailedAnswer(method: string, error: Error): void {
    const { onError, logger } = this.options;
    if (!onError && !logger) console.error(`The client could not answer "${method}" of the server:`, error);
    this.report(error);
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
      onAnswerFailed: (method, error) => this.#reportFailedAnswer(method, error),
    };
  }

  /** Makes the object through which extensions use this client. */
  #extensionHost(): ClientExtensionHost {
    const client = this;
    const { answers } = this.#settings;
    return {
      request: (method, params, options) => this.#requests.sendUnchecked(method, params, options),
      requestRaw: (method, params, options) => this.requestRaw(method, params, options),
      notify: (method, params) => this.notify(method, params),
      answer: (ask) => answers.answer(ask, ask.signal ?? new AbortController().signal, this.session),
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

/** Checks that a method is given by its name, not by a schema object as in v1 of the official SDK. */
function assertMethod(taker: string, method: unknown, example: string): void {
  if (typeof method === 'string') return;
  throw new TypeError(`${taker}() needs a method name, such as "${example}", as its first argument, not a schema object`);
}
