/**
 * The low-level client: a connection whose era is found out and which is opened again when it breaks, requests with everything
 * that the era adds to them, and handlers by method. `McpClient` adds the names of MCP's features.
 */

import { type JsonObject, type JsonRpcNotification, type JsonRpcResponse, SessionLostError } from '@mortise/jsonrpc-core';
import { silentLogger, systemClock } from '@mortise/jsonrpc-core/transport';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { type Era, type Revision, REVISIONS } from '@mortise/protocol';
import type {
  ClientRequestMethod,
  Implementation,
  ParamsOf,
  ResultOf,
  ServerCapabilities,
  SubscriptionFilter,
} from '@mortise/protocol/model';
import { clientCapabilitiesFor, findNotification, findRequest } from '@mortise/protocol/revisions';
import { hasCapability } from '@mortise/protocol/checks';
import { Answers, type RawAnswer } from './answers.ts';
import type { CallOptions } from './call-options.ts';
import type { ClientOptions, ConnectOptions } from './client-options.ts';
import { Connector } from './connector.ts';
import { MissingCapabilityError, UnknownResultTypeError, UnsupportedMethodError } from './errors.ts';
import { Extensions } from './extension-host.ts';
import type { LinkRequestOptions } from './link.ts';
import { type ClientMiddleware, type MiddlewareEntry, runMiddleware } from './middleware.ts';
import type { Session, SessionSettings } from './session.ts';
import type { Subscription } from './subscription.ts';
import { toClientError } from './to-client-error.ts';
import type { ClientTransportSource } from './transport-source.ts';

type NotificationHandler = (params: JsonObject) => void;

/**
 * A client without names for MCP's features: requests and handlers by method.
 *
 * Speaks either era. Serves one connection at a time, which it opens again when it breaks, if it was given a factory.
 */
export class Client {
  /** Who the client says it is. */
  readonly info: Implementation;
  protected readonly options: ClientOptions;
  protected readonly settings: SessionSettings;
  readonly #extensions: Extensions;
  readonly #outer: MiddlewareEntry[] = [];
  readonly #inner: MiddlewareEntry[] = [];
  readonly #handlers = new Map<string, Set<NotificationHandler>>();
  readonly #watchers = new Set<(notification: JsonRpcNotification) => void>();
  readonly #allowed = new Set<string>();
  readonly #connector: Connector;
  #middleware: readonly MiddlewareEntry[] = [];
  #isInstalled = false;

