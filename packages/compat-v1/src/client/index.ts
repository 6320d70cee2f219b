/** `/client`: v1's `Client` over ours, so that it talks to servers of every revision. */

import { withTaskMethods } from '../experimental/tasks/declare.ts';
import { assertClientRequestTaskCapability, assertToolsCallTaskCapability } from '../experimental/tasks/helpers.ts';
import { ExperimentalClientTasks } from '../experimental/tasks/client.ts';
import { read } from '../shared/read.ts';
import {
  DEFAULT_REQUEST_TIMEOUT_MSEC,
  mergeCapabilities,
  Protocol,
  type ProtocolOptions,
  type RequestHandlerExtra,
  type RequestOptions,
} from '../shared/protocol.ts';
import type { Transport } from '../shared/transport.ts';
import { toMcpError, type Wire } from '../shared/wire.ts';
import { type AnyObjectSchema, getMethodLiteral, type SchemaOutput } from '../server/zod-compat.ts';
import {
  type CallToolRequest,
  type CallToolResult,
  CallToolResultSchema,
  type ClientCapabilities,
  type ClientNotification,
  type ClientRequest,
  type ClientResult,
  type CompatibilityCallToolResult,
  type CompatibilityCallToolResultSchema,
  type CompleteRequest,
  type CompleteResult,
  CompleteResultSchema,
  CreateMessageRequestSchema,
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  CreateTaskResultSchema,
  ElicitRequestSchema,
  ElicitResultSchema,
  type EmptyResult,
  EmptyResultSchema,
  ErrorCode,
  type GetPromptRequest,
  type GetPromptResult,
  GetPromptResultSchema,
  type Implementation,
  type ListChangedHandlers,
  type ListPromptsRequest,
  type ListPromptsResult,
  ListPromptsResultSchema,
  type ListResourcesRequest,
  type ListResourcesResult,
  ListResourcesResultSchema,
  type ListResourceTemplatesRequest,
  type ListResourceTemplatesResult,
  ListResourceTemplatesResultSchema,
  type ListToolsRequest,
  type ListToolsResult,
  ListToolsResultSchema,
  type LoggingLevel,
  McpError,
  type Notification,
  PromptListChangedNotificationSchema,
  type ReadResourceRequest,
  type ReadResourceResult,
  ReadResourceResultSchema,
  type Request,
  ResourceListChangedNotificationSchema,
  type Result,
  type ServerCapabilities,
  type SubscribeRequest,
  ToolListChangedNotificationSchema,
  type UnsubscribeRequest,
} from '../types.ts';
import { OwnJsonSchemaValidator } from '../validation/own-validator.ts';
import type { jsonSchemaValidator } from '../validation/types.ts';
import { assertCapabilityOfHandler, assertCapabilityOfNotification, assertCapabilityOfServer } from './capabilities.ts';
import { CoreWire } from './core-wire.ts';
import { applyElicitationDefaults, getSupportedElicitationModes } from './elicitation.ts';
import { createListChangedHandler } from './list-changes.ts';
import { ToolFacts } from './tool-facts.ts';

export { getSupportedElicitationModes } from './elicitation.ts';

export type ClientOptions = ProtocolOptions & {
  /** What the client declares. */
  capabilities?: ClientCapabilities;
  /** Checks tools' structured output. @default our own validator */
  jsonSchemaValidator?: jsonSchemaValidator;
  /** What to do when lists change. */
  listChanged?: ListChangedHandlers;
};

interface ServerFacts {
  readonly capabilities: ServerCapabilities;
  readonly info: Implementation | undefined;
  readonly instructions: string | undefined;
}

export class Client<
  RequestT extends Request = Request,
  NotificationT extends Notification = Notification,
  ResultT extends Result = Result,
