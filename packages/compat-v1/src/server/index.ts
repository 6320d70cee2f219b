/** `/server`: v1's low-level `Server` over ours, so that it serves clients of every revision. */

import { assertClientRequestTaskCapability, assertToolsCallTaskCapability } from '../experimental/tasks/helpers.ts';
import { ExperimentalServerTasks } from '../experimental/tasks/server.ts';
import { assertCanHandle, assertCanRequest, assertServerCanNotify, withTaskMethods } from '../shared/capabilities.ts';
import {
  mergeCapabilities,
  type NotificationOptions,
  Protocol,
  type ProtocolOptions,
  type RequestHandlerExtra,
  type RequestOptions,
} from '../shared/protocol.ts';
import type { Transport } from '../shared/transport.ts';
import * as v1 from '../types.ts';
import { OwnJsonSchemaValidator } from '../validation/own-validator.ts';
import type { jsonSchemaValidator } from '../validation/types.ts';
import { read } from '../shared/read.ts';
import { assertToolMessages } from './sampling-rules.ts';
import { ServerWire } from './server-wire.ts';
import { type AnyObjectSchema, getMethodLiteral, type SchemaOutput } from './zod-compat.ts';

export type ServerOptions = ProtocolOptions & {
  /** What the server declares. */
  capabilities?: v1.ServerCapabilities;
  /** How to use the server, for the model. */
  instructions?: string;
  /** Checks what users fill in. @default our own validator */
  jsonSchemaValidator?: jsonSchemaValidator;
};

/** @deprecated Use `McpServer`, unless a handler of your own needs a method that it does not have. */
export class Server<
  RequestT extends v1.Request = v1.Request,
  NotificationT extends v1.Notification = v1.Notification,
  ResultT extends v1.Result = v1.Result,
