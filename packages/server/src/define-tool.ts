/**
 * `defineTool`, `definePrompt` and `defineResource`: define a tool, prompt or resource in any module, and give it to a server later.
 * `createClient<typeof server>` knows the types of the server's tools.
 */

import type {
  PromptConfig,
  PromptHandler,
  ResourceConfig,
  ResourceReader,
  TemplateReader,
  ToolConfig,
  ToolHandler,
  ToolInputSchema,
  ToolOutputSchema,
} from './config.ts';
import type { HandlerContext } from './handler-context.ts';
import type { ResourceTemplate } from './resource-template.ts';
import type { InferInput, InferOutput, ObjectSchema } from './schema/infer.ts';

/** A tool without a server, made by `defineTool` for the server option `tools`. */
export interface ToolDefinition<In = ToolInputSchema, Out = ToolOutputSchema, App = unknown> {
  readonly kind: 'tool';
  readonly config: ToolConfig<In, Out, App>;
  readonly handler: ToolHandler<In, Out, HandlerContext<App>>;
  /** Types only, never set at run time: the tool's input and output, for typed clients. */
  readonly '~types'?: {
    readonly input: In extends undefined ? undefined : InferInput<In>;
    readonly output: Out extends undefined ? undefined : InferOutput<Out>;
  };
}

/** Any tool, whatever its schemas: the type of the values in `options.tools`. */
export interface AnyToolDefinition {
  readonly kind: 'tool';
  readonly config: object;
  // The argument types are known where the tool is defined. Here every handler must be assignable.
  readonly handler: (...args: never[]) => unknown;
  readonly '~types'?: { readonly input: unknown; readonly output: unknown };
}

/**
 * Defines a tool without a server. `new McpServer(info, { tools: { add } })` serves it under the name `add`.
 *
 * @see 2026-07-28 server/tools
 */
export function defineTool<In extends ToolInputSchema = undefined, Out extends ToolOutputSchema = undefined, App = unknown>(
  config: ToolConfig<In, Out, App>,
  handler: ToolHandler<In, Out, HandlerContext<App>>,
): ToolDefinition<In, Out, App> {
  return { kind: 'tool', config, handler };
}

/** A prompt without a server, made by `definePrompt` for the server option `prompts`. */
export interface PromptDefinition<Args = ObjectSchema | undefined, App = unknown> {
  readonly kind: 'prompt';
  readonly config: PromptConfig<Args, App>;
  readonly handler: PromptHandler<Args, HandlerContext<App>>;
  /** Types only, never set at run time: the prompt's arguments. */
  readonly '~types'?: { readonly input: Args extends undefined ? undefined : InferInput<Args> };
}

/** Any prompt, whatever its arguments: the type of the values in `options.prompts`. */
export interface AnyPromptDefinition {
  readonly kind: 'prompt';
  readonly config: object;
  readonly handler: (...args: never[]) => unknown;
  readonly '~types'?: { readonly input: unknown };
}

/** Defines a prompt without a server. `new McpServer(info, { prompts: { greet } })` serves it under the name `greet`. */
export function definePrompt<Args extends ObjectSchema | undefined = undefined, App = unknown>(
  config: PromptConfig<Args, App>,
  handler: PromptHandler<Args, HandlerContext<App>>,
): PromptDefinition<Args, App> {
  return { kind: 'prompt', config, handler };
}

/** A resource at one URI without a server, made by `defineResource` for the server option `resources`. */
export interface ResourceDefinition<App = unknown> {
  readonly kind: 'resource';
  readonly uri: string;
  readonly config: ResourceConfig<App>;
  readonly read: ResourceReader<HandlerContext<App>>;
}

/** A resource template without a server, made by `defineResource` for the server option `resources`. */
export interface ResourceTemplateDefinition<App = unknown> {
  readonly kind: 'resource template';
  readonly template: ResourceTemplate;
  readonly config: ResourceConfig<App>;
  readonly read: TemplateReader<HandlerContext<App>>;
}

/** Defines a resource without a server, at one URI or for a template. `new McpServer(info, { resources: { readme } })` serves it. */
export function defineResource<App = unknown>(
  uri: string,
  config: ResourceConfig<App>,
  read: ResourceReader<HandlerContext<App>>,
): ResourceDefinition<App>;
export function defineResource<App = unknown>(
  template: ResourceTemplate,
  config: ResourceConfig<App>,
  read: TemplateReader<HandlerContext<App>>,
): ResourceTemplateDefinition<App>;
export function defineResource<App = unknown>(
  at: string | ResourceTemplate,
  config: ResourceConfig<App>,
  read: ResourceReader<HandlerContext<App>> | TemplateReader<HandlerContext<App>>,
): ResourceDefinition<App> | ResourceTemplateDefinition<App> {
  // The overloads pair each reader type with its address type, which a union cannot express.
  if (typeof at === 'string') return { kind: 'resource', uri: at, config, read: read as ResourceReader<HandlerContext<App>> };
  return { kind: 'resource template', template: at, config, read: read as TemplateReader<HandlerContext<App>> };
}
