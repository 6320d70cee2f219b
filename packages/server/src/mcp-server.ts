/** `McpServer`: tools, resources and prompts by name, for every revision of the protocol and any number of clients at once. */

import type { Implementation } from '@mortise/protocol/model';
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
  ToolHandler,
  ToolInputSchema,
  ToolOutputSchema,
} from './config.ts';
import type { AnyPromptDefinition, AnyToolDefinition, ResourceDefinition, ResourceTemplateDefinition } from './define-tool.ts';
import type { HandlerContext } from './handler-context.ts';
import type { ServerOptions } from './options.ts';
import { complete } from './registry/completions.ts';
import type { HandlerFn } from './registry/catalog-item.ts';
import { Prompts } from './registry/prompts.ts';
import { Resources } from './registry/resources.ts';
import { Tools } from './registry/tools.ts';
import type { ResourceTemplate } from './resource-template.ts';
import type { ObjectSchema } from './schema/infer.ts';
import { Server } from './server.ts';

/** Tools made by `defineTool`, by name. */
export type ToolDefinitions = Readonly<Record<string, AnyToolDefinition>>;

/** The options of `McpServer`. */
export interface McpServerOptions<App = unknown, ToolValues extends ToolDefinitions = ToolDefinitions> extends ServerOptions<App> {
  /** Tools made by `defineTool`, by name. `createClient<typeof server>` knows their types. @default none */
  readonly tools?: ToolValues | undefined;
  /** Prompts made by `definePrompt`, by name. @default none */
  readonly prompts?: Readonly<Record<string, AnyPromptDefinition>> | undefined;
  /** Resources and templates made by `defineResource`, by name. @default none */
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
export class McpServer<ToolValues extends ToolDefinitions = {}, App = unknown> extends Server<App> {
  /** Types only, never set at run time: the tools of `options.tools`, for `createClient<typeof server>`. */
  declare readonly '~tools'?: ToolValues;
  /** @internal The registered tools. */
  override readonly tools: Tools;
  readonly #resources: Resources;
  readonly #prompts: Prompts;

  /**
   * Creates a server. It serves nothing until you call `connect`, or pass it to a host such as `serveStdio(server)` or `serveHttp(server)`.
   *
   * @param info The server's name and version. Clients get them for logs and display.
   * @throws {RegistrationError} `ERR_REGISTRATION`: `info` lacks a name or version, an option is unknown or has the wrong type, or a tool, prompt or
   * resource in the options cannot be registered.
   * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: a schema in the options cannot be converted to JSON Schema.
   */
  constructor(info: Implementation, options: McpServerOptions<App, ToolValues> = {}) {
    super(info, options);
    this.tools = new Tools(this);
    this.#resources = new Resources(this);
    this.#prompts = new Prompts(this);
    const { prompts = {}, resources = {} } = options;
    const tools: ToolDefinitions = options.tools ?? {};
    for (const [name, { config, handler }] of Object.entries(tools)) this.tools.register(name, config, handler as HandlerFn);
    for (const [name, { config, handler }] of Object.entries(prompts)) this.#prompts.register(name, config, handler as HandlerFn);
    for (const [name, resource] of Object.entries(resources)) {
      const config = resource.config as ResourceConfig;
      if (resource.kind === 'resource') this.#resources.register(name, resource.uri, config, resource.read as HandlerFn);
      else this.#resources.registerTemplate(name, resource.template, config, resource.read as HandlerFn);
    }
  }

  /** Returns this same object. For code written for the official SDK, where `mcpServer.server` is a separate low-level server. */
  get server(): Server<App> {
    return this;
  }

  /**
   * Registers a tool, and notifies connected clients that the list changed.
   *
   * @param config The tool's options, or a tool as a client's `listTools` gives it: its `name`, and what this server does not know, are ignored.
   * @param handler Called with the validated arguments and the context, or with the context alone if there is no `inputSchema`.
   * @throws {RegistrationError} `ERR_REGISTRATION`: the name is taken, or an option is known neither to the server nor to an extension.
   * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: a schema cannot be converted to JSON Schema.
   * @see 2026-07-28 server/tools
   */
  registerTool<In extends ToolInputSchema = undefined, Out extends ToolOutputSchema = undefined>(
    name: string,
    config: ToolConfig<In, Out, App>,
    handler: ToolHandler<In, Out, HandlerContext<App>>,
  ): RegisteredTool {
    return this.tools.register(name, config as ToolConfig, handler as HandlerFn);
  }

  /**
   * Registers a resource at one URI, or a resource template, and notifies connected clients.
   *
   * @throws {RegistrationError} `ERR_REGISTRATION`: the URI or the template's name is taken, the URI is invalid, or an option is unknown.
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
    if (typeof at === 'string') return this.#resources.register(name, at, config as ResourceConfig, read as HandlerFn);
    return this.#resources.registerTemplate(name, at, config as ResourceConfig, read as HandlerFn);
  }

  /**
   * Registers a prompt, and notifies connected clients.
   *
   * @throws {RegistrationError} `ERR_REGISTRATION`: the name is taken, an option is unknown, or a required field of `argsSchema` does not accept a
   * string.
   * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: `argsSchema` cannot be converted to JSON Schema.
   * @see 2026-07-28 server/prompts
   */
  registerPrompt<Args extends ObjectSchema | undefined = undefined>(
    name: string,
    config: PromptConfig<Args, App>,
    handler: PromptHandler<Args, HandlerContext<App>>,
  ): RegisteredPrompt {
    return this.#prompts.register(name, config as PromptConfig, handler as HandlerFn);
  }

  /** @internal Starts to serve `completion/complete`. Called when the first argument or variable with completion is registered. */
  serveCompletions(): void {
    if (!this.capabilities.register('completions', {})) return;
    this.methods.set('completion/complete', { run: (params, context) => complete(params, context, this.#prompts, this.#resources) });
  }
}
