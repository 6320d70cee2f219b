/**
 * Tools, prompts and resources as values: written where they belong, given to a server later, and their types known to
 * `createClient<typeof server>`.
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

/** A tool as a value. */
export interface ToolDefinition<In = ToolInputSchema, Out = ToolOutputSchema, App = unknown> {
  readonly kind: 'tool';
  readonly config: ToolConfig<In, Out, App>;
  readonly handler: ToolHandler<In, Out, HandlerContext<App>>;
  /** Never there at run time: what a caller gives and gets, for typed clients. */
  readonly '~types'?: {
    readonly input: In extends undefined ? undefined : InferInput<In>;
    readonly output: Out extends undefined ? undefined : InferOutput<Out>;
  };
}

/** Any tool, whatever its schemas: the values of `options.tools`. */
export interface AnyToolDefinition {
  readonly kind: 'tool';
  readonly config: object;
  // The types of the arguments are known where the tool was defined; here they only have to fit nothing.
  readonly handler: (...args: never[]) => unknown;
  readonly '~types'?: { readonly input: unknown; readonly output: unknown };
}

/**
 * Makes a tool without a server. `new McpServer(info, { tools: { add } })` serves it under the name `add`.
 *
 * @see 2026-07-28 server/tools
 */
export function defineTool<In extends ToolInputSchema = undefined, Out extends ToolOutputSchema = undefined, App = unknown>(
  config: ToolConfig<In, Out, App>,
  handler: ToolHandler<In, Out, HandlerContext<App>>,
): ToolDefinition<In, Out, App> {
  return { kind: 'tool', config, handler };
}

/** A prompt as a value. */
export interface PromptDefinition<Args = ObjectSchema | undefined, App = unknown> {
  readonly kind: 'prompt';
  readonly config: PromptConfig<Args, App>;
  readonly handler: PromptHandler<Args, HandlerContext<App>>;
  /** Never there at run time. */
  readonly '~types'?: { readonly input: Args extends undefined ? undefined : InferInput<Args> };
}

/** Any prompt, whatever its arguments. */
export interface AnyPromptDefinition {
  readonly kind: 'prompt';
  readonly config: object;
  readonly handler: (...args: never[]) => unknown;
  readonly '~types'?: { readonly input: unknown };
}

/** Makes a prompt without a server. */
export function definePrompt<Args extends ObjectSchema | undefined = undefined, App = unknown>(
  config: PromptConfig<Args, App>,
  handler: PromptHandler<Args, HandlerContext<App>>,
): PromptDefinition<Args, App> {
  return { kind: 'prompt', config, handler };
}

/** A resource at one address, as a value. */
export interface ResourceDefinition<App = unknown> {
  readonly kind: 'resource';
  readonly uri: string;
  readonly config: ResourceConfig<App>;
  readonly read: ResourceReader<HandlerContext<App>>;
}

/** A family of resources, as a value. */
export interface ResourceTemplateDefinition<App = unknown> {
  readonly kind: 'resource template';
  readonly template: ResourceTemplate;
  readonly config: ResourceConfig<App>;
  readonly read: TemplateReader<HandlerContext<App>>;
}

/** Makes a resource without a server: at one address, or for a template's whole family. */
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
  // The overloads tie the reader's kind to that of the address, which a union cannot say.
  if (typeof at === 'string') return { kind: 'resource', uri: at, config, read: read as ResourceReader<HandlerContext<App>> };
  return { kind: 'resource template', template: at, config, read: read as TemplateReader<HandlerContext<App>> };
}
