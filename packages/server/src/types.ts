/** `@mortise/server/types`: types of `McpServer`'s arguments and results that programs seldom name. Importing it loads no code. */

export type { ToolDefinitions } from './mcp-server.ts';
export type { ListedResource, ListResources, ResourceTemplateCallbacks } from './resource-template.ts';
export type { CompleteContext, Completer, CompleteReturn } from './completable.ts';
export type { InputWanted } from './asks/input-required.ts';
export type { MemoryStateStoreOptions } from './asks/memory-state-store.ts';
export type {
  ListedConfig,
  PromptChanges,
  PromptReturn,
  ReadContent,
  ReadReturn,
  RegisteredItem,
  ResourceChanges,
  ResourceTemplateChanges,
  TemplateVariables,
  ToolChanges,
  ToolInputSchema,
  ToolOutputSchema,
  ToolResultLike,
} from './config.ts';
export type { AnySchema, InferInput, InferOutput, ObjectSchema, PlainJsonSchema, RawShape, TypedSchema } from './schema/infer.ts';
export type { StandardSchema } from './schema/standard-schema.ts';
export type {
  AnyPromptDefinition,
  AnyToolDefinition,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from './define-tool.ts';
export type { CacheOptions, ContextCall, ServerOptions } from './options.ts';
