/** `/client`: v1's `Client` over ours, so that it talks to servers of every revision. */

import { assertClientRequestTaskCapability, assertToolsCallTaskCapability } from '../experimental/tasks/helpers.ts';
import { ExperimentalClientTasks } from '../experimental/tasks/client.ts';
import { assertCanHandle, assertCanRequest, assertClientCanNotify, withTaskMethods } from '../shared/capabilities.ts';
import { read } from '../shared/read.ts';
import { mergeCapabilities, Protocol, type ProtocolOptions, type RequestHandlerExtra, type RequestOptions } from '../shared/protocol.ts';
import type { Transport } from '../shared/transport.ts';
import { type AnyProtocol, toMcpError } from '../shared/wire.ts';
import { type AnyObjectSchema, getMethodLiteral, type SchemaOutput } from '../server/zod-compat.ts';
import * as v1 from '../types.ts';
import { OwnJsonSchemaValidator } from '../validation/own-validator.ts';
import type { jsonSchemaValidator } from '../validation/types.ts';
import { ClientWire } from './client-wire.ts';
import { applyElicitationDefaults, getSupportedElicitationModes } from './elicitation.ts';
import { createListChangedHandler } from './list-changes.ts';
import { ToolFacts } from './tool-facts.ts';

export { getSupportedElicitationModes } from './elicitation.ts';

export type ClientOptions = ProtocolOptions & {
  /** What the client declares. */
  capabilities?: v1.ClientCapabilities;
  /** Checks tools' structured output. @default our own validator */
  jsonSchemaValidator?: jsonSchemaValidator;
  /** What to do when lists change. */
  listChanged?: v1.ListChangedHandlers;
};

interface ServerFacts {
  readonly capabilities: v1.ServerCapabilities;
  readonly info: v1.Implementation | undefined;
  readonly instructions: string | undefined;
}

export class Client<
  RequestT extends v1.Request = v1.Request,
  NotificationT extends v1.Notification = v1.Notification,
  ResultT extends v1.Result = v1.Result,
