/** `/server`: v1's low-level `Server` over ours, so that it serves clients of every revision. */

import { type JsonObject, isMortiseError, ProtocolError, type RequestId } from '@mortise/jsonrpc-core';
import { type Era, revisionsOf } from '@mortise/protocol';
import type { EndpointTransport, ExtensionCall } from '@mortise/protocol/contracts';
import type { HandlerContext } from '@mortise/server';
import { type MiddlewareCall, Server as Core } from '@mortise/server/low-level';
import { withTaskMethods } from '../experimental/tasks/declare.ts';
import { assertClientRequestTaskCapability, assertToolsCallTaskCapability } from '../experimental/tasks/helpers.ts';
import { ExperimentalServerTasks } from '../experimental/tasks/server.ts';
import { AdaptedTransport } from '../shared/adapted-transport.ts';
import {
  mergeCapabilities,
  type NotificationOptions,
  Protocol,
  type ProtocolOptions,
  type RequestHandlerExtra,
  type RequestOptions,
} from '../shared/protocol.ts';
import type { Transport } from '../shared/transport.ts';
import { toErrorObject, type Wire, type WireRequestOptions } from '../shared/wire.ts';
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  type ClientCapabilities,
  ClientCapabilitiesSchema,
  type CreateMessageRequestParams,
  type CreateMessageRequestParamsBase,
  type CreateMessageRequestParamsWithTools,
  type CreateMessageResult,
  CreateMessageResultSchema,
  type CreateMessageResultWithTools,
  CreateMessageResultWithToolsSchema,
  CreateTaskResultSchema,
  type ElicitRequestFormParams,
  type ElicitRequestURLParams,
  type ElicitResult,
  ElicitResultSchema,
  type EmptyResult,
  EmptyResultSchema,
  ErrorCode,
  type Implementation,
  type JSONRPCRequest,
  type ListRootsRequest,
  type ListRootsResult,
  ListRootsResultSchema,
  type LoggingMessageNotificationParams,
  McpError,
  type Notification,
  type Request,
  type ResourceUpdatedNotificationParams,
  type Result,
  type ServerCapabilities,
  type ServerNotification,
  type ServerRequest,
  type ServerResult,
} from '../types.ts';
import { OwnJsonSchemaValidator } from '../validation/own-validator.ts';
import type { jsonSchemaValidator } from '../validation/types.ts';
import { read } from '../shared/read.ts';
import { assertCapabilityOfClient, assertCapabilityOfHandler, assertCapabilityOfNotification } from './capabilities.ts';
import { current, incoming, type Running } from './incoming.ts';
import { assertToolMessages } from './sampling-rules.ts';
import { type AnyObjectSchema, getMethodLiteral, type SchemaOutput } from './zod-compat.ts';

export type ServerOptions = ProtocolOptions & {
  /** What the server declares. */
  capabilities?: ServerCapabilities;
  /** How to use the server, for the model. */
  instructions?: string;
  /** Checks what users fill in. @default our own validator */
  jsonSchemaValidator?: jsonSchemaValidator;
};

/** The newest revision with sessions: the shapes that v1 programs know. */
const [V1] = revisionsOf('legacy');

/** What our server answers by itself. */
const OWN_METHODS: ReadonlySet<string> = new Set(['initialize', 'ping', 'server/discover', 'subscriptions/listen', 'logging/setLevel']);

/** @deprecated Use `McpServer`, unless a handler of your own needs a method that it does not have. */
export class Server<
  RequestT extends Request = Request,
  NotificationT extends Notification = Notification,
  ResultT extends Result = Result,
