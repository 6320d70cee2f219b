/** The zod schemas of types inside params and results. Objects are loose: unknown members are kept. */

import { z } from 'zod/v4';
import type { JsonObject } from '@mortise/jsonrpc-core';
import type { ClientCapabilities, ServerCapabilities } from '../model/capabilities.ts';
import type { Annotations, ContentBlock, Role } from '../model/content.ts';
import type { PrimitiveSchemaDefinition } from '../model/elicitation.ts';
import type { Icon, Implementation } from '../model/implementation.ts';
import { LOGGING_LEVELS, type LoggingLevel } from '../model/logging.ts';
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
  META_SUBSCRIPTION_ID,
  type RequestMeta,
} from '../model/meta.ts';
import type { Prompt, PromptMessage } from '../model/prompts.ts';
import type { BlobResourceContents, Resource, ResourceTemplate, TextResourceContents } from '../model/resources.ts';
import type { Root } from '../model/roots.ts';
import type { SamplingMessage, SamplingMessageContentBlock } from '../model/sampling.ts';
import type { Task, TaskMetadata } from '../model/tasks.ts';
import type { Tool } from '../model/tools.ts';

/** Creates a schema of an object that may have unknown members, for the type `T` of the model. A property test proves that both agree. */
export function loose<T>(...shapes: readonly z.ZodRawShape[]): z.ZodType<T> {
  return z.looseObject(Object.assign({}, ...shapes) as z.ZodRawShape) as unknown as z.ZodType<T>;
}

/**
 * Creates a schema of an object with any member names whose values all match. Unlike `z.record`, it also checks a member named `__proto__`,
 * which zod silently drops.
 */
export function record<T>(member: z.ZodType<T>): z.ZodType<Readonly<Record<string, T>>> {
  const isGood = (value: unknown): boolean => {
    const named = typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, '__proto__') : undefined;
    return named === undefined || member.safeParse(named.value).success;
  };
  return z.unknown().refine(isGood, 'The member "__proto__" is not valid').pipe(z.record(z.string(), member));
}

/** The zod schema of any JSON object. */
export const object: z.ZodType<JsonObject> = loose({});
/** The zod schema of any JSON value. The value must be present. */
export const value: z.ZodType = z.unknown().refine((given) => given !== undefined, 'Required');
/** The zod schema of a request id or a progress token. */
export const id: z.ZodType<string | number> = z.union([z.string(), z.int()]);

export const optionalString: z.ZodOptional<z.ZodString> = z.string().optional();
export const optionalNumber: z.ZodOptional<z.ZodNumber> = z.number().optional();
export const optionalInt: z.ZodOptional<z.ZodInt> = z.int().optional();
export const optionalBoolean: z.ZodOptional<z.ZodBoolean> = z.boolean().optional();
export const optionalStrings: z.ZodOptional<z.ZodArray<z.ZodString>> = z.array(z.string()).optional();
export const optionalObject: z.ZodOptional<z.ZodType<JsonObject>> = object.optional();

/** Creates the zod schema of a request's params: the given members, and a `_meta` that may have a progress token. */
export function params<T>(...shapes: readonly z.ZodRawShape[]): z.ZodType<T> {
  return loose<T>({ _meta: loose({ progressToken: id.optional() }).optional() }, ...shapes);
}

/** Creates the zod schema of a notification's params: the given members, and a `_meta` that may have a subscription id. */
export function notificationParams<T>(...shapes: readonly z.ZodRawShape[]): z.ZodType<T> {
  return loose<T>({ _meta: loose({ [META_SUBSCRIPTION_ID]: id.optional() }).optional() }, ...shapes);
}

const settings = record(object).optional();
const listed = loose({ listChanged: optionalBoolean }).optional();

/** The zod schema of `ClientCapabilities`. */
export const ClientCapabilitiesSchema: z.ZodType<ClientCapabilities> = loose({
  experimental: settings,
  roots: listed,
  sampling: loose({ context: optionalObject, tools: optionalObject }).optional(),
  elicitation: loose({ form: optionalObject, url: optionalObject }).optional(),
  tasks: loose({
    list: optionalObject,
    cancel: optionalObject,
    requests: loose({
      sampling: loose({ createMessage: optionalObject }).optional(),
      elicitation: loose({ create: optionalObject }).optional(),
    }).optional(),
  }).optional(),
  extensions: settings,
});

