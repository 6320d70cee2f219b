/** `/server/mcp`: v1's `McpServer`: tools, resources and prompts by name, over v1's `Server`. */

import { ExperimentalMcpServerTasks } from '../experimental/tasks/mcp-server.ts';
import type { Transport } from '../shared/transport.ts';
import type { CompleteRequestParams, Implementation, LoggingMessageNotificationParams, ToolAnnotations } from '../types.ts';
import { complete } from './completions.ts';
import { Server, type ServerOptions } from './index.ts';
import type {
  PromptArgsRawShape,
  PromptCallback,
  ReadResourceCallback,
  ReadResourceTemplateCallback,
  RegisteredPrompt,
  RegisteredResource,
  RegisteredResourceTemplate,
  RegisteredTool,
  ResourceMetadata,
  ToolCallback,
} from './mcp-types.ts';
import { completableOf, Prompts } from './prompts.ts';
import type { ResourceTemplate } from './resource-template.ts';
import { onceServing } from './registered.ts';
import { Resources } from './resources.ts';
import { type ToolInit, Tools } from './tools.ts';
import { type AnySchema, isShape, type ZodRawShapeCompat } from './zod-compat.ts';

export type * from './mcp-types.ts';
export { type CompleteResourceTemplateCallback, ResourceTemplate } from './resource-template.ts';

export type McpServerOptions = ServerOptions & {
  /** How many elements the arguments of a tool may have, nested ones too. @default Infinity */
  maxToolInputElements?: number;
};

export class McpServer {
  /** The low-level server, for what this class does not have. */
  readonly server: Server;
  /** @internal */
  readonly _registeredTools: Record<string, RegisteredTool> = {};
  /** @internal */
  readonly _registeredResources: Record<string, RegisteredResource> = {};
  /** @internal */
  readonly _registeredResourceTemplates: Record<string, RegisteredResourceTemplate> = {};
  /** @internal */
  readonly _registeredPrompts: Record<string, RegisteredPrompt> = {};
  readonly #tools: Tools;
  readonly #resources: Resources;
  readonly #prompts: Prompts;
  readonly #serveCompletions: () => void;
  #experimental: { tasks: ExperimentalMcpServerTasks } | undefined;

  /** @throws {RangeError} `maxToolInputElements` is not a number of at least 1. */
  constructor(serverInfo: Implementation, options: McpServerOptions = {}) {
    const { maxToolInputElements = Infinity, capabilities } = options;
    if (typeof maxToolInputElements !== 'number' || !(maxToolInputElements >= 1))
      throw new RangeError(`maxToolInputElements must be a number of at least 1, or Infinity, got ${String(maxToolInputElements)}`);
    this.server = new Server(serverInfo, options);
    this.#tools = new Tools(this.server, this._registeredTools, maxToolInputElements, () => this.sendToolListChanged());
    this.#resources = new Resources(this.server, this._registeredResources, this._registeredResourceTemplates, () =>
      this.sendResourceListChanged(),
    );
    this.#prompts = new Prompts(this.server, this._registeredPrompts, () => this.sendPromptListChanged());
    this.#serveCompletions = onceServing(
      this.server,
      { completions: {} },
      { 'completion/complete': ({ params }) => complete(params as CompleteRequestParams, this.#prompts, this.#resources) },
    );
    if (capabilities?.tools) this.#tools.serve();
    if (capabilities?.resources) this.#resources.serve();
    if (capabilities?.prompts) this.#prompts.serve();
  }

