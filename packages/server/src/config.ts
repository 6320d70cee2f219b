/** The options for registering tools, resources and prompts, and the objects that `registerTool` and the like return. */

import type {
  Annotations,
  CacheScope,
  ContentBlock,
  GetPromptResult,
  Icon,
  InputRequiredResult,
  MetaObject,
  PromptMessage,
  ReadResourceResult,
  ToolAnnotations,
} from '@mortise/protocol/model';
import type { ToolOptions } from '@mortise/protocol/contracts';
import type { VisibilityContext } from './handler-context.ts';
import type { AnySchema, InferInput, InferOutput, ObjectSchema } from './schema/infer.ts';

/** The options that tools, resources and prompts share when they are registered. */
export interface ListedConfig<App = unknown> {
  /** The name to display to people. */
  readonly title?: string | undefined;
  /** A description, which the model reads. */
  readonly description?: string | undefined;
  /** Icons to display. Each `src` must be an `https:` or `data:` URL. Sent since 2025-11-25. */
  readonly icons?: readonly Icon[] | undefined;
  /** Metadata for the item's entry in lists. */
  readonly _meta?: MetaObject | undefined;
  /**
   * Whether this caller may see and use the item. If it returns false, lists leave the item out, and using it fails as if it did not exist.
   * Called for each request, so it must be fast. A list that contains an item with `visible` has `cacheScope: 'private'`.
   */
  readonly visible?: ((ctx: VisibilityContext<App>) => boolean) | undefined;
}

/** The options of a tool. */
export interface ToolConfig<In = ToolInputSchema, Out = ToolOutputSchema, App = unknown> extends ListedConfig<App>, ToolOptions {
  /** The schema of the arguments. Without it the tool takes no arguments, and its handler gets only the context. */
  readonly inputSchema?: In | undefined;
  /** The schema of the result's `structuredContent`. The server checks each result against it. */
  readonly outputSchema?: Out | undefined;
  /** Hints for clients, such as `readOnlyHint`. Clients need not believe them. */
  readonly annotations?: ToolAnnotations | undefined;
  /** The OAuth scopes that the caller's token must have, all of them. Callers on stdio (principal `local`) have no token and need none. */
  readonly scopes?: readonly string[] | undefined;
}

/** The options of a resource or a resource template. */
export interface ResourceConfig<App = unknown> extends ListedConfig<App> {
  /** The MIME type of the content, if known. */
  readonly mimeType?: string | undefined;
  /** For whom the content is, how important it is, and when it changed. */
  readonly annotations?: Annotations | undefined;
  /** The size of the content in bytes, before any encoding. */
  readonly size?: number | undefined;
  /** How long clients may cache the resource's content, in milliseconds. @default the server option `cache.readTtlMs` */
  readonly ttlMs?: number | undefined;
  /** Whether a cached copy of the content may be shared with other callers. @default 'private' */
  readonly cacheScope?: CacheScope | undefined;
}

/** The options of a prompt. */
export interface PromptConfig<Args = ObjectSchema | undefined, App = unknown> extends ListedConfig<App> {
  /**
   * The schema of the prompt's arguments. Each field receives a string and may convert it: `z.coerce.number()`, not `z.number()`.
   * A field made with `completable` offers suggestions.
   */
  readonly argsSchema?: Args | undefined;
}

/** One content item that a resource's reader returns. Without `uri` it gets the requested URI. A `Uint8Array` is sent as base64. */
export type ReadContent =
  | {
      readonly uri?: string | undefined;
      readonly mimeType?: string | undefined;
      readonly text: string;
      readonly _meta?: MetaObject | undefined;
    }
  | {
      readonly uri?: string | undefined;
      readonly mimeType?: string | undefined;
      readonly blob: string | Uint8Array;
      readonly _meta?: MetaObject | undefined;
    };

/** What a resource's reader may return. `undefined` means that no such resource exists. */
export type ReadReturn =
  | string
  | Uint8Array
  | ReadContent
  | readonly ReadContent[]
  | ReadResourceResult
  | { readonly contents: readonly ReadContent[] }
  | InputRequiredResult
  | undefined;

/** What a prompt's handler may return: text (one user message), one message, several messages, or the whole result. */
export type PromptReturn = string | PromptMessage | readonly PromptMessage[] | GetPromptResult | InputRequiredResult;

/**
 * What a tool's handler may return: a whole result, text, one content block, or several. A tool with an `outputSchema` must return a result
 * with `structuredContent` of the schema's input type, or with `isError`. Without `content`, `structuredContent` is repeated as JSON text.
 *
 * An `outputSchema` whose members are not known to the compiler, such as one from a client's `listTools`, allows any whole result.
 */
export type ToolReturn<Out = undefined> =
  | InputRequiredResult
  | (Out extends undefined
      ? string | ContentBlock | readonly ContentBlock[] | ToolResultLike
      : StructuredResultLike<InferInput<Out>> | FailedResultLike | (string extends keyof Out ? ToolResultLike : never));