  /** @param info Shown to servers, for their logs and their users. */
  constructor(info: Implementation, options: ClientOptions = {}) {
    this.info = info;
    this.options = options;
    this.#extensions = new Extensions(options.extensions ?? []);
    this.settings = this.#makeSettings(new Answers(options.capabilities, options));
    this.#connector = new Connector(this.settings, options, {
      onSession: () => this.#allowed.clear(),
      onChange: (notification) => this.onChange(notification),
    });
  }

  // ---- what is known of the server

  /** Whether a session is open at this moment. */
  get isConnected(): boolean {
    return this.#connector.session !== undefined;
  }

  /** The era that is spoken. @throws {NotConnectedError} Before `connect`. */
  get era(): Era {
    return this.session.revision.era;
  }

  /** The revision that is spoken. @throws {NotConnectedError} Before `connect`. */
  get revision(): Revision {
    return this.session.revision;
  }

  /** The version of the revision that is spoken. @throws {NotConnectedError} Before `connect`. */
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
   * @throws {UnsupportedVersionError} {EraMismatchError} There is no common revision.
   * @throws {MissingCapabilityError} The server lacks something of `requires`. The connection is then closed.
   */
  async connect(source: ClientTransportSource, options: ConnectOptions = {}): Promise<void> {
    if (!this.#isInstalled) this.#install();
    await this.#connector.connect(source, options);
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
   * @throws {RemoteError} The server said so; some of its errors have classes of their own.
   * @throws {MissingCapabilityError} {UnsupportedMethodError} Before sending, where the server cannot answer it.
   * @throws {TimeoutError} {ConnectionLostError} {ConnectionClosedError} No answer came.
   */
  request<M extends ClientRequestMethod>(method: M, params: ParamsOf<M>, options?: CallOptions): Promise<ResultOf<M>>;
  request<M extends string>(
    method: M & (M extends ClientRequestMethod ? never : unknown),
    params?: JsonObject,
    options?: CallOptions,
  ): Promise<JsonObject>;
  request(method: string, params: JsonObject = {}, options?: CallOptions): Promise<JsonObject> {
    const { session } = this.#connector;
    if (session) return this.#call(session, method, params, options);
    return this.#connector.whenOpen().then((opened) => this.#call(opened, method, params, options));
  }

  /**
   * Sends a request and gives the response as it came, errors, unknown members and unknown kinds of results included. For gateways.
   *
   * Nothing is checked, converted or answered. In the modern era the mandatory `_meta` members are added unless they are there.
   */
  async requestRaw(method: string, params?: JsonObject, options?: CallOptions): Promise<JsonRpcResponse> {
    const session = await this.#connector.whenOpen();
    // The caller's own progress token must not be replaced.
    const own = { ...options, resetTimeoutOnProgress: options?.resetTimeoutOnProgress ?? false } as LinkRequestOptions;
    const send = (on: Session): Promise<JsonRpcResponse> => on.link.requestRaw(method, on.toRaw(params, options?.meta), own);
    return send(session).catch(async (error: unknown) => send(await this.#replaceIfLost(session, error, options)));
  }

  /** Sends a notification. @throws {UnsupportedMethodError} The revision has no such notification from clients. */
  async notify(method: string, params: JsonObject = {}): Promise<void> {
    const session = await this.#connector.whenOpen();
    const { revision } = session;
    if (!findNotification(revision, method, 'client') && REVISIONS.some(({ notifications }) => notifications.has(method))) {
      throw new UnsupportedMethodError(`clients do not send "${method}" in ${revision.version}`, method);
    }
    await session.link.notify(method, revision.toWire.notifications.get(method)?.(params) ?? params);
  }

  /**
   * Subscribes to changes: in the modern era by `subscriptions/listen`, in the legacy era from what the server tells unasked and
   * by `resources/subscribe`.
   */
  listen(filter: SubscriptionFilter, options: { readonly signal?: AbortSignal | undefined } = {}): Subscription {
    return this.#connector.subscribe(filter, options.signal);
  }

  // ---- answering and being told

  /** Answers a request from the server, or a question in one of its results. Declares the capability that MCP's own methods need. */
  setRequestHandler(method: string, handler: RawAnswer): void {
    this.settings.answers.set(method, handler);
    this.onDeclared();
  }

  /** Is told a notification from the server, in the canonical model. @returns Ends it. */
  onNotification(method: string, handler: NotificationHandler): () => void {
    const handlers = this.#handlers.get(method) ?? new Set();
    this.#handlers.set(method, handlers.add(handler));
    return () => void handlers.delete(handler);
  }

  /** Is told every notification that belongs to no subscription. @returns Ends it. */
  onAnyNotification(handler: (notification: JsonRpcNotification) => void): () => void {
    this.#watchers.add(handler);
    return () => void this.#watchers.delete(handler);
  }

  /** Adds middleware around every request, or around those of one method. The first one added is the outermost. */
  use(middleware: ClientMiddleware): this;
  use(method: string, middleware: ClientMiddleware): this;
  use(first: string | ClientMiddleware, second?: ClientMiddleware): this {
    const [method, run] = typeof first === 'string' ? [first, second] : [undefined, first];
    if (!run) throw new TypeError(`use("${String(method)}") needs a middleware`);
    this.#outer.push({ method, run });
    this.#middleware = [...this.#outer, ...this.#inner];
    return this;
  }

  /** The session, which is opened again if it was lost. */
  protected whenOpen(): Promise<Session> {
    return this.#connector.whenOpen();
  }

  /** What the client declares has changed. */
  protected onDeclared(): void {
    this.#connector.session?.onCapabilitiesChanged();
  }

  /** Something changed at the server, whoever was told of it. */
  protected onChange(_notification: JsonRpcNotification): void {
    return undefined;
  }

  /** @throws {MissingCapabilityError} The server does not declare a capability. */
  protected assertCapability(name: string, method: string): void {
    const { server, isDiscovered } = this.session;
    if (isDiscovered && !hasCapability(server.capabilities, name)) throw lacking(name, method);
  }

  /** Tells whoever wants to know of a notification. */
  protected dispatch(notification: JsonRpcNotification): void {
    this.onChange(notification);
    for (const watcher of this.#watchers) this.#attempt(() => watcher(notification));
    const handlers = this.#handlers.get(notification.method);
    if (handlers) for (const handler of [...handlers]) this.#attempt(() => handler(notification.params ?? {}));
  }

  /** Reports what went wrong beside any request. */
  protected report(error: unknown): void {
    const reported = error instanceof Error ? error : new Error('something that is not an error was thrown', { cause: error });
    this.settings.logger.log('warning', reported.message);
    try {
      this.options.onError?.(reported);
    } catch {
      // Whoever is told of errors must not make more of them.
    }
  }

  // ---- inside

  #makeSettings(answers: Answers): SessionSettings {
    const { options, info } = this;
    return {
      info,
      answers,
      sendsClientInfo: options.sendsClientInfo !== false,
      logLevel: options.logLevel,
      requestTimeoutMs: options.requestTimeoutMs,
      maxRequestTimeoutMs: options.maxRequestTimeoutMs,
      clock: options.clock ?? systemClock,
      logger: options.logger ?? silentLogger,
      capabilitiesFor: (revision) => clientCapabilitiesFor(revision, this.#extensions.declare(revision, answers.capabilities)),
      onNotification: (notification) => this.dispatch(notification),
      onError: (error) => this.report(error),
    };
  }

  #install(): void {
    this.#isInstalled = true;
    const client = this;
    this.#extensions.install({
      get session() {
        return client.session;
      },
      sendUnchecked: async (method, params, options) => this.#send(await this.#connector.whenOpen(), method, params, options, 1),
      requestRaw: (method, params, options) => this.requestRaw(method, params, options),
      notify: (method, params) => this.notify(method, params),
      answer: ({ method, params, signal = new AbortController().signal }) =>
        this.settings.answers.answer(method, params, { method, signal }),
      setRequestHandler: (method, fn) => this.setRequestHandler(method, fn),
      addNotificationHandler: (method, fn) => this.onNotification(method, fn),
      addInnerMiddleware: (entry) => {
        this.#inner.push(entry);
        this.#middleware = [...this.#outer, ...this.#inner];
      },
      listenRaw: (filter, options) => this.listen(filter, options),
    });
  }

  #call(session: Session, method: string, params: JsonObject, options: CallOptions | undefined): Promise<JsonObject> {
    if (!this.#allowed.has(method)) {
      const refusal = findRefusal(session, method);
      if (refusal) return Promise.reject(refusal);
      this.#allowed.add(method);
    }
    if (this.#middleware.length === 0) return this.#send(session, method, params, options, 1);
    const { revision, server } = session;
    const state = new Map<unknown, unknown>();
    const describe = (current: JsonObject) => ({
      method,
      params: current,
      target: toTarget(current),
      revision,
      era: revision.era,
      server,
      signal: options?.signal,
      state,
    });
    return runMiddleware(this.#middleware, describe, params, (current) => this.#send(session, method, current, options, 1));
  }

  #send(
    session: Session,
    method: string,
    params: JsonObject,
    options: CallOptions | undefined,
    round: number,
    isRepeated = false,
  ): Promise<JsonObject> {
    let wire: JsonObject | undefined;
    try {
      wire = session.toWire(method, params, options?.meta);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    const named = this.#extensions.headersOf(method, params);
    const sent = named === undefined ? options : { ...options, headers: { ...named, ...options?.headers } };
    return session.link.request(method, wire, sent as LinkRequestOptions | undefined).then(
      (result) => this.#read(session, method, params, options, round, result),
      (error: unknown) => {
        if (session.renegotiate(error)) return this.#send(session, method, params, options, round);
        if (error instanceof SessionLostError && !isRepeated && this.#connector.canRestart) {
          return this.#replaceIfLost(session, error, options).then((other) => this.#send(other, method, params, options, round, true));
        }
        throw toClientError(error, { method, params, era: session.revision.era, isReopened: this.#connector.canRestart });
      },
    );
  }

  #read(
    session: Session,
    method: string,
    params: JsonObject,
    options: CallOptions | undefined,
    round: number,
    result: JsonObject,
  ): JsonObject | Promise<JsonObject> {
    const { revision } = session;
    const { resultType } = result;
    if (resultType === undefined || resultType === 'complete' || !revision.rules.resultType) {
      const convert = revision.fromWire.results.get(method);
      return convert ? convert(result) : result;
    }
    const signal = options?.signal;
    if (resultType === 'input_required' && findRequest(revision, method, 'client')?.inputRequired) {
      const maxRounds = this.options.maxInputRounds ?? 10;
      return import('./input-required.ts')
        .then(({ answerInputRequired }) =>
          answerInputRequired(params, result, { method, answers: this.settings.answers, signal, round, maxRounds }),
        )
        .then((retry) => this.#send(session, method, retry, options, round + 1));
    }
    const read = this.#extensions.readerOf(String(resultType), session.server.capabilities);
    if (read) return read(result, { method, params, ...(signal && { signal }) });
    const text = `the server answered "${method}" with a result of the type ${JSON.stringify(resultType)}, which nobody here understands`;
    throw new UnknownResultTypeError(text, String(resultType), result);
  }

  /** What a lost session did not carry out may be sent again in the one that takes its place. @throws Any other error. */
  #replaceIfLost(session: Session, error: unknown, options: CallOptions | undefined): Promise<Session> {
    if (!(error instanceof SessionLostError) || !this.#connector.canRestart) return Promise.reject(error as Error);
    return abortable(this.#connector.replace(session), options?.signal);
  }

  /** Runs a callback of the program. One that is async may fail later, which must not go unhandled. */
  #attempt(fn: () => unknown): void {
    try {
      const outcome = fn();
      if (outcome instanceof Promise) outcome.catch((error: unknown) => this.report(error));
    } catch (error) {
      this.report(error);
    }
  }
}

/** Why a request cannot be sent to this server; undefined where it can. Methods that MCP does not know are an extension's. */
function findRefusal({ revision, server, isDiscovered }: Session, method: string): Error | undefined {
  const facts = findRequest(revision, method, 'client');
  if (!facts) {
    const isForeign = REVISIONS.some(({ requests }) => requests.has(method));
    return isForeign ? new UnsupportedMethodError(`clients do not send "${method}" in ${revision.version}`, method) : undefined;
  }
  const needed = facts.serverCapability;
  if (needed === undefined || !isDiscovered || hasCapability(server.capabilities, needed)) return undefined;
  return lacking(needed, method);
}

function lacking(capability: string, method: string): MissingCapabilityError {
  return new MissingCapabilityError(`"${method}" needs the capability "${capability}", which the server does not declare`, 'server', [
    capability,
  ]);
}

function toTarget({ name, uri }: JsonObject): string | undefined {
  if (typeof name === 'string') return name;
  return typeof uri === 'string' ? uri : undefined;
}
