/** The low-level server: methods and notifications by name, requests as they come. `McpServer` is built on it. */

import {
  type JsonObject,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Logger,
  type ServerConnection,
  type Transport,
} from '@mortise/jsonrpc-core';
import type { ConnectOptions, TransportLike } from '@mortise/jsonrpc-core/transport';
import { REVISIONS } from '@mortise/protocol';
import type {
  Implementation,
  LoggingMessageNotificationParams,
  ParamsOf,
  RequestMethod,
  ServerCapabilities,
} from '@mortise/protocol/model';
import { isLoggingLevel } from '@mortise/protocol/checks';
import type {
  EndpointTransport,
  Call,
  ExtensionCall,
  LegacySession,
  ListenFilter,
  McpEndpoint,
  ParamHeaders,
  Principal,
  SessionLink,
  SessionState,
} from '@mortise/protocol/contracts';
import { createContext } from './call-context.ts';
import { openChannel } from './channel.ts';
import type { HandlerContext } from './context.ts';
import { addSessionMethods } from './era/handshake.ts';
import { addDiscovery, serveModern } from './era/stateless.ts';
import { checkType } from './check-types.ts';
import { RegistrationError } from './errors.ts';
import { installExtensions } from './extension-host.ts';
import { openHostedSession } from './open-session.ts';
import { addListen } from './add-listen.ts';
import { refuseMisspelt } from './known-methods.ts';
import { noSuchLevel, warnOfSilence } from './logging.ts';
import type { Middleware } from './middleware/middleware.ts';
import type { ServerOptions } from './options.ts';
import type { RawHandler } from './raw-call.ts';
import { serveRaw } from './serve-raw.ts';
import type { Tools } from './registry/tools.ts';
import { ServerCore } from './server-core.ts';

/** A request as a low-level handler sees it: canonical, checked. */
export interface HandlerRequest<Params = JsonObject> {
  readonly method: string;
  readonly params: Params;
}

/** Serves one method. What it gives is the canonical result; a `ProtocolError` that it throws is the answer. */
export type RequestHandler<Params = JsonObject, App = unknown> = (
  request: HandlerRequest<Params>,
  ctx: HandlerContext<App>,
) => JsonObject | Promise<JsonObject>;

/** Is told one notification of clients. */
export type NotificationHandler = (
  notification: { readonly method: string; readonly params: JsonObject },
  call: ExtensionCall,
) => void | Promise<void>;

/** How a server ends. */
export interface CloseOptions {
  /** How long what is in flight may still take, in milliseconds. @default 0 */
  readonly drainMs?: number | undefined;
}

type KnownParams<M extends string> = M extends RequestMethod ? NonNullable<ParamsOf<M>> : JsonObject;

/** What is inside a `Server`, for `McpServer` and nobody else: no entry point exports it. */
export interface ServerParts {
  readonly core: ServerCore;
  setTools(tools: Tools): void;
}

let readParts: (server: Server<never>) => ServerParts;

/** Opens a server up. */
export function partsOf(server: Server<never>): ServerParts {
  return readParts(server);
}

/**
 * A server by methods. It serves any number of connections, sessions and exchanges at once, in every revision, and keeps nothing
 * of one caller for another.
 *
 * `initialize`, `ping`, `server/discover`, `subscriptions/listen`, and a session's methods are there already; a handler that is
 * set for one of them replaces it.
 */
export class Server<App = unknown> implements McpEndpoint {
  readonly #core: ServerCore;
  #tools: Tools | undefined;

  static {
    readParts = (server) => ({
      core: server.#core,
      setTools: (tools) => {
        server.#tools = tools;
      },
    });
  }

