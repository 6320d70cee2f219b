/** `Server`: a server with handlers for methods and notifications by name. `McpServer` adds tools, resources and prompts. */

import type { Clock, JsonObject, JsonRpcNotification, JsonRpcRequest, Logger, ServerConnection, Transport } from '@mortise/jsonrpc-core';
import { type ConnectOptions, guardLogger, silentLogger, systemClock, type TransportLike } from '@mortise/jsonrpc-core/transport';
import { REVISIONS, type Revision, revisionsOf, supportedVersions } from '@mortise/protocol';
import { isLoggingLevel } from '@mortise/protocol/checks';
import type {
  Call,
  CloseOptions,
  EndpointTransport,
  LegacySession,
  ListenFilter,
  McpEndpoint,
  ParamHeaders,
  ServerExtension,
  SessionLink,
  SessionState,
} from '@mortise/protocol/contracts';
import type {
  Implementation,
  LoggingMessageNotificationParams,
  ParamsOf,
  RequestMethod,
  ServerCapabilities,
} from '@mortise/protocol/model';
import { META_SERVER_INFO } from '@mortise/protocol/wire';
import { CapabilityBook } from './capabilities.ts';
import { type Channel, openChannel } from './channel.ts';
import { Deadlines } from './deadlines.ts';
import { RegistrationError } from './errors.ts';
import { Events } from './events.ts';
import { installExtension } from './extension-host.ts';
import type { HandlerContext } from './handler-context.ts';
import type { Listen } from './listen.ts';
import { noSuchLevel } from './logging.ts';
import { type ChainLink, Methods, type NotificationHandler } from './method.ts';
import type { Middleware } from './middleware/middleware.ts';
import { checkServer, chooseRevisions, type ContextCall, type ServerOptions } from './options.ts';
import { addOwnMethods } from './own-methods.ts';
import { type RawHandler, serveRaw } from './raw-handler.ts';
import type { Tools } from './registry/tools.ts';
import { HostedSession } from './hosted-session.ts';
import { type Served, serveRequest } from './serve-request.ts';
import type { Session } from './session.ts';

/** The argument of a `setRequestHandler` handler: a validated request in the shape of the newest revision. */
export interface HandlerRequest<Params = JsonObject> {
  readonly method: string;
  readonly params: Params;
}

/** Handles requests of one method. Returns a result in the newest revision's shape; a thrown `ProtocolError` becomes the error response. */
export type RequestHandler<Params = JsonObject, App = unknown> = (
  request: HandlerRequest<Params>,
  ctx: HandlerContext<App>,
) => JsonObject | Promise<JsonObject>;

type KnownParams<M extends string> = M extends RequestMethod ? NonNullable<ParamsOf<M>> : JsonObject;

/** How many warnings a server remembers, so as not to log the same warning twice. */
const MAX_WARNINGS = 1000;

/** The module that sends requests to the client (elicitation, sampling, roots), loaded when a handler first makes one. */
export type Asks = typeof import('./asks/asks.ts');

let loadedAsks: Promise<Asks> | undefined;

/**
 * A server with a handler for each method. It serves any number of connections, sessions and HTTP exchanges at once, in every revision, and
 * shares no state between callers.
 *
 * `initialize`, `ping`, `server/discover`, `subscriptions/listen` and the methods of sessions are built in. A handler that you set for one of them
 * replaces it.
 */
