/** The types of what `McpServer` registers. */

import type { ToolTaskHandler } from '../experimental/tasks/interfaces.ts';
import type { RequestHandlerExtra } from '../shared/protocol.ts';
import type { Variables } from '../shared/uriTemplate.ts';
import type * as v1 from '../types.ts';
import type { ResourceTemplate } from './resource-template.ts';
import type { AnyObjectSchema, AnySchema, SchemaOutput, ShapeOutput, ZodRawShapeCompat } from './zod-compat.ts';

type Arguments = undefined | ZodRawShapeCompat | AnySchema;
type Extra = RequestHandlerExtra<v1.ServerRequest, v1.ServerNotification>;

/** A callback that gets its arguments first, if there is a schema of them. */
export type BaseToolCallback<SendResultT extends v1.Result, ExtraT extends Extra, Args extends Arguments> = Args extends ZodRawShapeCompat
  ? (args: ShapeOutput<Args>, extra: ExtraT) => SendResultT | Promise<SendResultT>
  : Args extends AnySchema
    ? (args: SchemaOutput<Args>, extra: ExtraT) => SendResultT | Promise<SendResultT>
    : (extra: ExtraT) => SendResultT | Promise<SendResultT>;
export type ToolCallback<Args extends Arguments = undefined> = BaseToolCallback<v1.CallToolResult, Extra, Args>;
export type AnyToolHandler<Args extends Arguments = undefined> = ToolCallback<Args> | ToolTaskHandler<Args>;

interface Registered {
  /** Whether clients see it. */
  enabled: boolean;
  enable(): void;
  disable(): void;
  remove(): void;
}

export interface RegisteredTool extends Registered {
  title?: string | undefined;
  description?: string | undefined;
  inputSchema?: AnySchema | undefined;
  outputSchema?: AnySchema | undefined;
  annotations?: v1.ToolAnnotations | undefined;
  execution?: v1.ToolExecution | undefined;
  _meta?: Record<string, unknown> | undefined;
  handler: AnyToolHandler<undefined | ZodRawShapeCompat>;
  /** Changes what is given; `name: null` removes the tool. */
  update<InputArgs extends ZodRawShapeCompat, OutputArgs extends ZodRawShapeCompat>(updates: {
    name?: string | null;
    title?: string;
    description?: string;
    paramsSchema?: InputArgs;
    outputSchema?: OutputArgs;
    annotations?: v1.ToolAnnotations;
    _meta?: Record<string, unknown>;
    callback?: ToolCallback<InputArgs>;
    enabled?: boolean;
  }): void;
}

/** Everything about a resource but its name and address. */
export type ResourceMetadata = Omit<v1.Resource, 'uri' | 'name'>;
export type ListResourcesCallback = (extra: Extra) => v1.ListResourcesResult | Promise<v1.ListResourcesResult>;
export type ReadResourceCallback = (uri: URL, extra: Extra) => v1.ReadResourceResult | Promise<v1.ReadResourceResult>;
export type ReadResourceTemplateCallback = (
  uri: URL,
  variables: Variables,
  extra: Extra,
) => v1.ReadResourceResult | Promise<v1.ReadResourceResult>;

export interface RegisteredResource extends Registered {
  name: string;
  title?: string | undefined;
  metadata?: ResourceMetadata | undefined;
  readCallback: ReadResourceCallback;
  update(updates: {
    name?: string;
    title?: string;
    uri?: string | null;
    metadata?: ResourceMetadata;
    callback?: ReadResourceCallback;
    enabled?: boolean;
  }): void;
}

export interface RegisteredResourceTemplate extends Registered {
  resourceTemplate: ResourceTemplate;
  title?: string | undefined;
  metadata?: ResourceMetadata | undefined;
  readCallback: ReadResourceTemplateCallback;
  update(updates: {
    name?: string | null;
    title?: string;
    template?: ResourceTemplate;
    metadata?: ResourceMetadata;
    callback?: ReadResourceTemplateCallback;
    enabled?: boolean;
  }): void;
}

export type PromptArgsRawShape = ZodRawShapeCompat;
export type PromptCallback<Args extends undefined | PromptArgsRawShape = undefined> = Args extends PromptArgsRawShape
  ? (args: ShapeOutput<Args>, extra: Extra) => v1.GetPromptResult | Promise<v1.GetPromptResult>
  : (extra: Extra) => v1.GetPromptResult | Promise<v1.GetPromptResult>;

export interface RegisteredPrompt extends Registered {
  title?: string | undefined;
  description?: string | undefined;
  argsSchema?: AnyObjectSchema | undefined;
  callback: PromptCallback<undefined | PromptArgsRawShape>;
  update<Args extends PromptArgsRawShape>(updates: {
    name?: string | null;
    title?: string;
    description?: string;
    argsSchema?: Args;
    callback?: PromptCallback<Args>;
    enabled?: boolean;
  }): void;
}