/** The zod schema of `ServerCapabilities`. */
export const ServerCapabilitiesSchema: z.ZodType<ServerCapabilities> = loose({
  experimental: settings,
  logging: optionalObject,
  completions: optionalObject,
  prompts: listed,
  resources: loose({ subscribe: optionalBoolean, listChanged: optionalBoolean }).optional(),
  tools: listed,
  tasks: loose({
    list: optionalObject,
    cancel: optionalObject,
    requests: loose({ tools: loose({ call: optionalObject }).optional() }).optional(),
  }).optional(),
  extensions: settings,
});

const icon: z.ZodType<Icon> = loose({
  src: z.string(),
  mimeType: optionalString,
  sizes: optionalStrings,
  theme: z.enum(['light', 'dark']).optional(),
});
const named = { name: z.string(), title: optionalString, description: optionalString, icons: z.array(icon).optional() };
const listItem = { ...named, _meta: optionalObject };

/** The zod schema of `Implementation`. */
export const ImplementationSchema: z.ZodType<Implementation> = loose(named, { version: z.string(), websiteUrl: optionalString });

/** The zod schema of `LoggingLevel`. */
export const LoggingLevelSchema: z.ZodType<LoggingLevel> = z.enum(LOGGING_LEVELS);

/** The zod schema of the `_meta` of a modern request, with its mandatory members. */
export const ModernRequestMetaSchema: z.ZodType<RequestMeta> = loose({
  progressToken: id.optional(),
  [META_PROTOCOL_VERSION]: z.string(),
  [META_CLIENT_CAPABILITIES]: ClientCapabilitiesSchema,
  [META_CLIENT_INFO]: ImplementationSchema.optional(),
  [META_LOG_LEVEL]: LoggingLevelSchema.optional(),
});

export const role: z.ZodType<Role> = z.enum(['user', 'assistant']);
const annotations = loose<Annotations>({
  audience: z.array(role).optional(),
  priority: optionalNumber,
  lastModified: optionalString,
}).optional();

const resource = { ...listItem, uri: z.string(), mimeType: optionalString, annotations, size: optionalInt };

/** The zod schema of `Resource`. */
export const ResourceSchema: z.ZodType<Resource> = loose(resource);

/** The zod schema of `ResourceTemplate`. */
export const ResourceTemplateSchema: z.ZodType<ResourceTemplate> = loose(listItem, {
  uriTemplate: z.string(),
  mimeType: optionalString,
  annotations,
});

const contents = { uri: z.string(), mimeType: optionalString, _meta: optionalObject };

/** The zod schema of `ResourceContents`. */
export const ResourceContentsSchema: z.ZodType<TextResourceContents | BlobResourceContents> = z.union([
  loose<TextResourceContents>(contents, { text: z.string() }),
  loose<BlobResourceContents>(contents, { blob: z.string() }),
]);

const shown = { annotations, _meta: optionalObject };
const media = { ...shown, data: z.string(), mimeType: z.string() };
type Plain = ContentBlock & SamplingMessageContentBlock;
const plainBlocks = [
  loose<Plain>(shown, { type: z.literal('text'), text: z.string() }),
  loose<Plain>(media, { type: z.literal('image') }),
  loose<Plain>(media, { type: z.literal('audio') }),
] as const;

/** The zod schema of `ContentBlock`. */
export const ContentBlockSchema: z.ZodType<ContentBlock> = z.union([
  ...plainBlocks,
  loose<ContentBlock>(resource, { type: z.literal('resource_link') }),
  loose<ContentBlock>(shown, { type: z.literal('resource'), resource: ResourceContentsSchema }),
]);