/** What the handler of a tool with an `outputSchema` returns if it succeeds. */
export interface StructuredResultLike<Value> {
  readonly structuredContent: Value;
  readonly content?: readonly ContentBlock[] | undefined;
  readonly isError?: false | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** What a tool's handler returns if it fails: `content` describes the failure, and `outputSchema` does not apply. */
export interface FailedResultLike {
  readonly isError: true;
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  readonly _meta?: MetaObject | undefined;
}

/** A tool's result as its handler may return it: members that the server can fill in, such as `content`, are optional. */
export interface ToolResultLike {
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  /** Whether the tool failed. Then `content` describes the failure, and `outputSchema` does not apply. @default false */
  readonly isError?: boolean | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** A tool's handler: `(args, ctx)` with an `inputSchema`, `(ctx)` without one. */
export type ToolHandler<In, Out, Context> = In extends undefined
  ? (ctx: Context) => ToolReturn<Out> | Promise<ToolReturn<Out>>
  : (args: InferOutput<In>, ctx: Context) => ToolReturn<Out> | Promise<ToolReturn<Out>>;

/** What a tool's `inputSchema` may be. Its root must be an object. */
export type ToolInputSchema = ObjectSchema | undefined;

/**
 * What a tool's `outputSchema` may be. Its root need not be an object, but revisions up to 2025-11-25 only list schemas whose root is an
 * object.
 */
export type ToolOutputSchema = AnySchema | undefined;

/** A prompt's handler: `(args, ctx)` with an `argsSchema`, `(ctx)` without one. */
export type PromptHandler<Args, Context> = Args extends undefined
  ? (ctx: Context) => PromptReturn | Promise<PromptReturn>
  : (args: InferOutput<Args>, ctx: Context) => PromptReturn | Promise<PromptReturn>;

/** The handler of a registered resource: returns its content for `resources/read`. */
export type ResourceReader<Context> = (uri: URL, ctx: Context) => ReadReturn | Promise<ReadReturn>;

/** The values of a URI template's variables, percent-decoded. A list variable, such as `{ids*}`, gives an array. */
export type TemplateVariables = Readonly<Record<string, string | string[]>>;

/** The handler of a resource template: returns the content of any URI that matches the template. */
export type TemplateReader<Context> = (uri: URL, variables: TemplateVariables, ctx: Context) => ReadReturn | Promise<ReadReturn>;

/** A registered tool, resource or prompt. It can be changed while clients are connected; they are notified that the list changed. */
export interface RegisteredItem {
  /** The item's name. */
  readonly name: string;
  /** Whether the item is enabled: listed and usable. */
  readonly enabled: boolean;
  /** Makes the item visible again, after `disable`. */
  enable(): void;
  /** Hides the item from every caller. Calls fail as if it did not exist. */
  disable(): void;
  /** Unregisters the item permanently. To hide it for a while, use `disable`. */
  remove(): void;
}

/** What `update` of a registered item may change besides its options. Members that are left out stay unchanged. */
interface Changes {
  // Not typed by the schema's arguments, because the same update may change the schema too.
  readonly handler?: ((...args: never[]) => unknown) | undefined;
  /** Same as `handler`, under the name that the official SDK uses. */
  readonly callback?: ((...args: never[]) => unknown) | undefined;
  readonly enabled?: boolean | undefined;
}

/** The changes that a tool's `update` accepts. `name: null` removes the tool. */
export interface ToolChanges extends ToolConfig, Changes {
  readonly name?: string | null | undefined;
  /** Same as `inputSchema`, under the name that the official SDK uses. */
  readonly paramsSchema?: ObjectSchema | undefined;
}

/** A registered tool, as `registerTool` returns it: enable, disable, update or remove it. */
export interface RegisteredTool extends RegisteredItem {
  /** Changes the tool. @throws {RegistrationError} `ERR_REGISTRATION`: the new name is taken or malformed. Nothing is changed then. */
  update(changes: ToolChanges): void;
}

/** The changes that a resource's `update` accepts. `uri: null` removes the resource. */
export interface ResourceChanges extends ResourceConfig, Changes {
  readonly name?: string | undefined;
  readonly uri?: string | null | undefined;
}

/** A registered resource, as `registerResource` returns it for a URI: enable, disable, update or remove it. */
export interface RegisteredResource extends RegisteredItem {
  readonly uri: string;
  update(changes: ResourceChanges): void;
}

/** The changes that `update` of a resource template accepts. `name: null` removes the template. */
export interface ResourceTemplateChanges extends ResourceConfig, Changes {
  readonly name?: string | null | undefined;
}

/** A registered resource template, as `registerResource` returns it for a template: enable, disable, update or remove it. */
export interface RegisteredResourceTemplate extends RegisteredItem {
  readonly uriTemplate: string;
  update(changes: ResourceTemplateChanges): void;
}

/** The changes that a prompt's `update` accepts. `name: null` removes the prompt. */
export interface PromptChanges extends PromptConfig, Changes {
  readonly name?: string | null | undefined;
}

/** A registered prompt, as `registerPrompt` returns it: enable, disable, update or remove it. */
export interface RegisteredPrompt extends RegisteredItem {
  update(changes: PromptChanges): void;
}
