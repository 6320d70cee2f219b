/** The client that programs use: MCP's features by name, on top of the low-level `Client`. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type {
  CallToolRequestParams,
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  DiscoverResult,
  ElicitationCompleteNotificationParams,
  GetPromptRequestParams,
  GetPromptResult,
  Implementation,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  LoggingLevel,
  LoggingMessageNotificationParams,
  PaginatedRequestParams,
  Prompt,
  ReadResourceRequestParams,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  ResourceUpdatedNotificationParams,
  Tool,
} from '@mortise/protocol/model';
import type { AnswerOptions } from './answers/answer-options.ts';
import { assertCapability } from './capabilities.ts';
import { Changes } from './changes.ts';
import { Client } from './client.ts';
import { CLIENT_OPTIONS, CONNECT_OPTIONS, type CallOptions, type ClientOptions, type ConnectOptions } from './client-options.ts';
import { MissingCapabilityError } from './errors.ts';
import { type ListItems, readPages } from './lists.ts';
import type { ClientTransportSource } from './transport-source.ts';

/**
 * An MCP client: finds out which era a server speaks, and uses whatever it offers.
 *
 * ```ts
 * const client = await McpClient.connect(transport, { name: 'my-app', version: '1.0.0' });
 * const { structuredContent } = await client.callTool('add', { a: 1, b: 2 });
 * ```
 */
export class McpClient extends Client {
  readonly #changes: Changes;