const samplingBlock: z.ZodType<SamplingMessageContentBlock> = z.union([
  ...plainBlocks,
  loose<SamplingMessageContentBlock>({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: object,
    _meta: optionalObject,
  }),
  loose<SamplingMessageContentBlock>({
    type: z.literal('tool_result'),
    toolUseId: z.string(),
    content: z.array(ContentBlockSchema),
    structuredContent: z.unknown().optional(),
    isError: optionalBoolean,
    _meta: optionalObject,
  }),
]);

/** The zod schemas of the members of a sampling message. */
export const samplingMessage: z.ZodRawShape = {
  role,
  content: z.union([samplingBlock, z.array(samplingBlock)]),
  _meta: optionalObject,
};

/** The zod schema of `SamplingMessage`. */
export const SamplingMessageSchema: z.ZodType<SamplingMessage> = loose(samplingMessage);

/** The zod schema of `Root`. */
export const RootSchema: z.ZodType<Root> = loose({ uri: z.string(), name: optionalString, _meta: optionalObject });

/** The zod schema of `Tool`. */
export const ToolSchema: z.ZodType<Tool> = loose(listItem, {
  inputSchema: loose({ $schema: optionalString, type: z.literal('object'), properties: optionalObject, required: optionalStrings }),
  outputSchema: loose({ $schema: optionalString }).optional(),
  annotations: loose({
    title: optionalString,
    readOnlyHint: optionalBoolean,
    destructiveHint: optionalBoolean,
    idempotentHint: optionalBoolean,
    openWorldHint: optionalBoolean,
  }).optional(),
  execution: loose({ taskSupport: z.enum(['forbidden', 'optional', 'required']).optional() }).optional(),
});

/** The zod schema of `Prompt`. */
export const PromptSchema: z.ZodType<Prompt> = loose(listItem, {
  arguments: z.array(loose({ name: z.string(), title: optionalString, description: optionalString, required: optionalBoolean })).optional(),
});

/** The zod schema of `PromptMessage`. */
export const PromptMessageSchema: z.ZodType<PromptMessage> = loose({ role, content: ContentBlockSchema });

const field = { title: optionalString, description: optionalString };
const textField = { ...field, type: z.literal('string'), default: optionalString };
const choices = { ...field, type: z.literal('array'), minItems: optionalInt, maxItems: optionalInt, default: optionalStrings };
const options = z.array(loose({ const: z.string(), title: z.string() }));
const names = z.array(z.string());
const format = z.enum(['email', 'uri', 'date', 'date-time']).optional();

/** The zod schema of one field of an elicitation form. */
export const formField: z.ZodType<PrimitiveSchemaDefinition> = z.union([
  loose<PrimitiveSchemaDefinition>(textField, { minLength: optionalInt, maxLength: optionalInt, format }),
  loose<PrimitiveSchemaDefinition>(textField, { enum: names }),
  loose<PrimitiveSchemaDefinition>(textField, { oneOf: options }),
  loose<PrimitiveSchemaDefinition>(field, {
    type: z.enum(['number', 'integer']),
    minimum: optionalNumber,
    maximum: optionalNumber,
    default: optionalNumber,
  }),
  loose<PrimitiveSchemaDefinition>(field, { type: z.literal('boolean'), default: optionalBoolean }),
  loose<PrimitiveSchemaDefinition>(choices, { items: loose({ type: z.literal('string'), enum: names }) }),
  loose<PrimitiveSchemaDefinition>(choices, { items: loose({ anyOf: options }) }),
]);

/** The zod schema of the `task` member of a request that asks to run as a task. @until 2025-11-25 */
export const taskMetadata: z.ZodOptional<z.ZodType<TaskMetadata>> = loose<TaskMetadata>({ ttl: optionalNumber }).optional();

/** The zod schemas of the members of a task. @until 2025-11-25 */
export const task: z.ZodRawShape = {
  taskId: z.string(),
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: optionalString,
  createdAt: z.string(),
  lastUpdatedAt: z.string(),
  ttl: z.number().nullable(),
  pollInterval: optionalNumber,
};

/** The zod schema of `Task`. @until 2025-11-25 */
export const TaskSchema: z.ZodType<Task> = loose(task);
