/** `McpServer`: tools, resources and prompts by name. Written once, served in every revision, to any number of clients at once. */

import type { JsonRpcRequest, JsonRpcResponse, Logger, ServerConnection } from '@mortise/jsonrpc-core';
import type { ConnectOptions, TransportLike } from '@mortise/jsonrpc-core/transport';
import type { Implementation, LoggingMessageNotificationParams } from '@mortise/protocol/model';
import type {
  EndpointTransport,
  Call,
  LegacySession,
  McpEndpoint,
  ParamHeaders,
  Principal,
  SessionLink,
  SessionState,
} from '@mortise/protocol/contracts';
import type {
  PromptConfig,
  PromptHandler,
  RegisteredPrompt,
  RegisteredResource,
  RegisteredResourceTemplate,
  RegisteredTool,
  ResourceConfig,
  ResourceReader,
  TemplateReader,
  ToolConfig,
} from './config.ts';
import { checkType } from './check-types.ts';
import type { HandlerContext } from './context.ts';
import type { AnyPromptDefinition, AnyToolDefinition, ResourceDefinition, ResourceTemplateDefinition } from './define-tool.ts';
import type { Middleware } from './middleware/middleware.ts';
import { onDemand } from './on-demand.ts';
import type { ServerOptions } from './options.ts';
import { type PromptFn, Prompts } from './registry/prompts.ts';
import type { ReadFn } from './registry/resource-items.ts';
import { Resources } from './registry/resources.ts';
import { type ToolFn, Tools } from './registry/tools.ts';
import type { ResourceTemplate } from './resource-template.ts';
import type { ObjectSchema } from './schema/infer.ts';
import { type CloseOptions, connectTo, partsOf, Server } from './server.ts';
import type { ServerCore } from './server-core.ts';
import type { ToolHandler, ToolInputSchema, ToolOutputSchema } from './tool-handler.ts';

const withCompletions = onDemand(() => import('./registry/completions.ts'));

/** Tools as values, by name. */
export type ToolDefinitions = Readonly<Record<string, AnyToolDefinition>>;

/** The options of `McpServer`. */
export interface McpServerOptions<App = unknown, ToolValues extends ToolDefinitions = ToolDefinitions> extends ServerOptions<App> {
  /** Tools made by `defineTool`, under their names. `createClient<typeof server>` knows their types. @default none */
  readonly tools?: ToolValues | undefined;
  /** Prompts made by `definePrompt`, under their names. @default none */
  readonly prompts?: Readonly<Record<string, AnyPromptDefinition>> | undefined;
  /** Resources and templates made by `defineResource`, under their names. @default none */
  readonly resources?: Readonly<Record<string, ResourceDefinition<App> | ResourceTemplateDefinition<App>>> | undefined;
}

/**
 * A server of tools, resources and prompts.
 *
 * ```ts
 * const server = new McpServer({ name: 'calculator', version: '1.0.0' });
 * server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => String(a + b));
 * await serveStdio(server);
 * ```
 *
 * @see 2026-07-28 server/index
 */
export class McpServer<ToolValues extends ToolDefinitions = {}, App = unknown> implements McpEndpoint {
  /** Never there at run time: the tools given as values, for `createClient<typeof server>`. */
  declare readonly '~tools'?: ToolValues;
  /** The low-level object: methods by name, `onAnyRequest`. */
  readonly server: Server<App>;
  readonly #core: ServerCore;
  readonly #tools: Tools;
  readonly #resources: Resources;
  readonly #prompts: Prompts;

