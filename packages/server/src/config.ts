/** What tools, resources and prompts are registered with, and the handles that registering gives back. */

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

/** What lists show of anything, and to whom. */
export interface ListedConfig<App = unknown> {
  /** For people. */
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Each with a `src` that is `https:` or `data:`. Shown since 2025-11-25. */
  readonly icons?: readonly Icon[] | undefined;
  readonly _meta?: MetaObject | undefined;
  /**
   * Whether this caller may see it, in lists and in calls alike: what is hidden is answered like what does not exist. Asked for
   * each request, so it must be quick. A list with such a rule is `cacheScope: 'private'`.
   */
  readonly visible?: ((ctx: VisibilityContext<App>) => boolean) | undefined;
}

/** A tool's registration. */
export interface ToolConfig<In = ToolInputSchema, Out = ToolOutputSchema, App = unknown> extends ListedConfig<App>, ToolOptions {
  /** Of the arguments; a tool without it takes none and its handler is given the context alone. */
  readonly inputSchema?: In | undefined;
  /** Of `structuredContent`, which is checked against it. */
  readonly outputSchema?: Out | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** What a verified token must be good for. A caller whose token lacks one is refused; `local` callers have no token and need none. */
  readonly scopes?: readonly string[] | undefined;
}

/** A resource's, or a template's, registration. */
export interface ResourceConfig<App = unknown> extends ListedConfig<App> {
  readonly mimeType?: string | undefined;
  readonly annotations?: Annotations | undefined;
  /** Bytes, before any encoding. */
  readonly size?: number | undefined;
  /** How long what is read stays good. @default the server's `cache.readTtlMs` */
  readonly ttlMs?: number | undefined;
  /** Whether others than its reader may use a copy of what is read. @default 'private' */
  readonly cacheScope?: CacheScope | undefined;
}

/** A prompt's registration. */
export interface PromptConfig<Args = ObjectSchema | undefined, App = unknown> extends ListedConfig<App> {
  /**
   * Each field is given as a string, and may convert it: `z.coerce.number()`, not `z.number()`. Fields may be `completable`.
   */
  readonly argsSchema?: Args | undefined;
}

/** One item of what a resource holds; without `uri` it is the one that was asked for. Bytes are sent as base64. */
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

/** What a reader may give back. `undefined` means that there is no such resource. */
export type ReadReturn =
  | string
  | Uint8Array
  | ReadContent
  | readonly ReadContent[]
  | ReadResourceResult
  | { readonly contents: readonly ReadContent[] }
  | InputRequiredResult
  | undefined;

/** What a prompt's handler may give back: text (one message of the user), one message, several, or the whole result. */
export type PromptReturn = string | PromptMessage | readonly PromptMessage[] | GetPromptResult | InputRequiredResult;

/**
 * What a handler may give back: a whole result, or just text, one block of content, or several. A tool with an `outputSchema` gives
 * `structuredContent` of the type that the schema takes, or says that it failed; without `content` it is mirrored as JSON text.
 */
export type ToolReturn<Out = undefined> =
  | InputRequiredResult
  | (Out extends undefined
      ? string | ContentBlock | readonly ContentBlock[] | ToolResultLike
      : StructuredResultLike<InferInput<Out>> | FailedResultLike);

/** The result of a tool with an `outputSchema`. */
export interface StructuredResultLike<Value> {
  readonly structuredContent: Value;
  readonly content?: readonly ContentBlock[] | undefined;
  readonly isError?: false | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** The result of a tool that failed: `content` says how, and `outputSchema` does not apply. */
export interface FailedResultLike {
  readonly isError: true;
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  readonly _meta?: MetaObject | undefined;
}

/** A tool's result, with everything that can be filled in left optional. */
export interface ToolResultLike {
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  /** The tool failed, and `content` says how; `outputSchema` does not apply. @default false */
  readonly isError?: boolean | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** A tool's handler: `(args, ctx)` where there is an `inputSchema`, `(ctx)` where there is none. */
export type ToolHandler<In, Out, Context> = In extends undefined
  ? (ctx: Context) => ToolReturn<Out> | Promise<ToolReturn<Out>>
  : (args: InferOutput<In>, ctx: Context) => ToolReturn<Out> | Promise<ToolReturn<Out>>;

/** What a tool's `inputSchema` may be: its root is an object. */
export type ToolInputSchema = ObjectSchema | undefined;

/** What a tool's `outputSchema` may be: any schema. Revisions up to 2025-11-25 list only those whose root is an object. */
export type ToolOutputSchema = AnySchema | undefined;

/** A prompt's handler: `(args, ctx)` where there is an `argsSchema`, `(ctx)` where there is none. */
export type PromptHandler<Args, Context> = Args extends undefined
  ? (ctx: Context) => PromptReturn | Promise<PromptReturn>
  : (args: InferOutput<Args>, ctx: Context) => PromptReturn | Promise<PromptReturn>;

/** Reads the resource at one URI. */
export type ResourceReader<Context> = (uri: URL, ctx: Context) => ReadReturn | Promise<ReadReturn>;

/** The variables of a template, percent-decoded; a list where the template says so. */
export type TemplateVariables = Readonly<Record<string, string | string[]>>;

/** Reads a resource of a template's family. */
export type TemplateReader<Context> = (uri: URL, variables: TemplateVariables, ctx: Context) => ReadReturn | Promise<ReadReturn>;

/** What every handle can do, also while clients are connected: they hear that the list changed. */
export interface RegisteredItem {
  readonly name: string;
  /** Whether it is shown and can be used. */
  readonly enabled: boolean;
  enable(): void;
  /** Hides it from everyone; a call is answered as if it did not exist. */
  disable(): void;
  /** Takes it away for good. */
  remove(): void;
}

/** What a handle's `update` may change, beside the options of the registration; what is not named stays. */
interface Changes {
  // The handler's arguments belong to a schema that may have changed too, so nothing here can tie the two together.
  readonly handler?: ((...args: never[]) => unknown) | undefined;
  /** The same as `handler`. */
  readonly callback?: ((...args: never[]) => unknown) | undefined;
  readonly enabled?: boolean | undefined;
}

/** What may be changed of a tool. `name: null` removes it. */
export interface ToolChanges extends ToolConfig, Changes {
  readonly name?: string | null | undefined;
  /** The same as `inputSchema`. */
  readonly paramsSchema?: ObjectSchema | undefined;
}

/** A registered tool. */
export interface RegisteredTool extends RegisteredItem {
  /** @throws {RegistrationError} `ERR_REGISTRATION`: the new name is taken or malformed; nothing is changed then. */
  update(changes: ToolChanges): void;
}

/** What may be changed of a resource. `uri: null` removes it. */
export interface ResourceChanges extends ResourceConfig, Changes {
  readonly name?: string | undefined;
  readonly uri?: string | null | undefined;
}

/** A registered resource. */
export interface RegisteredResource extends RegisteredItem {
  readonly uri: string;
  update(changes: ResourceChanges): void;
}

/** What may be changed of a template. `name: null` removes it. */
export interface ResourceTemplateChanges extends ResourceConfig, Changes {
  readonly name?: string | null | undefined;
}

/** A registered resource template. */
export interface RegisteredResourceTemplate extends RegisteredItem {
  readonly uriTemplate: string;
  update(changes: ResourceTemplateChanges): void;
}

/** What may be changed of a prompt. `name: null` removes it. */
export interface PromptChanges extends PromptConfig, Changes {
  readonly name?: string | null | undefined;
}

/** A registered prompt. */
export interface RegisteredPrompt extends RegisteredItem {
  update(changes: PromptChanges): void;
}