  /** Tools that run as tasks. */
  get experimental(): { tasks: ExperimentalMcpServerTasks } {
    return (this.#experimental ??= { tasks: new ExperimentalMcpServerTasks(this) });
  }

  /** Serves a client. @throws {Error} There is a connection already. */
  async connect(transport: Transport): Promise<void> {
    await this.server.connect(transport);
  }

  async close(): Promise<void> {
    await this.server.close();
  }

  isConnected(): boolean {
    return this.server.transport !== undefined;
  }

  // ---- tools

  /** @deprecated Use `registerTool`. */
  tool(name: string, cb: ToolCallback): RegisteredTool;
  tool(name: string, description: string, cb: ToolCallback): RegisteredTool;
  tool<Args extends ZodRawShapeCompat>(
    name: string,
    paramsSchemaOrAnnotations: Args | ToolAnnotations,
    cb: ToolCallback<Args>,
  ): RegisteredTool;
  tool<Args extends ZodRawShapeCompat>(
    name: string,
    description: string,
    paramsSchemaOrAnnotations: Args | ToolAnnotations,
    cb: ToolCallback<Args>,
  ): RegisteredTool;
  tool<Args extends ZodRawShapeCompat>(
    name: string,
    paramsSchema: Args,
    annotations: ToolAnnotations,
    cb: ToolCallback<Args>,
  ): RegisteredTool;
  tool<Args extends ZodRawShapeCompat>(
    name: string,
    description: string,
    paramsSchema: Args,
    annotations: ToolAnnotations,
    cb: ToolCallback<Args>,
  ): RegisteredTool;
  tool(name: string, ...rest: unknown[]): RegisteredTool {
    this.#tools.assertFree(name);
    const description = typeof rest[0] === 'string' ? (rest.shift() as string) : undefined;
    const callback = rest.pop();
    const inputSchema = rest.length > 0 && isShape(rest[0]) ? (rest.shift() as ZodRawShapeCompat) : undefined;
    const annotations = rest.shift() as ToolAnnotations | undefined;
    // Hints are texts and booleans: anything else is a schema that is not one of zod.
    if (annotations && Object.values(annotations as object).some((value) => typeof value === 'object' && value !== null))
      throw new Error(`Tool ${name} expected a Zod schema or ToolAnnotations, but received an unrecognized object`);
    return this._createRegisteredTool(name, { description, inputSchema, annotations }, callback);
  }

  /** Registers a tool. @throws {Error} The name is taken, or a schema is not one of zod. */
  registerTool<OutputArgs extends ZodRawShapeCompat | AnySchema, InputArgs extends undefined | ZodRawShapeCompat | AnySchema = undefined>(
    name: string,
    config: {
      title?: string;
      description?: string;
      inputSchema?: InputArgs;
      outputSchema?: OutputArgs;
      annotations?: ToolAnnotations;
      _meta?: Record<string, unknown>;
    },
    cb: ToolCallback<InputArgs>,
  ): RegisteredTool {
    this.#tools.assertFree(name);
    const { title, description, inputSchema, outputSchema, annotations, _meta } = config;
    return this._createRegisteredTool(name, { title, description, inputSchema, outputSchema, annotations, _meta }, cb);
  }

  /** @internal */
  _createRegisteredTool(name: string, init: ToolInit, handler: unknown): RegisteredTool {
    return this.#tools.register(name, { execution: { taskSupport: 'forbidden' }, ...init }, handler);
  }

  // ---- resources

  /** @deprecated Use `registerResource`. */
  resource(name: string, uri: string, readCallback: ReadResourceCallback): RegisteredResource;
  resource(name: string, uri: string, metadata: ResourceMetadata, readCallback: ReadResourceCallback): RegisteredResource;
  resource(name: string, template: ResourceTemplate, readCallback: ReadResourceTemplateCallback): RegisteredResourceTemplate;
  resource(
    name: string,
    template: ResourceTemplate,
    metadata: ResourceMetadata,
    readCallback: ReadResourceTemplateCallback,
  ): RegisteredResourceTemplate;
  resource(name: string, at: string | ResourceTemplate, ...rest: unknown[]): RegisteredResource | RegisteredResourceTemplate {
    const metadata = typeof rest[0] === 'object' ? (rest.shift() as ResourceMetadata) : undefined;
    return this.#addResource(name, at, undefined, metadata, rest[0]);
  }

  /** Registers a resource or a template. @throws {Error} The address, or the name of the template, is taken. */
  registerResource(name: string, uriOrTemplate: string, config: ResourceMetadata, readCallback: ReadResourceCallback): RegisteredResource;
  registerResource(
    name: string,
    uriOrTemplate: ResourceTemplate,
    config: ResourceMetadata,
    readCallback: ReadResourceTemplateCallback,
  ): RegisteredResourceTemplate;
  registerResource(
    name: string,
    at: string | ResourceTemplate,
    config: ResourceMetadata,
    readCallback: unknown,
  ): RegisteredResource | RegisteredResourceTemplate {
    return this.#addResource(name, at, config.title, config, readCallback);
  }

  #addResource(
    name: string,
    at: string | ResourceTemplate,
    title: string | undefined,
    metadata: ResourceMetadata | undefined,
    read: unknown,
  ): RegisteredResource | RegisteredResourceTemplate {
    if (typeof at === 'string') return this.#resources.register(at, { name, title, metadata, readCallback: read as ReadResourceCallback });
    const parts = { resourceTemplate: at, title, metadata, readCallback: read as ReadResourceTemplateCallback };
    const template = this.#resources.registerTemplate(name, parts);
    if (at.uriTemplate.variableNames.some((variable) => at.completeCallback(variable))) this.#serveCompletions();
    return template;
  }

  // ---- prompts

  /** @deprecated Use `registerPrompt`. */
  prompt(name: string, cb: PromptCallback): RegisteredPrompt;
  prompt(name: string, description: string, cb: PromptCallback): RegisteredPrompt;
  prompt<Args extends PromptArgsRawShape>(name: string, argsSchema: Args, cb: PromptCallback<Args>): RegisteredPrompt;
  prompt<Args extends PromptArgsRawShape>(name: string, description: string, argsSchema: Args, cb: PromptCallback<Args>): RegisteredPrompt;
  prompt(name: string, ...rest: unknown[]): RegisteredPrompt {
    const description = typeof rest[0] === 'string' ? (rest.shift() as string) : undefined;
    const callback = rest.pop();
    return this.#addPrompt(name, { description }, rest[0] as PromptArgsRawShape | undefined, callback);
  }

  /** Registers a prompt. @throws {Error} The name is taken. */
  registerPrompt<Args extends PromptArgsRawShape>(
    name: string,
    config: { title?: string; description?: string; argsSchema?: Args },
    cb: PromptCallback<Args>,
  ): RegisteredPrompt {
    return this.#addPrompt(name, config, config.argsSchema, cb);
  }

  #addPrompt(
    name: string,
    names: { title?: string | undefined; description?: string | undefined },
    args: PromptArgsRawShape | undefined,
    callback: unknown,
  ): RegisteredPrompt {
    const prompt = this.#prompts.register(name, names, args, callback);
    if (Object.values(args ?? {}).some((field) => completableOf(field))) this.#serveCompletions();
    return prompt;
  }

  // ---- notifications

  async sendLoggingMessage(params: LoggingMessageNotificationParams, sessionId?: string): Promise<void> {
    return this.server.sendLoggingMessage(params, sessionId);
  }

  sendResourceListChanged(): void {
    if (this.isConnected()) void this.server.sendResourceListChanged();
  }

  sendToolListChanged(): void {
    if (this.isConnected()) void this.server.sendToolListChanged();
  }

  sendPromptListChanged(): void {
    if (this.isConnected()) void this.server.sendPromptListChanged();
  }
}