  /**
   * Nothing is served before `connect`, or before something that hosts the server is given it: `serveStdio(server)`, `serveHttp(server)`.
   *
   * @param info Shown to clients.
   * @throws {RegistrationError} `ERR_REGISTRATION`: `info` lacks a name or version, an option is none or of another type, or a tool, prompt or
   * resource among the options cannot be registered.
   * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: a schema among the options cannot be converted to JSON Schema.
   */
  constructor(info: Implementation, options: McpServerOptions<App, ToolValues> = {}) {
    this.server = new Server<App>(info, options);
    const { core, setTools } = partsOf(this.server as Server<never>);
    this.#core = core;
    this.#tools = new Tools(this.#core);
    this.#resources = new Resources(this.#core, () => this.#serveCompletions());
    this.#prompts = new Prompts(this.#core, () => this.#serveCompletions());
    setTools(this.#tools);
    this.#registerValues(options);
  }

  // ---- what it offers

  /**
   * Registers a tool. Clients that are connected are told that the list changed.
   *
   * @param handler Given the checked arguments and the context, or the context alone where there is no `inputSchema`.
   * @throws {RegistrationError} `ERR_REGISTRATION`: the name is taken, or there is no such option, here and in the installed extensions.
   * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: a schema cannot be converted to JSON Schema.
   * @see 2026-07-28 server/tools
   */
  registerTool<In extends ToolInputSchema = undefined, Out extends ToolOutputSchema = undefined>(
    name: string,
    config: ToolConfig<In, Out, App>,
    handler: ToolHandler<In, Out, HandlerContext<App>>,
  ): RegisteredTool {
    return this.#tools.register(name, config as ToolConfig, handler as ToolFn);
  }

  /**
   * Registers a resource at one address, or a template's whole family.
   *
   * @throws {RegistrationError} `ERR_REGISTRATION`: the address or the template's name is taken, the address is none, or there is no such option.
   * @see 2026-07-28 server/resources
   */
  registerResource(name: string, uri: string, config: ResourceConfig<App>, read: ResourceReader<HandlerContext<App>>): RegisteredResource;
  registerResource(
    name: string,
    template: ResourceTemplate,
    config: ResourceConfig<App>,
    read: TemplateReader<HandlerContext<App>>,
  ): RegisteredResourceTemplate;
  registerResource(
    name: string,
    at: string | ResourceTemplate,
    config: ResourceConfig<App>,
    read: ResourceReader<HandlerContext<App>> | TemplateReader<HandlerContext<App>>,
  ): RegisteredResource | RegisteredResourceTemplate {
    if (typeof at === 'string') return this.#resources.register(name, at, config as ResourceConfig, read as ReadFn);
    return this.#resources.registerTemplate(name, at, config as ResourceConfig, read as ReadFn);
  }

  /**
   * Registers a prompt.
   *
   * @throws {RegistrationError} `ERR_REGISTRATION`: the name is taken, there is no such option, or a required field of `argsSchema` takes no string.
   * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: `argsSchema` cannot be converted to JSON Schema.
   * @see 2026-07-28 server/prompts
   */
  registerPrompt<Args extends ObjectSchema | undefined = undefined>(
    name: string,
    config: PromptConfig<Args, App>,
    handler: PromptHandler<Args, HandlerContext<App>>,
  ): RegisteredPrompt {
    return this.#prompts.register(name, config as PromptConfig, handler as PromptFn);
  }

  /**
   * Wraps every request, or those of one method. The first one added is the outermost.
   *
   * @throws {RegistrationError} `ERR_REGISTRATION`: no function, or the method's name is misspelt.
   */
  use(middleware: Middleware<App>): this;
  use(method: string, middleware: Middleware<App>): this;
  use(first: string | Middleware<App>, second?: Middleware<App>): this {
    if (typeof first === 'string') this.server.use(first, second as Middleware<App>);
    else this.server.use(first);
    return this;
  }

  // ---- how it is reached

  /**
   * Serves a connection. May be called any number of times, each with a transport of its own; no client learns of another.
   *
   * @param transport Also one that was written for another SDK, with the same members.
   * @throws Whatever the transport's `start` rejects with.
   */
  connect(transport: TransportLike | EndpointTransport, options: ConnectOptions = {}): Promise<ServerConnection> {
    return connectTo(this, this.#core, transport, options);
  }

  /** Whether a connection is open. */
  isConnected(): boolean {
    return this.server.isConnected();
  }

  /** Ends subscriptions with their result, lets calls finish, aborts what is left, closes every connection and session. */
  close(options?: CloseOptions): Promise<void> {
    return this.server.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  handle(request: JsonRpcRequest, call: Call): JsonRpcResponse | Promise<JsonRpcResponse> {
    return this.server.handle(request, call);
  }

  openSession(link: SessionLink, saved?: SessionState): LegacySession {
    return this.server.openSession(link, saved);
  }

  paramHeaders(toolName: string, principal: Principal, caller?: Pick<Call, 'auth' | 'origin'>): ParamHeaders | undefined {
    return this.server.paramHeaders(toolName, principal, caller);
  }

  nameParam(method: string): string | undefined {
    return this.server.nameParam(method);
  }

  offerLogger(logger: Logger): void {
    this.#core.offerLogger(logger);
  }

  // ---- what it tells unasked

  /** Tells clients that the list of tools changed; registering and handles do so by themselves. */
  sendToolListChanged(): Promise<void> {
    return this.server.sendToolListChanged();
  }

  /** Tells clients that the list of resources or templates changed; registering and handles do so by themselves. */
  sendResourceListChanged(): Promise<void> {
    return this.server.sendResourceListChanged();
  }

  /** Tells clients that the list of prompts changed; registering and handles do so by themselves. */
  sendPromptListChanged(): Promise<void> {
    return this.server.sendPromptListChanged();
  }

  /** Tells those who subscribed to a resource that it changed. */
  sendResourceUpdated(params: { readonly uri: string }): Promise<void> {
    return this.server.sendResourceUpdated(params);
  }

  /**
   * Sends a log message to legacy clients. See `Server.sendLoggingMessage`.
   *
   * @deprecated since 2026-07-28: write to stderr, or use OpenTelemetry. Works in every legacy revision.
   */
  sendLoggingMessage(params: LoggingMessageNotificationParams, sessionId?: string): Promise<void> {
    return this.server.sendLoggingMessage(params, sessionId);
  }

  #serveCompletions(): void {
    if (this.#core.hasMethod('completion/complete')) return;
    this.#core.setMethod('completion/complete', {
      isBounded: true,
      run: (params, call) => withCompletions(({ complete }) => complete(params, call, this.#prompts, this.#resources)),
    });
    this.#core.registerCapability('completions', {});
  }

  #registerValues({ tools = {} as ToolValues, prompts = {}, resources = {} }: McpServerOptions<App, ToolValues>): void {
    for (const [made, values] of Object.entries({ tools, prompts, resources })) {
      for (const [name, value] of Object.entries(values as object))
        checkType(`the server's options: "${name}" of "${made}"`, value, 'object');
    }
    for (const [name, tool] of Object.entries(tools)) this.#tools.register(name, tool.config, tool.handler as ToolFn);
    for (const [name, prompt] of Object.entries(prompts)) this.#prompts.register(name, prompt.config, prompt.handler as PromptFn);
    for (const [name, resource] of Object.entries(resources)) {
      const config = resource.config as ResourceConfig;
      if (resource.kind === 'resource') this.#resources.register(name, resource.uri, config, resource.read as ReadFn);
      else this.#resources.registerTemplate(name, resource.template, config, resource.read as ReadFn);
    }
  }
}
