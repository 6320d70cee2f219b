/** The client for most programs: a method for each MCP feature, on top of the low-level `Client`. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
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
 * An MCP client with a method for each MCP feature. Works with servers of both eras.
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
      clock: options.clock ?? systemClock,
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
   * @param source An unstarted transport, or a factory of transports. Only a factory lets the client open a lost connection again.
   * @throws As the constructor and the instance's `connect` do.
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

  /**
   * Connects as `Client` does. If callbacks for list changes are set, it then waits as `whenListening` does, so that they miss no change
   * after `connect`.
   */
  override async connect(source: ClientTransportSource, options: ConnectOptions = {}): Promise<void> {
    await super.connect(source, options);
    this.#changes.onConnected();
    try {
      await abortable(this.#changes.whenListening(), options.signal);
      // Rejects if the client was closed in the meantime.
      await this.whenOpen();
    } catch (error) {
      await this.close();
      throw error;
    }
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

  // ---- tools, resources, prompts

  /**
   * Calls a tool. Does NOT throw if the tool fails: the result then has `isError` and text for the model. See `expectSuccess`.
   *
   * Checks structured output against the tool's `outputSchema`, if the tools were listed before.
   *
   * @param args The tool's arguments. In TypeScript, declare their type with `type`: an `interface` does not fit, as it has no index
   *   signature.
   * @throws {TypeError} `params` has an unknown member.
   * @throws {RemoteError} `ERR_REMOTE`: the server returned an error, for example for an unknown tool.
   * @throws {TimeoutError} `ERR_TIMEOUT`: no response arrived in time.
   * @throws {ConnectionClosedError | ConnectionLostError} `ERR_CONNECTION_CLOSED`, `ERR_CONNECTION_LOST`: the connection ended before the
   *   response.
   * @throws {MissingCapabilityError} `ERR_MISSING_CAPABILITY`: the server has no tools.
   * @throws {ToolResultError} `ERR_TOOL_OUTPUT`: the structured output does not fit the schema, or the schema cannot be checked.
   * @throws The reason of `options.signal` when it aborts.
   * @see 2026-07-28 server/tools#calling-tools
   */
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult>;
  callTool(params: CallToolRequestParams, options?: CallOptions): Promise<CallToolResult>;
  callTool(tool: string | CallToolRequestParams, second?: JsonObject | CallOptions, third?: CallOptions): Promise<CallToolResult> {
    if (typeof tool !== 'string') return this.#callWith(tool, second as CallOptions | undefined);
    const params = second === undefined ? { name: tool } : { name: tool, arguments: second as JsonObject };
    return this.request('tools/call', params, third);
  }

  /**
   * Reads a resource.
   *
   * @throws {ResourceNotFoundError} The server has no resource with this URI.
   * @see 2026-07-28 server/resources#reading-resources
   */
  readResource(resource: string | URL | ReadResourceRequestParams, options?: CallOptions): Promise<ReadResourceResult> {
    const params = typeof resource === 'string' || resource instanceof URL ? { uri: toUri(resource) } : resource;
    return this.request('resources/read', params, options);
  }

  /**
   * Gets a prompt's messages.
   *
   * @param args Must be strings: the protocol has no other prompt arguments.
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
   * Completes an argument of a prompt or of a resource template. For a text field, use `createCompleter` of `@mortise/client/host`.
   *
   * @see 2026-07-28 server/utilities/completion
   */
  complete(params: CompleteRequestParams, options?: CallOptions): Promise<CompleteResult> {
    return this.request('completion/complete', params, options);
  }

  // ---- changes

  /**
   * Calls the handler, which may be async, when the list of tools changes. Set it before `connect`, or await `whenListening` afterwards:
   * changes before the server listens are not reported.
   *
   * @returns A function that removes the handler.
   */
  onToolsChanged(handler: () => unknown): () => void {
    return this.#changes.onListChanged('toolsListChanged', handler);
  }

  /** The same for the list of prompts. @returns A function that removes the handler. */
  onPromptsChanged(handler: () => unknown): () => void {
    return this.#changes.onListChanged('promptsListChanged', handler);
  }

  /** The same for the list of resources. @returns A function that removes the handler. */
  onResourcesChanged(handler: () => unknown): () => void {
    return this.#changes.onListChanged('resourcesListChanged', handler);
  }

  /**
   * Resolves when the server reports the list changes that callbacks are set for. In the modern era the server acknowledges subscriptions
   * for that. A refusal is reported to `onError`.
   *
   * Waits 3,000 ms at most. If a server acknowledges later, the callbacks are called, since changes may have been missed.
   */
  whenListening(): Promise<void> {
    return this.#changes.whenListening();
  }

  /**
   * Calls the handler when a subscribed resource (see `subscribeResource`), or one below it, changes.
   *
   * @returns A function that removes the handler.
   */
  onResourceUpdated(handler: (params: ResourceUpdatedNotificationParams) => void): () => void {
    return this.onNotification('notifications/resources/updated', (params) => handler(params as ResourceUpdatedNotificationParams));
  }

  /**
   * Subscribes to updates of a resource, which `onResourceUpdated` reports. The client subscribes again when it reconnects.
   *
   * @throws {MissingCapabilityError} The server sends no updates at all, or none of this resource.
   */
  async subscribeResource(resource: string | URL | { readonly uri: string }): Promise<void> {
    const uri = toUri(resource);
    if (await this.#changes.subscribe(uri)) return;
    throw new MissingCapabilityError(`the server sends no updates of ${uri}: it does not support "resources.subscribe"`, 'server', [
      'resources.subscribe',
    ]);
  }

  /** Ends a subscription of `subscribeResource`. */
  unsubscribeResource(resource: string | URL | { readonly uri: string }): Promise<void> {
    this.#changes.unsubscribe(toUri(resource));
    return Promise.resolve();
  }

  // ---- the rest

  /** Checks that the server still responds: by `ping`, or by `server/discover` in the modern era, which has no `ping`. */
  async ping(options?: CallOptions): Promise<void> {
    const [session, left] = await this.whenOpen(options);
    await session.ping(left);
  }

  /** Gets a modern server's versions and capabilities. @throws {MissingCapabilityError} The legacy era has no `server/discover`. */
  discover(options?: CallOptions): Promise<DiscoverResult> {
    return this.request('server/discover', {}, { ...options, resetTimeoutOnProgress: false });
  }

  /**
   * Asks the server for log messages of this level and above. In the modern era this applies to each later request.
   *
   * @deprecated since 2026-07-28: servers write to stderr, or use OpenTelemetry. Works in every revision.
   */
  async setLoggingLevel(level: LoggingLevel, options?: CallOptions): Promise<void> {
    const [session, left] = await this.whenOpen(options);
    assertCapability(session, 'logging', 'logging/setLevel');
    await session.setLoggingLevel(level, left);
  }

  /**
   * Calls the handler with each log message from the server.
   *
   * @returns A function that removes the handler.
   * @deprecated since 2026-07-28: servers write to stderr, or use OpenTelemetry.
   */
  onLog(handler: (message: LoggingMessageNotificationParams) => void): () => void {
    return this.onNotification('notifications/message', (params) => handler(params as LoggingMessageNotificationParams));
  }

  /**
   * Calls the handler when the server reports that the user has finished with a page opened for URL elicitation. 2025-11-25 only.
   *
   * @returns A function that removes the handler.
   */
  onElicitationComplete(handler: (params: ElicitationCompleteNotificationParams) => void): () => void {
    return this.onNotification('notifications/elicitation/complete', (params) => handler(params as ElicitationCompleteNotificationParams));
  }

  /** Sets the elicitation handlers. In the legacy era call it before `connect`, which declares the capability. */
  onElicit(handler: NonNullable<AnswerOptions['elicitation']>): void {
    this.answers.setElicitation(handler);
  }

  /**
   * Sets the sampling handler. In the legacy era call it before `connect`, which declares the capability.
   *
   * @deprecated since 2026-07-28: servers call a model provider's API themselves.
   */
  onSample(handler: NonNullable<AnswerOptions['sampling']>): void {
    this.answers.setSampling(handler);
  }

  /**
   * Sets the roots, or the function that lists them. In the legacy era call it before `connect`, which declares the capability; later calls
   * may change the roots.
   *
   * @deprecated since 2026-07-28: pass them as tool arguments, resource URIs or configuration.
   */
  onListRoots(roots: NonNullable<AnswerOptions['roots']>): void {
    this.answers.setRoots(roots);
    if (this.isConnected) this.sendRootsListChanged().catch((error: unknown) => this.report(error));
  }

  /**
   * Notifies a legacy server that the roots have changed. Does nothing in the modern era, where servers ask for roots when they need them.
   *
   * @deprecated since 2026-07-28: pass them as tool arguments, resource URIs or configuration.
   */
  async sendRootsListChanged(): Promise<void> {
    const [session] = await this.whenOpen();
    await session.sendRootsChanged();
  }

  /** Same as `serverCapabilities`, under the name that the official SDK uses. Undefined before `connect` and after `close`. */
  getServerCapabilities(): JsonObject | undefined {
    return this.lastSession?.server.capabilities;
  }

  /** Same as `serverInfo`, under the name that the official SDK uses. Undefined before `connect` and after `close`. */
  getServerVersion(): Implementation | undefined {
    return this.lastSession?.server.info;
  }

  /** Same as `instructions`, under the name that the official SDK uses. Undefined before `connect` and after `close`. */
  getInstructions(): string | undefined {
    return this.lastSession?.instructions;
  }

  async #callWith(params: CallToolRequestParams, options: CallOptions | undefined): Promise<CallToolResult> {
    checkOptions<object>('the params of callTool', params, CALL_TOOL_PARAMS);
    return this.request('tools/call', params, options);
  }

  #readAll<M extends keyof ListItems>(method: M, options: CallOptions | undefined): AsyncGenerator<ListItems[M], void, undefined> {
    return readPages(method, (params) => this.request(method as string, params, options), this.options.resultCache !== undefined);
  }
}

/** Values are the server's to check: only a misspelt name would have no effect. */
const CALL_TOOL_PARAMS = { name: 'any', arguments: 'any', task: 'any', inputResponses: 'any', requestState: 'any', _meta: 'any' } as const;

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