> extends Protocol<v1.ServerRequest | RequestT, v1.ServerNotification | NotificationT, v1.ServerResult | ResultT> {
  /** Called when a client with a session has finished `initialize`. */
  oninitialized?: (() => void) | undefined;
  readonly #info: v1.Implementation;
  readonly #validator: jsonSchemaValidator;
  readonly #instructions: string | undefined;
  #capabilities: v1.ServerCapabilities;
  #wire: ServerWire | undefined;
  #experimental: { tasks: ExperimentalServerTasks<RequestT, NotificationT, ResultT> } | undefined;

  /** @param serverInfo The server's name and version. */
  constructor(serverInfo: v1.Implementation, options: ServerOptions = {}) {
    super(options);
    this.#info = serverInfo;
    this.#capabilities = options.capabilities ?? {};
    this.#instructions = options.instructions;
    this.#validator = options.jsonSchemaValidator ?? new OwnJsonSchemaValidator();
  }

  /** Tasks of the client. */
  get experimental(): { tasks: ExperimentalServerTasks<RequestT, NotificationT, ResultT> } {
    return (this.#experimental ??= { tasks: new ExperimentalServerTasks(this) });
  }

  /** Declares more capabilities. @throws {Error} There is a connection already. */
  registerCapabilities(capabilities: v1.ServerCapabilities): void {
    if (this.transport) throw new Error('Cannot register capabilities after connecting to transport');
    this.#capabilities = mergeCapabilities(this.#capabilities, capabilities);
  }

  // ---- handlers

  override setRequestHandler<T extends AnyObjectSchema>(
    requestSchema: T,
    handler: (
      request: SchemaOutput<T>,
      extra: RequestHandlerExtra<v1.ServerRequest | RequestT, v1.ServerNotification | NotificationT>,
    ) => v1.ServerResult | ResultT | Promise<v1.ServerResult | ResultT>,
  ): void {
    if (getMethodLiteral(requestSchema) !== 'tools/call') return super.setRequestHandler(requestSchema, handler);
    super.setRequestHandler(requestSchema, async (request, extra) => {
      const { params } = read(v1.CallToolRequestSchema, request, 'Invalid tools/call request');
      const result = await handler(request, extra);
      if (params.task) return read(v1.CreateTaskResultSchema, result, 'Invalid task creation result');
      return read(v1.CallToolResultSchema, result, 'Invalid tools/call result');
    });
  }

  /** @internal */
  override _createWire(transport: Transport, onClosed: () => void): ServerWire {
    const capabilities = withTaskMethods(this.#capabilities, this._options);
    const declared = { info: this.#info, capabilities, instructions: this.#instructions };
    return (this.#wire = new ServerWire(this as unknown as Server, declared, transport, onClosed));
  }

  /** @internal Whether the client that is being served has no core tasks, so that a tool that needs them runs to its end. */
  get _isWithoutTasks(): boolean {
    return this.#wire?.isWithoutTasks === true;
  }

  // ---- the client

  /** What the client declares. Undefined until it has sent `initialize`, or a request of its own that says so. */
  getClientCapabilities(): v1.ClientCapabilities | undefined {
    return this.#wire?.client?.capabilities;
  }

  getClientVersion(): v1.Implementation | undefined {
    return this.#wire?.client?.info;
  }

  async ping(): Promise<v1.EmptyResult> {
    return this.request({ method: 'ping' }, v1.EmptyResultSchema);
  }

  /** Asks the client's model. @throws {Error} The client has no tools in sampling, or the results of tools do not fit their calls. */
  async createMessage(params: v1.CreateMessageRequestParamsBase, options?: RequestOptions): Promise<v1.CreateMessageResult>;
  async createMessage(params: v1.CreateMessageRequestParamsWithTools, options?: RequestOptions): Promise<v1.CreateMessageResultWithTools>;
  async createMessage(
    params: v1.CreateMessageRequestParams,
    options?: RequestOptions,
  ): Promise<v1.CreateMessageResult | v1.CreateMessageResultWithTools>;
  async createMessage(
    params: v1.CreateMessageRequestParams,
    options?: RequestOptions,
  ): Promise<v1.CreateMessageResult | v1.CreateMessageResultWithTools> {
    assertToolMessages(params, this.getClientCapabilities());
    const request = { method: 'sampling/createMessage' as const, params };
    return params.tools
      ? this.request(request, v1.CreateMessageResultWithToolsSchema, options)
      : this.request(request, v1.CreateMessageResultSchema, options);
  }

  /** Asks the user by a form or a page. @throws {McpError} The answer does not fit the form. */
  async elicitInput(params: v1.ElicitRequestFormParams | v1.ElicitRequestURLParams, options?: RequestOptions): Promise<v1.ElicitResult> {
    const { form, url } = this.getClientCapabilities()?.elicitation ?? {};
    if (params.mode === 'url') {
      if (!url) throw new Error('Client does not support url elicitation.');
      return this.request({ method: 'elicitation/create', params }, v1.ElicitResultSchema, options);
    }
    if (!form) throw new Error('Client does not support form elicitation.');
    const asked = { ...params, mode: 'form' as const };
    const result = await this.request({ method: 'elicitation/create', params: asked }, v1.ElicitResultSchema, options);
    if (result.action === 'accept' && result.content) this.#checkContent(result.content, asked.requestedSchema);
    return result;
  }

  #checkContent(content: object, schema: v1.ElicitRequestFormParams['requestedSchema']): void {
    let outcome;
    try {
      outcome = this.#validator.getValidator(schema)(content);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new v1.McpError(v1.ErrorCode.InternalError, `Error validating elicitation response: ${reason}`);
    }
    if (outcome.valid) return;
    throw new v1.McpError(
      v1.ErrorCode.InvalidParams,
      `Elicitation response content does not match requested schema: ${outcome.errorMessage}`,
    );
  }

  /** Makes a function that tells the client that the user has finished with a page. */
  createElicitationCompletionNotifier(elicitationId: string, options?: NotificationOptions): () => Promise<void> {
    if (!this.getClientCapabilities()?.elicitation?.url)
      throw new Error('Client does not support URL elicitation (required for notifications/elicitation/complete)');
    return () => this.notification({ method: 'notifications/elicitation/complete', params: { elicitationId } }, options);
  }

  async listRoots(params?: v1.ListRootsRequest['params'], options?: RequestOptions): Promise<v1.ListRootsResult> {
    return this.request({ method: 'roots/list', params }, v1.ListRootsResultSchema, options);
  }

  // ---- notifications

  /** Sends a log message, if the client's log level includes it. @param sessionId The session to send it to. @default every one */
  async sendLoggingMessage(params: v1.LoggingMessageNotificationParams, sessionId?: string): Promise<void> {
    if (!this.#capabilities.logging) return;
    if (!this.transport) throw new Error('Not connected');
    await this.#wire?.log(params, sessionId);
  }

  async sendResourceUpdated(params: v1.ResourceUpdatedNotificationParams): Promise<void> {
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
    assertCanRequest('Client', this.getClientCapabilities(), method);
  }

  protected override assertNotificationCapability(method: string): void {
    assertServerCanNotify(this.#capabilities, this.getClientCapabilities(), method);
  }

  protected override assertRequestHandlerCapability(method: string): void {
    assertCanHandle('Server', this.#capabilities, method);
  }

  protected override assertTaskCapability(method: string): void {
    assertClientRequestTaskCapability(this.getClientCapabilities()?.tasks?.requests, method, 'Client');
  }

  protected override assertTaskHandlerCapability(method: string): void {
    assertToolsCallTaskCapability(this.#capabilities.tasks?.requests, method, 'Server');
  }
}