export class Server<App = unknown> implements McpEndpoint {
  readonly info: Implementation;
  /** @internal The options that the server was created with. */
  readonly options: ServerOptions;
  /** @internal The clock for time limits and timers. */
  readonly clock: Clock;
  /** @internal Where the server writes errors and warnings. */
  readonly logger: Logger;
  /** @internal The protocol revisions that this server serves. */
  readonly revisions: readonly Revision[];
  /** @internal The names of the revisions that this server serves, such as 2025-11-25. */
  readonly versions: readonly string[];
  /** @internal The capabilities that this server advertises. */
  readonly capabilities: CapabilityBook;
  /** @internal The handlers and middleware of this server, by method. */
  readonly methods: Methods;
  /** @internal The `_meta` of modern results whose handler set none. One frozen object, shared by all results. */
  readonly resultMeta: JsonObject;
  /** @internal The time limits of the handlers that run now. */
  readonly deadlines: Deadlines;
  /** @internal Delivers change events of lists and resources to clients. */
  readonly events: Events;
  /** @internal The extensions that were passed as `options.extensions`. */
  readonly extensions: readonly ServerExtension[];
  /** @internal The filters that extensions add to `subscriptions/listen`. */
  readonly listenFilters: ListenFilter[] = [];
  /** @internal The open two-way connections (stdio, WebSocket, in memory). */
  readonly channels: Set<Channel> = new Set();
  /** @internal The open sessions of legacy clients. */
  readonly sessions: Set<Session> = new Set();
  /** @internal The open `subscriptions/listen` requests. */
  readonly listens: Set<Listen> = new Set();
  /** @internal The tools, if this is an `McpServer`. */
  readonly tools: Tools | undefined;
  /** @internal The revisions that a request may name in its `_meta`, by version. */
  readonly modern: ReadonlyMap<string, Revision>;
  readonly #onClose: (() => Promise<void>)[] = [];
  readonly #warnings = new Set<string>();
  #rawHandler: RawHandler | undefined;
  #sink: Logger;