> extends Protocol<v1.ClientRequest | RequestT, v1.ClientNotification | NotificationT, v1.ClientResult | ResultT> {
  readonly #info: v1.Implementation;
  readonly #tools: ToolFacts;
  readonly #listChanged: v1.ListChangedHandlers | undefined;
  #capabilities: v1.ClientCapabilities;
  #connectOptions: RequestOptions = {};
  #wire: ClientWire | undefined;
  #server: ServerFacts | undefined;
  #experimental: { tasks: ExperimentalClientTasks<RequestT, NotificationT, ResultT> } | undefined;

  /** @param clientInfo The client's name and version. */
  constructor(clientInfo: v1.Implementation, options: ClientOptions = {}) {
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
  registerCapabilities(capabilities: v1.ClientCapabilities): void {
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
    const { core } = this.#wire as ClientWire;
    this.#server = {
      capabilities: (core.getServerCapabilities() ?? {}) as v1.ServerCapabilities,
      info: core.getServerVersion() as v1.Implementation | undefined,
      instructions: core.getInstructions(),
    };
    this.#watchLists(this.#server.capabilities);
    await core.whenListening();
  }

  /** @internal */
  override _createWire(transport: Transport, onClosed: () => void): ClientWire {
    const declared = { info: this.#info, capabilities: withTaskMethods(this.#capabilities, this._options), options: this.#connectOptions };
    return (this.#wire = new ClientWire(this as unknown as AnyProtocol, declared, transport, onClosed));
  }

  /** What the server declares. Undefined until the client is connected. */
  getServerCapabilities(): v1.ServerCapabilities | undefined {
    return this.#server?.capabilities;
  }

  getServerVersion(): v1.Implementation | undefined {
    return this.#server?.info;
  }

  getInstructions(): string | undefined {
    return this.#server?.instructions;
  }

  // ---- requests

  async ping(options?: RequestOptions): Promise<v1.EmptyResult> {
    return this.request({ method: 'ping' }, v1.EmptyResultSchema, options);
  }

  async complete(params: v1.CompleteRequest['params'], options?: RequestOptions): Promise<v1.CompleteResult> {
    return this.request({ method: 'completion/complete', params }, v1.CompleteResultSchema, options);
  }

  async setLoggingLevel(level: v1.LoggingLevel, options?: RequestOptions): Promise<v1.EmptyResult> {
    return this.request({ method: 'logging/setLevel', params: { level } }, v1.EmptyResultSchema, options);
  }

  async getPrompt(params: v1.GetPromptRequest['params'], options?: RequestOptions): Promise<v1.GetPromptResult> {
    return this.request({ method: 'prompts/get', params }, v1.GetPromptResultSchema, options);
  }

  async listPrompts(params?: v1.ListPromptsRequest['params'], options?: RequestOptions): Promise<v1.ListPromptsResult> {
    return this.request({ method: 'prompts/list', params }, v1.ListPromptsResultSchema, options);
  }

  async listResources(params?: v1.ListResourcesRequest['params'], options?: RequestOptions): Promise<v1.ListResourcesResult> {
    return this.request({ method: 'resources/list', params }, v1.ListResourcesResultSchema, options);
  }

  async listResourceTemplates(
    params?: v1.ListResourceTemplatesRequest['params'],
    options?: RequestOptions,
  ): Promise<v1.ListResourceTemplatesResult> {
    return this.request({ method: 'resources/templates/list', params }, v1.ListResourceTemplatesResultSchema, options);
  }

  async readResource(params: v1.ReadResourceRequest['params'], options?: RequestOptions): Promise<v1.ReadResourceResult> {
    return this.request({ method: 'resources/read', params }, v1.ReadResourceResultSchema, options);
  }

  async subscribeResource(params: v1.SubscribeRequest['params'], options?: RequestOptions): Promise<v1.EmptyResult> {
    return this.request({ method: 'resources/subscribe', params }, v1.EmptyResultSchema, options);
  }

  async unsubscribeResource(params: v1.UnsubscribeRequest['params'], options?: RequestOptions): Promise<v1.EmptyResult> {
    return this.request({ method: 'resources/unsubscribe', params }, v1.EmptyResultSchema, options);
  }

  /** Lists tools, and remembers how to check their output. */
  async listTools(params?: v1.ListToolsRequest['params'], options?: RequestOptions): Promise<v1.ListToolsResult> {
    const result = await this.request({ method: 'tools/list', params }, v1.ListToolsResultSchema, options);
    this.#tools.learn(result.tools);
    return result;
  }

  /**
   * Calls a tool.
   *
   * @throws {McpError} The tool only runs as a task, or its structured output does not fit the schema that was listed.
   */
  async callTool(
    params: v1.CallToolRequest['params'],
    resultSchema: typeof v1.CallToolResultSchema | typeof v1.CompatibilityCallToolResultSchema = v1.CallToolResultSchema,
    options?: RequestOptions,
  ): Promise<v1.CallToolResult | v1.CompatibilityCallToolResult> {
    const { name } = params;
    if (this.#tools.supportOf(name) === 'required')
      throw new v1.McpError(
        v1.ErrorCode.InvalidRequest,
        `Tool "${name}" requires task-based execution. Use client.experimental.tasks.callToolStream() instead.`,
      );
    const result = await this.request({ method: 'tools/call', params }, resultSchema as typeof v1.CallToolResultSchema, options);
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
  _checkOutput(name: string, result: v1.Result): void {
    this.#tools.check(name, result);
  }

  // ---- handlers

  override setRequestHandler<T extends AnyObjectSchema>(
    requestSchema: T,
    handler: (
      request: SchemaOutput<T>,
      extra: RequestHandlerExtra<v1.ClientRequest | RequestT, v1.ClientNotification | NotificationT>,
    ) => v1.ClientResult | ResultT | Promise<v1.ClientResult | ResultT>,
  ): void {
    const method = getMethodLiteral(requestSchema);
    if (method === 'elicitation/create') {
      super.setRequestHandler(requestSchema, async (request, extra) => this.#elicit(request, () => handler(request, extra)));
    } else if (method === 'sampling/createMessage') {
      super.setRequestHandler(requestSchema, async (request, extra) => sample(request, () => handler(request, extra)));
    } else super.setRequestHandler(requestSchema, handler);
  }

  async #elicit(request: unknown, run: () => unknown): Promise<v1.ClientResult> {
    const { params } = read(v1.ElicitRequestSchema, request, 'Invalid elicitation request');
    const { supportsFormMode, supportsUrlMode } = getSupportedElicitationModes(this.#capabilities.elicitation);
    const isUrl = params.mode === 'url';
    if (!isUrl && !supportsFormMode)
      throw new v1.McpError(v1.ErrorCode.InvalidParams, 'Client does not support form-mode elicitation requests');
    if (isUrl && !supportsUrlMode)
      throw new v1.McpError(v1.ErrorCode.InvalidParams, 'Client does not support URL-mode elicitation requests');
    const result = await run();
    if (params.task) return read(v1.CreateTaskResultSchema, result, 'Invalid task creation result');
    const answer = read(v1.ElicitResultSchema, result, 'Invalid elicitation result');
    const fillsIn = this.#capabilities.elicitation?.form?.applyDefaults === true;
    if (params.mode !== 'url' && answer.action === 'accept' && fillsIn) applyElicitationDefaults(params.requestedSchema, answer.content);
    return answer;
  }

  #watchLists({ tools, prompts, resources }: v1.ServerCapabilities): void {
    const wanted = this.#listChanged ?? {};
    const watch = <T>(
      list: string,
      schema: AnyObjectSchema,
      options: v1.ListChangedOptions<T> | undefined,
      fetch: () => Promise<T[]>,
    ): void => {
      if (options) this.setNotificationHandler(schema, createListChangedHandler(list, options, fetch));
    };
    if (tools?.listChanged) watch('tools', v1.ToolListChangedNotificationSchema, wanted.tools, async () => (await this.listTools()).tools);
    if (prompts?.listChanged)
      watch('prompts', v1.PromptListChangedNotificationSchema, wanted.prompts, async () => (await this.listPrompts()).prompts);
    if (resources?.listChanged)
      watch('resources', v1.ResourceListChangedNotificationSchema, wanted.resources, async () => (await this.listResources()).resources);
  }

  // ---- what must be declared

  /** @throws {Error} The server does not declare the capability. */
  protected assertCapability(capability: keyof v1.ServerCapabilities, method: string): void {
    if (!this.#server?.capabilities[capability]) throw new Error(`Server does not support ${capability} (required for ${method})`);
  }

  protected override assertCapabilityForMethod(method: string): void {
    assertCanRequest('Server', this.#server?.capabilities, method);
  }

  protected override assertNotificationCapability(method: string): void {
    assertClientCanNotify(this.#capabilities, method);
  }

  protected override assertRequestHandlerCapability(method: string): void {
    assertCanHandle('Client', this.#capabilities, method);
  }

  protected override assertTaskCapability(method: string): void {
    assertToolsCallTaskCapability(this.#server?.capabilities.tasks?.requests, method, 'Server');
  }

  protected override assertTaskHandlerCapability(method: string): void {
    assertClientRequestTaskCapability(this.#capabilities.tasks?.requests, method, 'Client');
  }
}

async function sample(request: unknown, run: () => unknown): Promise<v1.ClientResult> {
  const { params } = read(v1.CreateMessageRequestSchema, request, 'Invalid sampling request');
  const result = await run();
  if (params.task) return read(v1.CreateTaskResultSchema, result, 'Invalid task creation result');
  return params.tools || params.toolChoice
    ? read(v1.CreateMessageResultWithToolsSchema, result, 'Invalid sampling result')
    : read(v1.CreateMessageResultSchema, result, 'Invalid sampling result');
}