  constructor(info: Implementation, options: ClientOptions = {}) {
    super(info, options);
    const client = this;
    this.#changes = new Changes({
      get needsListen() {
        return client.isConnected ? client.revision.rules.changeNotifications === 'listen' : undefined;
      },
      listen: (filter) => this.listen(filter),
      onNotification: (method, handler) => this.onNotification(method, handler),
      dispatch: (notification) => this.dispatch(notification),
      report: (error) => this.report(error),
    });
  }

  /**
   * Makes a client and connects it.
   *
   * @param source A transport, unstarted. A factory of them lets the client restart a server that died.
   * @throws As the constructor and `connect` of the instance do.
   */
  static async connect(
    source: ClientTransportSource,
    info: Implementation,
    options: ClientOptions & ConnectOptions = {},
  ): Promise<McpClient> {
    checkOptions('McpClient.connect options', options, { ...CLIENT_OPTIONS, ...CONNECT_OPTIONS });
    const { signal, requires, ...own } = options;
    const client = new McpClient(info, own);
    await client.connect(source, { signal, requires });
    return client;
  }

  override async connect(source: ClientTransportSource, options: ConnectOptions = {}): Promise<void> {
    await super.connect(source, options);
    this.#changes.onConnected();
  }

  // ---- lists

  /** Fetches one page of tools. */
  listTools(params: PaginatedRequestParams = {}, options?: CallOptions): Promise<ListToolsResult> {
    return this.request('tools/list', params, options);
  }

  /** Fetches one page of prompts. */
  listPrompts(params: PaginatedRequestParams = {}, options?: CallOptions): Promise<ListPromptsResult> {
    return this.request('prompts/list', params, options);
  }

  /** Fetches one page of resources. */
  listResources(params: PaginatedRequestParams = {}, options?: CallOptions): Promise<ListResourcesResult> {
    return this.request('resources/list', params, options);
  }

  /** Fetches one page of resource templates. */
  listResourceTemplates(params: PaginatedRequestParams = {}, options?: CallOptions): Promise<ListResourceTemplatesResult> {
    return this.request('resources/templates/list', params, options);
  }

  /** Reads all tools, page by page. */
  tools(options?: CallOptions): AsyncIterableIterator<Tool> {
    return this.#readAll('tools/list', options);
  }

  /** Reads all prompts, page by page. */
  prompts(options?: CallOptions): AsyncIterableIterator<Prompt> {
    return this.#readAll('prompts/list', options);
  }

  /** Reads all resources, page by page. */
  resources(options?: CallOptions): AsyncIterableIterator<Resource> {
    return this.#readAll('resources/list', options);
  }

  /** Reads all resource templates, page by page. */
  resourceTemplates(options?: CallOptions): AsyncIterableIterator<ResourceTemplate> {
    return this.#readAll('resources/templates/list', options);
  }

  // ---- using

  /**
   * Calls a tool. A tool that failed gives a result with `isError`, which is meant for the model; see `expectSuccess`.
   *
   * Structured output is checked against the tool's `outputSchema` if the tools were listed before.
   *
   * @throws {RemoteError} `ERR_REMOTE`: the server refused the call, for example of a tool that it does not know.
   * @throws {TimeoutError} `ERR_TIMEOUT`: no answer came in time.
   * @throws {ConnectionClosedError} {ConnectionLostError} `ERR_CONNECTION_CLOSED`, `ERR_CONNECTION_LOST`: the connection ended before the answer.
   * @throws {MissingCapabilityError} `ERR_MISSING_CAPABILITY`: the server has no tools.
   * @throws {ToolResultError} `ERR_TOOL_OUTPUT`: the structured output does not fit the schema, or the schema cannot be checked.
   * @throws `options.signal`'s reason, once it is aborted.
   * @see 2026-07-28 server/tools#calling-tools
   */
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult>;
  callTool(params: CallToolRequestParams, options?: CallOptions): Promise<CallToolResult>;
  callTool(tool: string | CallToolRequestParams, second?: JsonObject | CallOptions, third?: CallOptions): Promise<CallToolResult> {
    if (typeof tool !== 'string') return this.request('tools/call', tool, second as CallOptions | undefined);
    const params = second === undefined ? { name: tool } : { name: tool, arguments: second as JsonObject };
    return this.request('tools/call', params, third);
  }

  /**
   * Reads a resource.
   *
   * @throws {ResourceNotFoundError} There is none at this address.
   * @see 2026-07-28 server/resources#reading-resources
   */
  readResource(resource: string | URL | ReadResourceRequestParams, options?: CallOptions): Promise<ReadResourceResult> {
    const params = typeof resource === 'string' || resource instanceof URL ? { uri: toUri(resource) } : resource;
    return this.request('resources/read', params, options);
  }

  /**
   * Gets a prompt's messages.
   *
   * @param args Strings: the protocol has no others.
   * @see 2026-07-28 server/prompts#getting-a-prompt
   */
  getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallOptions): Promise<GetPromptResult>;
  getPrompt(params: GetPromptRequestParams, options?: CallOptions): Promise<GetPromptResult>;
  async getPrompt(prompt: string | GetPromptRequestParams, second?: object, third?: CallOptions): Promise<GetPromptResult> {
    const params = typeof prompt === 'string' ? { name: prompt, ...(second && { arguments: second as Record<string, string> }) } : prompt;
    const options = typeof prompt === 'string' ? third : (second as CallOptions | undefined);
    assertStrings(params.arguments);
    return this.request('prompts/get', params, options);
  }

  /**
   * Completes an argument of a prompt or of a resource template. See `createCompleter` of `@mortise/client/host` for a user who types.
   *
   * @see 2026-07-28 server/utilities/completion
   */
  complete(params: CompleteRequestParams, options?: CallOptions): Promise<CompleteResult> {
    return this.request('completion/complete', params, options);
  }

  // ---- changes

  /** Calls the handler when the tools change. May be async. @returns Ends it. */
  onToolsChanged(handler: () => unknown): () => void {
    return this.#changes.onListChanged('toolsListChanged', handler);
  }

  /** Calls the handler when the prompts change. May be async. @returns Ends it. */
  onPromptsChanged(handler: () => unknown): () => void {
    return this.#changes.onListChanged('promptsListChanged', handler);
  }

  /** Calls the handler when the resources change. May be async. @returns Ends it. */
  onResourcesChanged(handler: () => unknown): () => void {
    return this.#changes.onListChanged('resourcesListChanged', handler);
  }

  /** Calls the handler when a resource changed that `subscribeResource` asked for, or one below it. @returns Ends it. */
  onResourceUpdated(handler: (params: ResourceUpdatedNotificationParams) => void): () => void {
    return this.onNotification('notifications/resources/updated', (params) => handler(params as ResourceUpdatedNotificationParams));
  }

  /**
   * Asks for updates of a resource, for `onResourceUpdated`. Survives a restart of the server.
   *
   * @throws {MissingCapabilityError} The server sends no updates, or none of this resource.
   */
  async subscribeResource(resource: string | URL | { readonly uri: string }): Promise<void> {
    const uri = toUri(resource);
    if (await this.#changes.subscribe(uri)) return;
    throw new MissingCapabilityError(`the server sends no updates of ${uri}: "resources.subscribe" is missing`, 'server', [
      'resources.subscribe',
    ]);
  }

  /** Takes `subscribeResource` back. */
  unsubscribeResource(resource: string | URL | { readonly uri: string }): Promise<void> {
    this.#changes.unsubscribe(toUri(resource));
    return Promise.resolve();
  }

  // ---- the rest

  /** Asks whether the server still answers: by `ping`, or by discovery in the modern era, which has no `ping`. */
  async ping(options?: CallOptions): Promise<void> {
    await (await this.whenOpen(options)).ping(options);
  }

  /** Asks a modern server what it speaks and can do. @throws {MissingCapabilityError} In the legacy era. */
  discover(options?: CallOptions): Promise<DiscoverResult> {
    return this.request('server/discover', {}, { ...options, resetTimeoutOnProgress: false });
  }

  /**
   * Asks for log messages from this level on: of the server, or in the modern era of every later request.
   *
   * @deprecated since 2026-07-28: servers write to stderr, or use OpenTelemetry. Works in every revision.
   */
  async setLoggingLevel(level: LoggingLevel, options?: CallOptions): Promise<void> {
    const session = await this.whenOpen(options);
    assertCapability(session, 'logging', 'logging/setLevel');
    await session.setLoggingLevel(level, options);
  }

  /**
   * Calls the handler with each log message of the server.
   *
   * @returns Ends it.
   * @deprecated since 2026-07-28: servers write to stderr, or use OpenTelemetry.
   */
  onLog(handler: (message: LoggingMessageNotificationParams) => void): () => void {
    return this.onNotification('notifications/message', (params) => handler(params as LoggingMessageNotificationParams));
  }

  /** Calls the handler when the server says that the user has finished with a page. 2025-11-25 only. @returns Ends it. */
  onElicitationComplete(handler: (params: ElicitationCompleteNotificationParams) => void): () => void {
    return this.onNotification('notifications/elicitation/complete', (params) => handler(params as ElicitationCompleteNotificationParams));
  }

  /** Sets the handlers of elicitation. In the legacy era before `connect`, where it is declared. */
  onElicit(handler: NonNullable<AnswerOptions['elicitation']>): void {
    this.answers.setElicitation(handler);
  }

  /**
   * Sets the handler of sampling. In the legacy era before `connect`, where it is declared.
   *
   * @deprecated since 2026-07-28: servers call a model provider's API themselves.
   */
  onSample(handler: NonNullable<AnswerOptions['sampling']>): void {
    this.answers.setSampling(handler);
  }

  /**
   * Sets the roots, or the function that lists them. In the legacy era first before `connect`, where they are declared.
   *
   * @deprecated since 2026-07-28: pass them as tool arguments, resource URIs or configuration.
   */
  onListRoots(roots: NonNullable<AnswerOptions['roots']>): void {
    this.answers.setRoots(roots);
    if (this.isConnected) this.sendRootsListChanged().catch((error: unknown) => this.report(error));
  }

  /**
   * Notifies a legacy server that the roots have changed; a modern one asks when it needs them.
   *
   * @deprecated since 2026-07-28: pass them as tool arguments, resource URIs or configuration.
   */
  async sendRootsListChanged(): Promise<void> {
    await (await this.whenOpen()).sendRootsChanged();
  }

  /** The server's capabilities, under the name that MCP's TypeScript users know. */
  getServerCapabilities(): JsonObject | undefined {
    return this.isConnected ? this.serverCapabilities : undefined;
  }

  /** Who the server says it is, under the name that MCP's TypeScript users know. */
  getServerVersion(): Implementation | undefined {
    return this.isConnected ? this.serverInfo : undefined;
  }

  /** The server's instructions, under the name that MCP's TypeScript users know. */
  getInstructions(): string | undefined {
    return this.isConnected ? this.instructions : undefined;
  }

  #readAll<M extends keyof ListItems>(method: M, options: CallOptions | undefined): AsyncGenerator<ListItems[M], void, undefined> {
    return readPages(method, (params) => this.request(method as string, params, options), this.options.resultCache !== undefined);
  }
}

function toUri(resource: string | URL | { readonly uri: string }): string {
  return typeof resource === 'string' || resource instanceof URL ? String(resource) : resource.uri;
}

function assertStrings(args: unknown): void {
  if (!isJsonObject(args)) return;
  for (const [name, value] of Object.entries(args)) {
    if (typeof value !== 'string')
      throw new TypeError(`prompt argument "${name}" must be a string, got ${JSON.stringify(value)}: convert it first`);
  }
}