  /**
   * Nothing is served before `connect`, or before something that hosts the server is given it.
   *
   * @param info Shown to clients.
   * @throws {RegistrationError} `ERR_REGISTRATION`: `info` lacks a name or version, or an option is none or of another type.
   */
  constructor(info: Implementation, options: ServerOptions<App> = {}) {
    this.#core = new ServerCore(info, options as ServerOptions);
    const filters: ListenFilter[] = [];
    addSessionMethods(this.#core);
    addDiscovery(this.#core);
    addListen(this.#core, filters);
    installExtensions(this.#core, filters, () => this.#tools);
  }

  // ---- what it serves

  /** Declares capabilities beside those of `options.capabilities`. Clients that are connected already do not learn of it. */
  registerCapabilities(capabilities: ServerCapabilities): void {
    checkType('registerCapabilities(capabilities): "capabilities"', capabilities, 'object');
    this.#core.capabilities.declare(capabilities);
    this.#core.forgetResolved();
  }

  /**
   * Serves a method, of the protocol or of your own. The capability that a method of the protocol needs is advertised with it.
   *
   * @param method One of the protocol's is served only in the revisions that have it.
   */
  setRequestHandler<M extends string>(method: M, handler: RequestHandler<KnownParams<M>, App>): this {
    checkType('setRequestHandler(method, handler): "method"', method, 'string');
    checkType(`setRequestHandler("${method}", handler): "handler"`, handler, 'function');
    const run = handler as RequestHandler<JsonObject, unknown>;
    this.#core.setMethod(method, { isBounded: true, run: (params, call) => run({ method, params }, createContext(call)) });
    const [capability] = capabilityPath(method);
    if (capability !== undefined) this.#core.registerCapability(capability, {});
    return this;
  }

  /** Takes back `setRequestHandler`: the method is answered with -32601 from then on. */
  removeRequestHandler(method: string): this {
    this.#core.deleteMethod(method);
    return this;
  }

  /** Is told a notification of legacy clients, such as `notifications/initialized` or `notifications/roots/list_changed`. */
  setNotificationHandler(method: string, handler: NotificationHandler): this {
    checkType('setNotificationHandler(method, handler): "method"', method, 'string');
    checkType(`setNotificationHandler("${method}", handler): "handler"`, handler, 'function');
    this.#core.notifications.set(method, { eras: undefined, run: (params, call) => handler({ method, params }, call) });
    return this;
  }

  /** Takes back `setNotificationHandler`. */
  removeNotificationHandler(method: string): this {
    this.#core.notifications.delete(method);
    return this;
  }

  /**
   * Sees every request first, as it came and whatever its method or revision, and may answer it as it likes. For gateways: nothing
   * is checked or converted; unknown methods, members and error data pass byte for byte as far as JSON keeps them.
   */
  onAnyRequest(handler: RawHandler): this {
    checkType('onAnyRequest(handler): "handler"', handler, 'function');
    if (this.#core.rawHandler) throw new RegistrationError('onAnyRequest is set already: one handler sees every request');
    this.#core.rawHandler = handler;
    return this;
  }

  /**
   * Wraps every request, or those of one method. The first one added is the outermost.
   *
   * @throws {RegistrationError} `ERR_REGISTRATION`: no function, or the method's name is misspelt.
   */
  use(middleware: Middleware<App>): this;
  use(method: string, middleware: Middleware<App>): this;
  use(first: string | Middleware<App>, second?: Middleware<App>): this {
    const [method, middleware] = typeof first === 'string' ? [first, second] : [undefined, first];
    checkType(`use(${method === undefined ? '' : `"${method}", `}middleware): "middleware"`, middleware, 'function');
    if (method !== undefined) refuseMisspelt(method, this.#core);
    this.#core.addMiddleware(middleware as Middleware, method);
    return this;
  }

  // ---- how it is reached

  /**
   * Serves a connection. May be called any number of times, each with a transport of its own.
   *
   * @param transport Also one that was written for another SDK, with the same members.
   * @throws Whatever the transport's `start` rejects with.
   */
  connect(transport: TransportLike | EndpointTransport, options: ConnectOptions = {}): Promise<ServerConnection> {
    return connectTo(this, this.#core, transport, options);
  }

  /** Whether a connection is open. */
  isConnected(): boolean {
    return this.#core.connections.size > 0;
  }

  /** Ends subscriptions with their result, lets calls finish, aborts what is left, closes every connection and session. */
  close(options: CloseOptions = {}): Promise<void> {
    return this.#core.close(options.drainMs ?? 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async handle(request: JsonRpcRequest, call: Call): Promise<JsonRpcResponse> {
    const core = this.#core;
    if (!core.rawHandler) return serveModern(core, request, call, 'exchange');
    const carrier = { core, host: call, via: 'exchange' as const, sessionId: undefined };
    return serveRaw(request, carrier, () => serveModern(core, request, call, 'exchange'));
  }

  openSession(link: SessionLink, saved?: SessionState): LegacySession {
    return openHostedSession(this.#core, link, saved);
  }

  paramHeaders(toolName: string, principal: Principal, caller?: Pick<Call, 'auth' | 'origin'>): ParamHeaders | undefined {
    return this.#tools?.paramHeaders(toolName, principal, caller);
  }

  nameParam(method: string): string | undefined {
    return this.#core.nameParam(method);
  }

  offerLogger(logger: Logger): void {
    this.#core.offerLogger(logger);
  }

  // ---- what it tells unasked

  /** Tells clients that the list of tools changed; registering and handles do so by themselves. */
  async sendToolListChanged(): Promise<void> {
    this.#core.listChanges.mark('tools');
  }

  /** Tells clients that the list of resources or templates changed; registering and handles do so by themselves. */
  async sendResourceListChanged(): Promise<void> {
    this.#core.listChanges.mark('resources');
  }

  /** Tells clients that the list of prompts changed; registering and handles do so by themselves. */
  async sendPromptListChanged(): Promise<void> {
    this.#core.listChanges.mark('prompts');
  }

  /** Tells those who subscribed to a resource that it changed. */
  async sendResourceUpdated(params: { readonly uri: string }): Promise<void> {
    checkType('sendResourceUpdated({ uri }): "uri"', (params as Partial<typeof params> | undefined)?.uri, 'string');
    return this.#core.publishResourceUpdated(params.uri);
  }

  /**
   * Sends a log message to legacy clients, as far as their levels let it pass. Modern clients have log messages within their own
   * requests only: use `ctx.log`.
   *
   * @param sessionId The one session to send it to. @default all of this process
   * @deprecated since 2026-07-28: write to stderr, or use OpenTelemetry. Works in every legacy revision.
   */
  async sendLoggingMessage(params: LoggingMessageNotificationParams, sessionId?: string): Promise<void> {
    checkType('sendLoggingMessage({ level, data }): its argument', params, 'object');
    const { level, data, logger } = params;
    if (!isLoggingLevel(level)) throw noSuchLevel(level);
    for (const session of this.#core.sessions) {
      if (sessionId !== undefined && session.id !== sessionId) continue;
      if (!session.revision) continue;
      if (!this.#core.capabilities.has(session.revision, 'logging')) {
        warnOfSilence(this.#core, session.revision, 'sendLoggingMessage');
        continue;
      }
      const admitted = session.logGate.admit(level, data, logger);
      if (admitted) session.tell({ jsonrpc: '2.0', method: 'notifications/message', params: admitted }, undefined);
    }
  }

  /** Sends a notification to every legacy client that is ready; one of the protocol's only where the revision has it. */
  async notify(method: string, params?: JsonObject): Promise<void> {
    checkType('notify(method, params): "method"', method, 'string');
    const message: JsonRpcNotification = { jsonrpc: '2.0', method, ...(params ? { params } : {}) };
    for (const session of this.#core.sessions) session.tell(message, undefined);
  }
}

/** The capability that a method of the protocol needs, in the newest revision that has it. */
function capabilityPath(method: string): readonly string[] {
  const facts = REVISIONS.map((revision) => revision.requests.get(method)).find((each) => each !== undefined);
  return facts?.serverCapability?.split('.') ?? [];
}

/** A transport that knows where a server without a logger of its own had best write: the class of stdio does. */
interface LoggerOffering {
  readonly defaultLogger?: Logger | undefined;
}

/** Serves a transport: one that hosts exchanges takes the endpoint itself. */
export function connectTo(
  endpoint: McpEndpoint & { connect(transport: Transport): Promise<ServerConnection> },
  core: ServerCore,
  transport: TransportLike | EndpointTransport,
  { logger }: ConnectOptions,
): Promise<ServerConnection> {
  if (!isEndpointTransport(transport) && !isChannel(transport)) {
    const what = 'connect(transport) needs a transport, an object with start(), send() and close(), such as a new StdioServerTransport()';
    return Promise.reject(new RegistrationError(`${what}; to serve stdio write serveStdio(server)`));
  }
  const offered = logger ?? (transport as LoggerOffering).defaultLogger;
  if (offered) core.offerLogger(offered);
  return isEndpointTransport(transport) ? transport.attach(endpoint) : openChannel(core, transport as Transport);
}

function isEndpointTransport(transport: TransportLike | EndpointTransport): transport is EndpointTransport {
  return typeof (transport as Partial<EndpointTransport> | undefined)?.attach === 'function';
}

function isChannel(transport: Partial<TransportLike> | undefined): boolean {
  const { start, send, close } = transport ?? {};
  return [start, send, close].every((member) => typeof member === 'function');
}
