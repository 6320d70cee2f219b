/** `Server`: methods and notifications by name, and the one way that every request goes. `McpServer` adds tools, resources and prompts. */

import type { Clock, JsonObject, JsonRpcNotification, JsonRpcRequest, Logger, ServerConnection, Transport } from '@mortise/jsonrpc-core';
import { type ConnectOptions, guardLogger, silentLogger, systemClock, type TransportLike } from '@mortise/jsonrpc-core/transport';
import { REVISIONS, type Revision, revisionsOf, supportedVersions } from '@mortise/protocol';
import { isLoggingLevel } from '@mortise/protocol/checks';
import type {
  Call,
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

/** A request as a low-level handler sees it: canonical, checked. */
export interface HandlerRequest<Params = JsonObject> {
  readonly method: string;
  readonly params: Params;
}

/** Serves one method. What it gives is the canonical result; a `ProtocolError` that it throws becomes the error response. */
export type RequestHandler<Params = JsonObject, App = unknown> = (
  request: HandlerRequest<Params>,
  ctx: HandlerContext<App>,
) => JsonObject | Promise<JsonObject>;

/** How a server ends. */
export interface CloseOptions {
  /** How long what is in flight may still take, in milliseconds. @default 0 */
  readonly drainMs?: number | undefined;
}

type KnownParams<M extends string> = M extends RequestMethod ? NonNullable<ParamsOf<M>> : JsonObject;

/** How many different warnings a server remembers to have given. */
const MAX_WARNINGS = 1000;

/** What asks the client, loaded when a handler first asks. */
export type Asks = typeof import('./asks/asks.ts');

let loadedAsks: Promise<Asks> | undefined;

/**
 * A server by methods. It serves any number of connections, sessions and exchanges at once, in every revision, and keeps nothing
 * of one caller for another.
 *
 * `initialize`, `ping`, `server/discover`, `subscriptions/listen`, and a session's methods are there already; a handler that is
 * set for one of them replaces it.
 */
export class Server<App = unknown> implements McpEndpoint {
  readonly info: Implementation;
  /** @internal */
  readonly options: ServerOptions;
  /** @internal */
  readonly clock: Clock;
  /** @internal */
  readonly logger: Logger;
  /** @internal */
  readonly revisions: readonly Revision[];
  /** @internal */
  readonly versions: readonly string[];
  /** @internal */
  readonly capabilities: CapabilityBook;
  /** @internal */
  readonly methods: Methods;
  /** @internal The `_meta` of modern results that have no other. One frozen object for all. */
  readonly resultMeta: JsonObject;
  /** @internal */
  readonly deadlines: Deadlines;
  /** @internal */
  readonly events: Events;
  /** @internal */
  readonly extensions: readonly ServerExtension[];
  /** @internal */
  readonly listenFilters: ListenFilter[] = [];
  /** @internal */
  readonly channels: Set<Channel> = new Set();
  /** @internal */
  readonly sessions: Set<Session> = new Set();
  /** @internal */
  readonly listens: Set<Listen> = new Set();
  /** @internal The tools, where this is an `McpServer`. */
  readonly tools: Tools | undefined;
  /** @internal The revisions that a request may name itself, by version. */
  readonly modern: ReadonlyMap<string, Revision>;
  readonly #onClose: (() => Promise<void>)[] = [];
  readonly #warnings = new Set<string>();
  #rawHandler: RawHandler | undefined;
  #sink: Logger;

  /**
   * Nothing is served before `connect`, or before something that hosts the server is given it: `serveStdio(server)`, `serveHttp(server)`.
   *
   * @param info Shown to clients.
   * @throws {RegistrationError} `ERR_REGISTRATION`: `info` lacks a name or version, or an option is unknown or of another type.
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
    addOwnMethods(this);
    for (const extension of this.extensions) installExtension(this, extension);
  }

  // ---- requests

  /** Answers one modern request. */
  handle(request: JsonRpcRequest, call: Call): Served {
    return this.serve(request, call);
  }

  openSession(link: SessionLink, saved?: SessionState): LegacySession {
    return new HostedSession(this, link, saved);
  }

  /**
   * Answers one request. Those of every connection, session and HTTP exchange come here. Neither throws nor rejects, and gives no promise where
   * nothing waits.
   *
   * @internal
   */
  serve(request: JsonRpcRequest, call: Call, session?: Session): Served {
    const raw = this.#rawHandler;
    return raw ? serveRaw(this, raw, request, call, session) : serveRequest(this, request, call, session);
  }

  // ---- what it serves

  /** Declares capabilities beside those of `options.capabilities`. Clients that are connected already do not learn of it. */
  registerCapabilities(capabilities: ServerCapabilities): void {
    this.capabilities.declare(capabilities);
    this.methods.forgetRoutes();
  }

  /**
   * Serves a method, of the protocol or of your own. The capability that a method of the protocol needs is advertised with it.
   *
   * @param method One of the protocol's is served only in the revisions that have it.
   * @throws {RegistrationError} `ERR_REGISTRATION`: the method is not a name, such as a schema of the official SDK's first API.
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

  /** Takes back `setRequestHandler`: requests for the method get -32601 from then on. */
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

  /** Takes back `setNotificationHandler`. */
  removeNotificationHandler(method: string): this {
    this.methods.notifications.delete(method);
    return this;
  }

  /**
   * Sees every request first, as it came and whatever its method or revision, and may answer it as it likes. For gateways: nothing
   * is checked or converted; unknown methods, members and error data pass byte for byte as far as JSON keeps them.
   */
  onAnyRequest(handler: RawHandler): this {
    checkFunction('onAnyRequest(handler)', handler);
    if (this.#rawHandler) throw new RegistrationError('onAnyRequest is set already: one handler sees every request');
    this.#rawHandler = handler;
    return this;
  }

  /**
   * Wraps every request, or those of one method. The first one added is the outermost.
   *
   * @throws {RegistrationError} `ERR_REGISTRATION`: not a function, or there is no such method.
   */
  use(middleware: Middleware<App>): this;
  use(method: string, middleware: Middleware<App>): this;
  use(first: string | Middleware<App>, second?: Middleware<App>): this {
    const [method, middleware] = typeof first === 'string' ? [first, second] : [undefined, first];
    checkFunction(`use(${method === undefined ? '' : `"${method}", `}middleware)`, middleware);
    if (method !== undefined && !this.methods.has(method))
      throw new RegistrationError(`use("${method}", middleware): there is no such method. Set the handler of one of your own first`);
    // Middleware runs for requests only, and these have an id, which a context need not have.
    this.methods.use(method, middleware as unknown as ChainLink);
    return this;
  }

  /** @internal */
  registerCapability(name: string, capability: JsonObject): void {
    if (this.capabilities.register(name, capability)) this.methods.forgetRoutes();
  }

  // ---- how it is reached

  /**
   * Serves a connection. May be called any number of times, each with a transport of its own; no client learns of another.
   *
   * @param transport Also one that was written for another SDK, with the same members.
   * @throws Whatever the transport's `start` rejects with.
   */
  async connect(transport: TransportLike | EndpointTransport, { logger }: ConnectOptions = {}): Promise<ServerConnection> {
    if (!isEndpointTransport(transport) && !isChannel(transport)) {
      const what = 'connect(transport) needs a transport, an object with start(), send() and close(), such as a new StdioServerTransport()';
      throw new RegistrationError(`${what}; to serve stdio write serveStdio(server)`);
    }
    const offered = logger ?? (transport as LoggerOffering).defaultLogger;
    if (offered) this.offerLogger(offered);
    return isEndpointTransport(transport) ? transport.attach(this) : openChannel(this, transport as Transport);
  }

  /** Whether a connection is open. */
  isConnected(): boolean {
    return this.channels.size > 0;
  }

  /** Ends subscriptions with their result, lets calls finish, aborts what is left, closes every connection and session. */
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

  /** @internal */
  onClose(fn: () => Promise<void>): void {
    this.#onClose.push(fn);
  }

  paramHeaders(toolName: string): ParamHeaders | undefined {
    return this.tools?.findAny(toolName)?.parts.paramHeaders;
  }

  nameParam(method: string): string | undefined {
    return this.methods.nameParam(method);
  }

  /** Takes a host's logger, as long as the program gave none and no other host did. It receives the warnings that were given before. */
  offerLogger(logger: Logger): void {
    if (this.options.logger !== undefined || this.#sink !== silentLogger) return;
    this.#sink = logger;
    for (const warning of this.#warnings) this.logger.log('warning', warning);
  }

  /** @internal */
  warnOnce(message: string): void {
    if (this.#warnings.has(message) || this.#warnings.size >= MAX_WARNINGS) return;
    this.#warnings.add(message);
    this.logger.log('warning', message);
  }

  /** @internal */
  async withAsks<T>(use: (asks: Asks) => Promise<T>): Promise<T> {
    return use(await (loadedAsks ??= import('./asks/asks.ts')));
  }

  // ---- what it sends unasked

  /** Tells clients that the list of tools changed; registering and handles do so by themselves. */
  async sendToolListChanged(): Promise<void> {
    this.events.listChanged('tools');
  }

  /** Tells clients that the list of resources or templates changed; registering and handles do so by themselves. */
  async sendResourceListChanged(): Promise<void> {
    this.events.listChanged('resources');
  }

  /** Tells clients that the list of prompts changed; registering and handles do so by themselves. */
  async sendPromptListChanged(): Promise<void> {
    this.events.listChanged('prompts');
  }

  /** Tells those who subscribed to a resource that it changed. */
  async sendResourceUpdated({ uri }: { readonly uri: string }): Promise<void> {
    await this.events.resourceUpdated(uri);
  }

  /**
   * Sends a log message to legacy clients, as far as their levels let it pass. Modern clients have log messages within their own
   * requests only: use `ctx.log`.
   *
   * @param sessionId The one session to send it to. @default all of this process
   * @deprecated since 2026-07-28: write to stderr, or use OpenTelemetry. Works in every legacy revision.
   */
  async sendLoggingMessage({ level, data, logger }: LoggingMessageNotificationParams, sessionId?: string): Promise<void> {
    if (!isLoggingLevel(level)) throw noSuchLevel(level);
    for (const session of this.sessions) if (sessionId === undefined || session.id === sessionId) session.sendLog(level, data, logger);
  }

  /** Sends a notification to every legacy client that is ready. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    const message: JsonRpcNotification = { jsonrpc: '2.0', method, ...(params ? { params } : {}) };
    for (const session of this.sessions) session.tell(message, undefined);
  }
}

/** Makes the app context of each request before any middleware runs. */
function toLink(makeApp: NonNullable<ServerOptions['context']>): ChainLink {
  return async (context, next) => {
    context.app = await makeApp(context as unknown as ContextCall);
    return next();
  };
}

function checkHandler(call: string, method: unknown, handler: unknown): void {
  if (typeof method !== 'string')
    throw new RegistrationError(
      `${call}(method, handler): "method" is a name, such as 'tools/list', in place of the schema that the official SDK takes`,
    );
  checkFunction(`${call}("${method}", handler)`, handler);
}

function checkFunction(what: string, value: unknown): void {
  if (typeof value !== 'function') throw new RegistrationError(`${what}: its last argument must be a function, got ${typeof value}`);
}

/** A transport that knows where a server without a logger of its own had best write: the class of stdio does. */
interface LoggerOffering {
  readonly defaultLogger?: Logger | undefined;
}

function isEndpointTransport(transport: TransportLike | EndpointTransport): transport is EndpointTransport {
  return typeof (transport as Partial<EndpointTransport> | undefined)?.attach === 'function';
}

function isChannel(transport: Partial<TransportLike> | undefined): boolean {
  const { start, send, close } = transport ?? {};
  return [start, send, close].every((member) => typeof member === 'function');
}