> extends Protocol<ClientRequest | RequestT, ClientNotification | NotificationT, ClientResult | ResultT> {
  readonly #info: Implementation;
  readonly #tools: ToolFacts;
  readonly #listChanged: ListChangedHandlers | undefined;
  #capabilities: ClientCapabilities;
  #connectOptions: RequestOptions = {};
  #wire: CoreWire | undefined;
  #server: ServerFacts | undefined;
  #experimental: { tasks: ExperimentalClientTasks<RequestT, NotificationT, ResultT> } | undefined;

  /** @param clientInfo The client's name and version. */
  constructor(clientInfo: Implementation, options: ClientOptions = {}) {
    super(options);
    this.#info = clientInfo;
    this.#capabilities = options.capabilities ?? {};
    this.#tools = new ToolFacts(options.jsonSchemaValidator ?? new OwnJsonSchemaValidator());
    this.#listChanged = options.listChanged;
  }

  /** Tools that run as tasks. */
  get experimental(): { tasks: ExperimentalClientTasks<RequestT, NotificationT, ResultT> } {
    return (this.#experimental ??= { tasks: new ExperimentalClientTasks(this) });
  }

  /** Declares more capabilities. @throws {Error} There is a connection already. */
  registerCapabilities(capabilities: ClientCapabilities): void {
    if (this.transport) throw new Error('Cannot register capabilities after connecting to transport');
    this.#capabilities = mergeCapabilities(this.#capabilities, capabilities);
  }

  // ---- the connection

  /**
   * Connects to a server. `initialize` comes first, as in v1; a server that has no sessions is then asked for the revision that it speaks.
   *
   * @throws {McpError} The server refused, or did not answer in time. The connection is closed then.
   * @throws {Error} The server chose a version that v1 does not know.
   */
  override async connect(transport: Transport, options: RequestOptions = {}): Promise<void> {
    this.#connectOptions = options;
    try {
      await super.connect(transport);
    } catch (error) {
      if (this.#wire) await this.#wire.close();
      throw toMcpError(error, options);
    }
    const { core } = this.#wire as CoreWire;
    this.#server = {
      capabilities: (core.getServerCapabilities() ?? {}) as ServerCapabilities,
      info: core.getServerVersion() as Implementation | undefined,
      instructions: core.getInstructions(),
    };
    this.#watchLists(this.#server.capabilities);
  }

  /** @internal */
  override async _open(transport: Transport, onClosed: () => void): Promise<Wire> {
    const { timeout = DEFAULT_REQUEST_TIMEOUT_MSEC } = this.#connectOptions;
    const protocol = this as unknown as Protocol<Request, Notification, Result>;
    const wire = new CoreWire(protocol, this.#info, withTaskMethods(this.#capabilities, this._options), timeout);
    this.#wire = wire;
    await wire.open(transport, onClosed, this.#connectOptions);
    return wire;
  }

  /** What the server declares. Undefined until the client is connected. */
  getServerCapabilities(): ServerCapabilities | undefined {
    return this.#server?.capabilities;
  }

  getServerVersion(): Implementation | undefined {
    return this.#server?.info;
  }

  getInstructions(): string | undefined {
    return this.#server?.instructions;
  }

  // ---- requests

  async ping(options?: RequestOptions): Promise<EmptyResult> {
    return this.request({ method: 'ping' }, EmptyResultSchema, options);
  }

  async complete(params: CompleteRequest['params'], options?: RequestOptions): Promise<CompleteResult> {
    return this.request({ method: 'completion/complete', params }, CompleteResultSchema, options);
  }

  async setLoggingLevel(level: LoggingLevel, options?: RequestOptions): Promise<EmptyResult> {
    return this.request({ method: 'logging/setLevel', params: { level } }, EmptyResultSchema, options);
  }

  async getPrompt(params: GetPromptRequest['params'], options?: RequestOptions): Promise<GetPromptResult> {
    return this.request({ method: 'prompts/get', params }, GetPromptResultSchema, options);
  }

  async listPrompts(params?: ListPromptsRequest['params'], options?: RequestOptions): Promise<ListPromptsResult> {
    return this.request({ method: 'prompts/list', params }, ListPromptsResultSchema, options);
  }

  async listResources(params?: ListResourcesRequest['params'], options?: RequestOptions): Promise<ListResourcesResult> {
    return this.request({ method: 'resources/list', params }, ListResourcesResultSchema, options);
  }

  async listResourceTemplates(
    params?: ListResourceTemplatesRequest['params'],
    options?: RequestOptions,
  ): Promise<ListResourceTemplatesResult> {
    return this.request({ method: 'resources/templates/list', params }, ListResourceTemplatesResultSchema, options);
  }

  async readResource(params: ReadResourceRequest['params'], options?: RequestOptions): Promise<ReadResourceResult> {
    return this.request({ method: 'resources/read', params }, ReadResourceResultSchema, options);
  }

  async subscribeResource(params: SubscribeRequest['params'], options?: RequestOptions): Promise<EmptyResult> {
    return this.request({ method: 'resources/subscribe', params }, EmptyResultSchema, options);
  }

  async unsubscribeResource(params: UnsubscribeRequest['params'], options?: RequestOptions): Promise<EmptyResult> {
    return this.request({ method: 'resources/unsubscribe', params }, EmptyResultSchema, options);
  }

  /** Lists tools, and remembers how to check their output. */
  async listTools(params?: ListToolsRequest['params'], options?: RequestOptions): Promise<ListToolsResult> {
    const result = await this.request({ method: 'tools/list', params }, ListToolsResultSchema, options);
    this.#tools.learn(result.tools);
    return result;
  }

  /**
   * Calls a tool.
   *
   * @throws {McpError} The tool only runs as a task, or its structured output does not fit the schema that was listed.
   */
  async callTool(
    params: CallToolRequest['params'],
    resultSchema: typeof CallToolResultSchema | typeof CompatibilityCallToolResultSchema = CallToolResultSchema,
    options?: RequestOptions,
  ): Promise<CallToolResult | CompatibilityCallToolResult> {
    const { name } = params;
    if (this.#tools.supportOf(name) === 'required')
      throw new McpError(
        ErrorCode.InvalidRequest,
        `Tool "${name}" requires task-based execution. Use client.experimental.tasks.callToolStream() instead.`,
      );
    const result = await this.request({ method: 'tools/call', params }, resultSchema as typeof CallToolResultSchema, options);
    this.#tools.check(name, result);
    return result;
  }

  async sendRootsListChanged(): Promise<void> {
    return this.notification({ method: 'notifications/roots/list_changed' });
  }

  /** @internal Whether calls of the tool should be tasks. */
  _isToolTask(name: string): boolean {
    return this.#server?.capabilities.tasks?.requests?.tools?.call !== undefined && this.#tools.supportOf(name) !== undefined;
  }

  /** @internal @throws {McpError} The result does not fit the tool's output schema. */
  _checkOutput(name: string, result: Result): void {
    this.#tools.check(name, result);
  }

  // ---- handlers

  override setRequestHandler<T extends AnyObjectSchema>(
    requestSchema: T,
    handler: (
      request: SchemaOutput<T>,
      extra: RequestHandlerExtra<ClientRequest | RequestT, ClientNotification | NotificationT>,
    ) => ClientResult | ResultT | Promise<ClientResult | ResultT>,
  ): void {
    const method = getMethodLiteral(requestSchema);
    if (method === 'elicitation/create') {
      super.setRequestHandler(requestSchema, async (request, extra) => this.#elicit(request, () => handler(request, extra)));
    } else if (method === 'sampling/createMessage') {
      super.setRequestHandler(requestSchema, async (request, extra) => sample(request, () => handler(request, extra)));
    } else super.setRequestHandler(requestSchema, handler);
  }

  async #elicit(request: unknown, run: () => unknown): Promise<ClientResult> {
    const { params } = read(ElicitRequestSchema, request, 'Invalid elicitation request');
    const { supportsFormMode, supportsUrlMode } = getSupportedElicitationModes(this.#capabilities.elicitation);
    const isUrl = params.mode === 'url';
    if (!isUrl && !supportsFormMode) throw new McpError(ErrorCode.InvalidParams, 'Client does not support form-mode elicitation requests');
    if (isUrl && !supportsUrlMode) throw new McpError(ErrorCode.InvalidParams, 'Client does not support URL-mode elicitation requests');
    const result = await run();
    if (params.task) return read(CreateTaskResultSchema, result, 'Invalid task creation result');
    const answer = read(ElicitResultSchema, result, 'Invalid elicitation result');
    const fillsIn = this.#capabilities.elicitation?.form?.applyDefaults === true;
    if (params.mode !== 'url' && answer.action === 'accept' && fillsIn) applyElicitationDefaults(params.requestedSchema, answer.content);
    return answer;
  }

  /** @internal */
  override _onHandler(method: string, isSet: boolean): void {
    if (isSet && this.transport) this.#wire?.handle(method);
  }

  /** @internal */
  override _onNotificationHandler(method: string, isSet: boolean): void {
    if (isSet && this.transport) this.#wire?.listen(method);
  }

  #watchLists({ tools, prompts, resources }: ServerCapabilities): void {
    const wanted = this.#listChanged;
    if (wanted?.tools && tools?.listChanged) {
      const handler = createListChangedHandler('tools', wanted.tools, async () => (await this.listTools()).tools);
      this.setNotificationHandler(ToolListChangedNotificationSchema, handler);
    }
    if (wanted?.prompts && prompts?.listChanged) {
      const handler = createListChangedHandler('prompts', wanted.prompts, async () => (await this.listPrompts()).prompts);
      this.setNotificationHandler(PromptListChangedNotificationSchema, handler);
    }
    if (wanted?.resources && resources?.listChanged) {
      const handler = createListChangedHandler('resources', wanted.resources, async () => (await this.listResources()).resources);
      this.setNotificationHandler(ResourceListChangedNotificationSchema, handler);
    }
  }

  // ---- what must be declared

  /** @throws {Error} The server does not declare the capability. */
  protected assertCapability(capability: keyof ServerCapabilities, method: string): void {
    if (!this.#server?.capabilities[capability]) throw new Error(`Server does not support ${capability} (required for ${method})`);
  }

  protected override assertCapabilityForMethod(method: string): void {
    assertCapabilityOfServer(this.#server?.capabilities, method);
  }

  protected override assertNotificationCapability(method: string): void {
    assertCapabilityOfNotification(this.#capabilities, method);
  }

  protected override assertRequestHandlerCapability(method: string): void {
    assertCapabilityOfHandler(this.#capabilities, method);
  }

  protected override assertTaskCapability(method: string): void {
    assertToolsCallTaskCapability(this.#server?.capabilities.tasks?.requests, method, 'Server');
  }

  protected override assertTaskHandlerCapability(method: string): void {
    assertClientRequestTaskCapability(this.#capabilities.tasks?.requests, method, 'Client');
  }
}

async function sample(request: unknown, run: () => unknown): Promise<ClientResult> {
  const { params } = read(CreateMessageRequestSchema, request, 'Invalid sampling request');
  const result = await run();
  if (params.task) return read(CreateTaskResultSchema, result, 'Invalid task creation result');
  return params.tools || params.toolChoice
    ? read(CreateMessageResultWithToolsSchema, result, 'Invalid sampling result')
    : read(CreateMessageResultSchema, result, 'Invalid sampling result');
}