> extends Protocol<ServerRequest | RequestT, ServerNotification | NotificationT, ServerResult | ResultT> {
  /** Called when a client with a session has finished `initialize`. */
  oninitialized?: (() => void) | undefined;
  readonly #core: Core;
  readonly #validator: jsonSchemaValidator;
  #capabilities: ServerCapabilities;
  #client: { readonly info: Implementation | undefined; readonly capabilities: ClientCapabilities } | undefined;
  /** The way to the client outside of its requests. */
  #session: ExtensionCall | undefined;
  #era: Era = 'legacy';
  #hasFallback = false;
  #experimental: { tasks: ExperimentalServerTasks<RequestT, NotificationT, ResultT> } | undefined;

  /** @param serverInfo The server's name and version. */
  constructor(serverInfo: Implementation, options: ServerOptions = {}) {
    super(options);
    const { capabilities = {}, instructions } = options;
    this.#capabilities = capabilities;
    this.#validator = options.jsonSchemaValidator ?? new OwnJsonSchemaValidator();
    this.#core = new Core(serverInfo as ConstructorParameters<typeof Core>[0], {
      capabilities: withTaskMethods(capabilities, options) as JsonObject,
      instructions,
      // v1 lets a handler run for as long as it likes.
      handlerTimeoutMs: Infinity,
      logger: { log: (_level, _message, data) => data?.['error'] !== undefined && this._report(data['error']) },
    });
    this.#core.use('initialize', (call, next) => {
      this.#client = toClient(call.client);
      return this._methods.includes('initialize') ? this.#initialize(call, next()) : next();
    });
    this._onNotificationHandler('notifications/initialized', false);
    for (const method of this._methods) this._onHandler(method, true);
  }

  /** Tasks of the client. */
  get experimental(): { tasks: ExperimentalServerTasks<RequestT, NotificationT, ResultT> } {
    return (this.#experimental ??= { tasks: new ExperimentalServerTasks(this) });
  }

  /** Declares more capabilities. @throws {Error} There is a connection already. */
  registerCapabilities(capabilities: ServerCapabilities): void {
    if (this.transport) throw new Error('Cannot register capabilities after connecting to transport');
    this.#capabilities = mergeCapabilities(this.#capabilities, capabilities);
    this.#core.registerCapabilities(capabilities as JsonObject);
  }

  // ---- handlers

  override setRequestHandler<T extends AnyObjectSchema>(
    requestSchema: T,
    handler: (
      request: SchemaOutput<T>,
      extra: RequestHandlerExtra<ServerRequest | RequestT, ServerNotification | NotificationT>,
    ) => ServerResult | ResultT | Promise<ServerResult | ResultT>,
  ): void {
    if (getMethodLiteral(requestSchema) !== 'tools/call') return super.setRequestHandler(requestSchema, handler);
    super.setRequestHandler(requestSchema, async (request, extra) => {
      const { params } = read(CallToolRequestSchema, request, 'Invalid tools/call request');
      const result = await handler(request, extra);
      if (params.task) return read(CreateTaskResultSchema, result, 'Invalid task creation result');
      return read(CallToolResultSchema, result, 'Invalid tools/call result');
    });
  }

  /** @internal */
  override _onHandler(method: string, isSet: boolean): void {
    if (method === 'ping' || method === 'initialize') return;
    if (isSet) this.#core.setRequestHandler(method as string, (request, ctx) => this.#serve(request, ctx));
    else this.#core.removeRequestHandler(method);
  }

  /** @internal */
  override _onFallback(): void {
    if (this.#hasFallback) return;
    this.#hasFallback = true;
    this.#core.onAnyRequest(({ method }) => {
      // Only for this request: clients may think of any number of methods.
      if (this.fallbackRequestHandler && !this._methods.includes(method) && !OWN_METHODS.has(method)) this._onHandler(method, true);
      return undefined;
    });
  }

  /** @internal */
  override _onNotificationHandler(method: string, isSet: boolean): void {
    const isOpening = method === 'notifications/initialized';
    if (!isSet && !isOpening) {
      this.#core.removeNotificationHandler(method);
      return;
    }
    this.#core.setNotificationHandler(method, ({ params }, call) => {
      if (isOpening) this.#session = call;
      if (this._notifications.includes(method)) this._notice({ method, params });
      else if (isOpening) this.oninitialized?.();
    });
  }

  /** Opens the session as always, and answers what the program's own handler of `initialize` says. */
  async #initialize({ requestId, params, signal, sessionId }: MiddlewareCall, opening: Promise<JsonObject>): Promise<JsonObject> {
    await opening;
    const request = { jsonrpc: '2.0', id: requestId, method: 'initialize', params } as JSONRPCRequest;
    return (await this._answer(request, { signal, sessionId, info: incoming.getStore() })) as JsonObject;
  }

  /** Runs a handler. What it throws reaches the client with its message, as in v1. */
  async #serve({ method, params }: { readonly method: string; readonly params: JsonObject }, ctx: HandlerContext): Promise<JsonObject> {
    this.#era = ctx.era;
    const known = ctx.era === 'modern' ? (V1?.toWire.params.get(method)?.(params) ?? params) : params;
    const request = { jsonrpc: '2.0', id: ctx.requestId ?? 0, method, params: known } as JSONRPCRequest;
    const inbound = {
      // Made when a handler asks for it: few do, and it costs more than the rest of a call.
      get signal() {
        return ctx.signal;
      },
      sessionId: ctx.sessionId,
      info: incoming.getStore(),
    };
    // What starts a task outlives its request: what it asks goes by the session.
    const running: Running = { ctx, isOver: params['task'] !== undefined };
    try {
      return (await current.run(running, () => this._answer(request, inbound))) as JsonObject;
    } catch (error) {
      // The question of a modern handler travels as an error; only our server may see it.
      if (isMortiseError(error) && (error.code === 'ERR_SUSPENDED' || error.code === 'ERR_PROTOCOL')) throw error;
      const { code, message, data } = toErrorObject(error);
      throw new ProtocolError(code, message, data as JsonObject | undefined, { cause: error });
    } finally {
      running.isOver = true;
      if (!this._methods.includes(method)) this.#core.removeRequestHandler(method);
    }
  }

  // ---- the connection

  /** @internal */
  override async _open(transport: Transport, onClosed: () => void): Promise<Wire> {
    const isEndpoint = isEndpointTransport(transport);
    const connection = await this.#core.connect(isEndpoint ? transport : this.#adapt(transport, () => this.#onEnd(onClosed)));
    if (isEndpoint) void connection.closed.then(() => this.#onEnd(onClosed));
    return {
      request: (method, params, options) => this.#ask(method, params, options),
      notify: (method, params, relatedRequestId) => this.#tell(method, params, relatedRequestId),
      close: () => connection.close(),
    };
  }

  #adapt(transport: Transport, onClose: () => void): AdaptedTransport {
    return new AdaptedTransport(transport, {
      onMessage: (message, extra, deliver) => {
        if (this.fallbackNotificationHandler && isUnhandled(message, this._notifications)) this._notice(message as Notification);
        // Also without `extra`, if this message is delivered while another is handled.
        if (extra || incoming.getStore()) incoming.run(extra, () => deliver());
        else deliver();
      },
      onError: (error) => this._report(error),
      onClose,
    });
  }

  #onEnd(onClosed: () => void): void {
    this.#session = undefined;
    onClosed();
  }

  #ask(method: string, params: JsonObject | undefined, { signal, timeoutMs }: WireRequestOptions): Promise<JsonObject> {
    const ask = { method, timeoutMs, ...(params && { params }), ...(signal && { signal }) };
    const ctx = handled();
    if (ctx) return ctx.run.ask(ask);
    if (this.#session) return this.#session.request(ask);
    return Promise.reject(
      new McpError(ErrorCode.ConnectionClosed, `"${method}" cannot reach a client: there is no session, and no request is being handled`),
    );
  }

  async #tell(method: string, params: JsonObject | undefined, relatedRequestId: RequestId | undefined): Promise<void> {
    const ctx = handled();
    const isModern = (ctx?.era ?? this.#era) === 'modern';
    if (ctx && (isModern || relatedRequestId !== undefined)) return ctx.sendNotification({ method, params });
    if (!isModern) return this.#core.notify(method, params);
    const core = this.#core;
    if (method === 'notifications/tools/list_changed') return core.sendToolListChanged();
    if (method === 'notifications/prompts/list_changed') return core.sendPromptListChanged();
    if (method === 'notifications/resources/list_changed') return core.sendResourceListChanged();
    if (method === 'notifications/resources/updated') return core.sendResourceUpdated({ uri: String(params?.['uri']) });
  }

  /** @internal Whether the client that is being served has no core tasks, so that a tool that needs them runs to its end. */
  get _isWithoutTasks(): boolean {
    return current.getStore()?.ctx.revision.rules.coreTasks === false;
  }

  // ---- the client

  /** What the client declares. Undefined until it has sent `initialize`, or a request of its own that says so. */
  getClientCapabilities(): ClientCapabilities | undefined {
    return this.#asking?.capabilities;
  }

  getClientVersion(): Implementation | undefined {
    return this.#asking?.info;
  }

  get #asking(): { readonly info: Implementation | undefined; readonly capabilities: ClientCapabilities } | undefined {
    const ctx = current.getStore()?.ctx;
    return ctx?.era === 'modern' ? toClient(ctx.client) : this.#client;
  }

  async ping(): Promise<EmptyResult> {
    return this.request({ method: 'ping' }, EmptyResultSchema);
  }

  /** Asks the client's model. @throws {Error} The client has no tools in sampling, or the results of tools do not fit their calls. */
  async createMessage(params: CreateMessageRequestParamsBase, options?: RequestOptions): Promise<CreateMessageResult>;
  async createMessage(params: CreateMessageRequestParamsWithTools, options?: RequestOptions): Promise<CreateMessageResultWithTools>;
  async createMessage(
    params: CreateMessageRequestParams,
    options?: RequestOptions,
  ): Promise<CreateMessageResult | CreateMessageResultWithTools>;
  async createMessage(
    params: CreateMessageRequestParams,
    options?: RequestOptions,
  ): Promise<CreateMessageResult | CreateMessageResultWithTools> {
    assertToolMessages(params, this.getClientCapabilities());
    const request = { method: 'sampling/createMessage' as const, params };
    return params.tools
      ? this.request(request, CreateMessageResultWithToolsSchema, options)
      : this.request(request, CreateMessageResultSchema, options);
  }

  /** Asks the user by a form or a page. @throws {McpError} The answer does not fit the form. */
  async elicitInput(params: ElicitRequestFormParams | ElicitRequestURLParams, options?: RequestOptions): Promise<ElicitResult> {
    const { form, url } = this.getClientCapabilities()?.elicitation ?? {};
    if (params.mode === 'url') {
      if (!url) throw new Error('Client does not support url elicitation.');
      return this.request({ method: 'elicitation/create', params }, ElicitResultSchema, options);
    }
    if (!form) throw new Error('Client does not support form elicitation.');
    const asked = { ...params, mode: 'form' as const };
    const result = await this.request({ method: 'elicitation/create', params: asked }, ElicitResultSchema, options);
    if (result.action === 'accept' && result.content) this.#checkContent(result.content, asked.requestedSchema);
    return result;
  }

  #checkContent(content: object, schema: ElicitRequestFormParams['requestedSchema']): void {
    let outcome;
    try {
      outcome = this.#validator.getValidator(schema)(content);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new McpError(ErrorCode.InternalError, `Error validating elicitation response: ${reason}`);
    }
    if (outcome.valid) return;
    throw new McpError(ErrorCode.InvalidParams, `Elicitation response content does not match requested schema: ${outcome.errorMessage}`);
  }

  /** Makes a function that tells the client that the user has finished with a page. */
  createElicitationCompletionNotifier(elicitationId: string, options?: NotificationOptions): () => Promise<void> {
    if (!this.getClientCapabilities()?.elicitation?.url)
      throw new Error('Client does not support URL elicitation (required for notifications/elicitation/complete)');
    return () => this.notification({ method: 'notifications/elicitation/complete', params: { elicitationId } }, options);
  }

  async listRoots(params?: ListRootsRequest['params'], options?: RequestOptions): Promise<ListRootsResult> {
    return this.request({ method: 'roots/list', params }, ListRootsResultSchema, options);
  }

  // ---- notifications

  /** Sends a log message, if the client's log level includes it. @param sessionId The session to send it to. @default every one */
  async sendLoggingMessage(params: LoggingMessageNotificationParams, sessionId?: string): Promise<void> {
    if (!this.#capabilities.logging) return;
    if (!this.transport) throw new Error('Not connected');
    const { level, logger } = params;
    const data = params.data as JsonObject;
    const ctx = handled();
    if (ctx?.era === 'modern') return ctx.log(level, data, logger);
    await this.#core.sendLoggingMessage({ level, data, ...(logger !== undefined && { logger }) }, sessionId);
  }

  async sendResourceUpdated(params: ResourceUpdatedNotificationParams): Promise<void> {
    return this.notification({ method: 'notifications/resources/updated', params });
  }

  async sendResourceListChanged(): Promise<void> {
    return this.notification({ method: 'notifications/resources/list_changed' });
  }

  async sendToolListChanged(): Promise<void> {
    return this.notification({ method: 'notifications/tools/list_changed' });
  }

  async sendPromptListChanged(): Promise<void> {
    return this.notification({ method: 'notifications/prompts/list_changed' });
  }

  // ---- what must be declared

  protected override assertCapabilityForMethod(method: string): void {
    assertCapabilityOfClient(this.getClientCapabilities(), method);
  }

  protected override assertNotificationCapability(method: string): void {
    assertCapabilityOfNotification(this.#capabilities, this.getClientCapabilities(), method);
  }

  protected override assertRequestHandlerCapability(method: string): void {
    assertCapabilityOfHandler(this.#capabilities, method);
  }

  protected override assertTaskCapability(method: string): void {
    assertClientRequestTaskCapability(this.getClientCapabilities()?.tasks?.requests, method, 'Client');
  }

  protected override assertTaskHandlerCapability(method: string): void {
    assertToolsCallTaskCapability(this.#capabilities.tasks?.requests, method, 'Server');
  }
}

/** The context of the request whose handler calls. Undefined outside of handlers, and in what a handler left running. */
function handled(): HandlerContext | undefined {
  const running = current.getStore();
  return running && !running.isOver && !running.ctx.signal.aborted ? running.ctx : undefined;
}

function toClient({ info, capabilities }: { readonly info: object | undefined; readonly capabilities: object }): {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
} {
  const read = ClientCapabilitiesSchema.safeParse(capabilities);
  return { info: info as Implementation | undefined, capabilities: read.success ? read.data : {} };
}

function isEndpointTransport(transport: object): transport is Transport & EndpointTransport {
  return typeof (transport as Partial<EndpointTransport>).attach === 'function';
}

function isUnhandled(message: object, handled: readonly string[]): boolean {
  return 'method' in message && !('id' in message) && !handled.includes(message.method as string);
}