  /**
   * Creates a server. It serves nothing until you call `connect`, or pass it to a host such as `serveStdio(server)` or `serveHttp(server)`.
   *
   * @param info The server's name and version. Clients get them for logs and display.
   * @throws {RegistrationError} `ERR_REGISTRATION`: `info` lacks a name or version, or an option is unknown or has the wrong type.
   */
  constructor(info: Implementation, options: ServerOptions<App> = {}) {
    checkServer(info, options as ServerOptions);
    this.info = info;
    this.options = options as ServerOptions;
    this.clock = options.clock ?? systemClock;
    this.#sink = options.logger ?? silentLogger;
    this.logger = guardLogger({ log: (level, message, data) => this.#sink.log(level, message, data) });
    this.revisions = chooseRevisions(options.revisions);
    this.versions = supportedVersions(this.revisions);
    this.modern = new Map(revisionsOf('modern', this.revisions).map((revision) => [revision.version, revision]));
    this.extensions = options.extensions ?? [];
    this.capabilities = new CapabilityBook(options.capabilities, this.extensions);
    this.methods = new Methods(this.capabilities, options.context && toLink(options.context));
    this.resultMeta = Object.freeze({ [META_SERVER_INFO]: info });
    this.deadlines = new Deadlines(options.handlerTimeoutMs ?? 600_000, this.clock);
    this.events = new Events(options.messageBus, this.clock, this.logger);
    if (options.messageBus && this.modern.size > 0 && !options.clusterKey && !options.requestState?.keys?.length)
      this.warnOnce(
        "The server has a messageBus but no clusterKey: a call that waits for the client's input can continue only on the machine where it began",
      );
    addOwnMethods(this);
    for (const extension of this.extensions) installExtension(this, extension);
  }

  // ---- requests

  /**
   * Serves one request of any connection, session or HTTP exchange. Neither throws nor rejects. Returns a promise only if something has to be
   * awaited.
   *
   * @param session The session of a legacy client. Without it, the request must be a modern one.
   */
  handle(request: JsonRpcRequest, call: Call, session?: Session): Served {
    const raw = this.#rawHandler;
    return raw ? serveRaw(this, raw, request, call, session) : serveRequest(this, request, call, session);
  }

  openSession(link: SessionLink, saved?: SessionState): LegacySession {
    return new HostedSession(this, link, saved);
  }

  // ---- what it serves

  /** Declares capabilities in addition to `options.capabilities`. Clients that are already connected do not see them. */
  registerCapabilities(capabilities: ServerCapabilities): void {
    this.capabilities.declare(capabilities);
    this.methods.forgetRoutes();
  }

  /**
   * Sets the handler of a method that the protocol defines, or of a method of your own. The capability that a protocol method needs is
   * advertised too.
   *
   * @param method A protocol method is only served in revisions that have it.
   * @throws {RegistrationError} `ERR_REGISTRATION`: `method` is not a string. The official SDK's request schemas are not accepted.
   */
  setRequestHandler<M extends string>(method: M, handler: RequestHandler<KnownParams<M>, App>): this {
    checkHandler('setRequestHandler', method, handler);
    const run = handler as RequestHandler<JsonObject, unknown>;
    this.methods.set(method, { run: (params, context) => run({ method, params }, context.forHandler()) });
    const needed = REVISIONS.map(({ requests }) => requests.get(method)?.serverCapability).find((name) => name !== undefined);
    const [capability] = needed?.split('.') ?? [];
    if (capability !== undefined) this.registerCapability(capability, {});
    return this;
  }

  /** Removes the handler of a method. Requests for it then get -32601. */
  removeRequestHandler(method: string): this {
    this.methods.set(method, undefined);
    return this;
  }

  /** Handles a notification of legacy clients, such as `notifications/initialized` or `notifications/roots/list_changed`. */
  setNotificationHandler(method: string, handler: NotificationHandler): this {
    checkHandler('setNotificationHandler', method, handler);
    this.methods.notifications.set(method, handler);
    return this;
  }

  /** Removes the handler that `setNotificationHandler` set for a notification. */
  removeNotificationHandler(method: string): this {
    this.methods.notifications.delete(method);
    return this;
  }

  /**
   * Sets a handler that gets every request before all other handlers, of any method and revision, and may respond to it. For gateways:
   * nothing is validated or converted, so unknown methods, members and error data are kept.
   */
  onAnyRequest(handler: RawHandler): this {
    checkFunction('onAnyRequest(handler)', handler);
    if (this.#rawHandler) throw new RegistrationError('onAnyRequest(handler): this server already has a handler, and can have only one');
    this.#rawHandler = handler;
    return this;
  }

  /**
   * Adds middleware for every request, or for one method. The one added first is the outermost.
   *
   * @throws {RegistrationError} `ERR_REGISTRATION`: `middleware` is not a function, or the method is unknown.
   */
  use(middleware: Middleware<App>): this;
  use(method: string, middleware: Middleware<App>): this;
  use(first: string | Middleware<App>, second?: Middleware<App>): this {
    const [method, middleware] = typeof first === 'string' ? [first, second] : [undefined, first];
    checkFunction(`use(${method === undefined ? '' : `"${method}", `}middleware)`, middleware);
    if (method !== undefined && !this.methods.has(method))
      throw new RegistrationError(`use("${method}", middleware): there is no such method. For your own, call setRequestHandler first`);
    // A context may lack a request id, but middleware only runs for requests, which have one.
    this.methods.use(method, middleware as unknown as ChainLink);
    return this;
  }

  /** @internal Adds the capability that a registered item implies, such as `tools`. */
  registerCapability(name: string, capability: JsonObject): void {
    if (this.capabilities.register(name, capability)) this.methods.forgetRoutes();
  }

  // ---- how it is reached

  /**
   * Serves the client on a transport. May be called any number of times, each with a new transport. Clients do not learn of each other.
   *
   * @param transport Also accepts a transport written for another SDK, with the same members.
   * @throws Whatever the transport's `start` rejects with.
   */
  async connect(transport: TransportLike | EndpointTransport, { logger }: ConnectOptions = {}): Promise<ServerConnection> {
    if (!isEndpointTransport(transport) && !isTransport(transport)) {
      const what = 'connect(transport) needs a transport, an object with start(), send() and close(), such as new StdioServerTransport()';
      throw new RegistrationError(`${what}; to serve stdio write serveStdio(server)`);
    }
    const offered = logger ?? (transport as LoggerOffering).defaultLogger;
    if (offered) this.offerLogger(offered);
    return isEndpointTransport(transport) ? transport.attach(this) : openChannel(this, transport as Transport);
  }

  /** Tells whether any connection made by `connect` is open. */
  isConnected(): boolean {
    return this.channels.size > 0;
  }

  /** Closes the server: ends subscriptions, waits `drainMs` for calls, aborts the rest, and closes every connection and session. */
  async close({ drainMs = 0 }: CloseOptions = {}): Promise<void> {
    await Promise.all([...this.listens].map((listen) => listen.end()));
    await Promise.all([...this.channels].map((channel) => channel.drain(drainMs)));
    await Promise.all([...this.sessions].map((session) => session.close()));
    this.events.stop();
    this.deadlines.stop();
    await Promise.all(this.#onClose.map((fn) => fn()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal Adds a function to call when the server closes. */
  onClose(fn: () => Promise<void>): void {
    this.#onClose.push(fn);
  }

  paramHeaders(toolName: string): ParamHeaders | undefined {
    return this.tools?.findAny(toolName)?.parts.paramHeaders;
  }

  nameParam(method: string): string | undefined {
    return this.methods.nameParam(method);
  }

  /** Called by a host such as `serveStdio`: sets the logger, unless there is one already. The logger also gets earlier warnings. */
  offerLogger(logger: Logger): void {
    if (this.options.logger !== undefined || this.#sink !== silentLogger) return;
    this.#sink = logger;
    for (const warning of this.#warnings) this.logger.log('warning', warning);
  }

  /** @internal Logs a warning, unless this server has logged the same warning before. */
  warnOnce(message: string): void {
    if (this.#warnings.has(message) || this.#warnings.size >= MAX_WARNINGS) return;
    this.#warnings.add(message);
    this.logger.log('warning', message);
  }

  /** @internal Loads the code for requests to the client (elicitation, sampling, roots) and passes it to `use`. */
  async withAsks<T>(use: (asks: Asks) => Promise<T>): Promise<T> {
    return use(await (loadedAsks ??= import('./asks/asks.ts')));
  }

  // ---- what it sends unasked

  /** Notifies clients that the list of tools changed. Registering, changing and removing tools does this automatically. */
  async sendToolListChanged(): Promise<void> {
    this.events.listChanged('tools');
  }

  /** Notifies clients that the list of resources or templates changed. Registering, changing and removing them does this automatically. */
  async sendResourceListChanged(): Promise<void> {
    this.events.listChanged('resources');
  }

  /** Notifies clients that the list of prompts changed. Registering, changing and removing prompts does this automatically. */
  async sendPromptListChanged(): Promise<void> {
    this.events.listChanged('prompts');
  }

  /**
   * Notifies the clients that subscribed to a resource that the resource changed. May be called without `await`: errors are logged.
   *
   * @throws Errors of the message bus, as a rejection: clients may not hear of the change, so call this again.
   */
  sendResourceUpdated({ uri }: { readonly uri: string }): Promise<void> {
    return this.events.resourceUpdated(uri);
  }

  /**
   * Sends a log message to legacy clients whose log level includes it. Modern clients only get log messages within their own requests: use `ctx.log`.
   *
   * @param sessionId The id of the one session to send the message to. @default all sessions of this process
   * @deprecated since 2026-07-28: write to stderr, or use OpenTelemetry. Works in every legacy revision.
   */
  async sendLoggingMessage({ level, data, logger }: LoggingMessageNotificationParams, sessionId?: string): Promise<void> {
    if (!isLoggingLevel(level)) throw noSuchLevel(level);
    for (const session of this.sessions) if (sessionId === undefined || session.id === sessionId) session.sendLog(level, data, logger);
  }

  /** Sends a notification to every legacy client that has sent `notifications/initialized`. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    const message: JsonRpcNotification = { jsonrpc: '2.0', method, ...(params ? { params } : {}) };
    for (const session of this.sessions) session.tell(message, undefined);
  }
}

/** Makes the middleware that calls `options.context` for each request, before all other middleware. */
function toLink(makeApp: NonNullable<ServerOptions['context']>): ChainLink {
  return async (context, next) => {
    context.app = await makeApp(context as unknown as ContextCall);
    return next();
  };
}

function checkHandler(call: string, method: unknown, handler: unknown): void {
  if (typeof method !== 'string')
    throw new RegistrationError(
      `${call}(method, handler): "method" must be a name, such as 'tools/list', and not a schema as in the official SDK`,
    );
  checkFunction(`${call}("${method}", handler)`, handler);
}

function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw new RegistrationError(`${what}: its last argument must be a function, got ${typeof value}`);
}

/** A transport that has a logger for servers without one, such as the stdio transport. */
interface LoggerOffering {
  readonly defaultLogger?: Logger | undefined;
}

function isEndpointTransport(transport: TransportLike | EndpointTransport): transport is EndpointTransport {
  return typeof (transport as Partial<EndpointTransport> | undefined)?.attach === 'function';
}

function isTransport(transport: Partial<TransportLike> | undefined): boolean {
  const { start, send, close } = transport ?? {};
  return [start, send, close].every((member) => typeof member === 'function');
}
