/** Tools. */

import * as z from 'zod/v4';
import {
  AnyObject,
  bareNotificationOf,
  listRequestOf,
  Meta,
  NamedSchema,
  PaginatedResultSchema,
  requestOf,
  ResultSchema,
  TaskAugmentedRequestParamsSchema,
} from './parts.ts';
import { ContentBlockSchema } from './content.ts';

const ObjectJsonSchema = z
  .object({
    type: z.literal('object'),
    properties: z.record(z.string(), AnyObject).optional(),
    required: z.array(z.string()).optional(),
  })
  .catchall(z.unknown());

export const ToolAnnotationsSchema = z.object({
  title: z.string().optional(),
  readOnlyHint: z.boolean().optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
});
export const ToolExecutionSchema = z.object({ taskSupport: z.enum(['required', 'optional', 'forbidden']).optional() });
export const ToolSchema = NamedSchema.extend({
  description: z.string().optional(),
  inputSchema: ObjectJsonSchema,
  outputSchema: ObjectJsonSchema.optional(),
  annotations: ToolAnnotationsSchema.optional(),
  execution: ToolExecutionSchema.optional(),
  _meta: Meta,
});
export const ListToolsRequestSchema = listRequestOf('tools/list');
export const ListToolsResultSchema = PaginatedResultSchema.extend({ tools: z.array(ToolSchema) });
export const CallToolRequestParamsSchema = TaskAugmentedRequestParamsSchema.extend({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).optional(),
});
export const CallToolRequestSchema = requestOf('tools/call', CallToolRequestParamsSchema);
export const CallToolResultSchema = ResultSchema.extend({
  content: z.array(ContentBlockSchema).default([]),
  structuredContent: z.record(z.string(), z.unknown()).optional(),
  isError: z.boolean().optional(),
});
/** Also accepts what tools returned before there was `content`. */
export const CompatibilityCallToolResultSchema = CallToolResultSchema.or(ResultSchema.extend({ toolResult: z.unknown() }));
export const ToolListChangedNotificationSchema = bareNotificationOf('notifications/tools/list_changed');

/** The options of a handler for changed lists, in the option `listChanged` of a client. */
export const ListChangedOptionsBaseSchema = z.object({
  autoRefresh: z.boolean().default(true),
  debounceMs: z.number().int().nonnegative().default(300),
});

export type ToolAnnotations = z.infer<typeof ToolAnnotationsSchema>;
export type ToolExecution = z.infer<typeof ToolExecutionSchema>;
export type Tool = z.infer<typeof ToolSchema>;
export type ListToolsRequest = z.infer<typeof ListToolsRequestSchema>;
export type ListToolsResult = z.infer<typeof ListToolsResultSchema>;
export type CallToolRequestParams = z.infer<typeof CallToolRequestParamsSchema>;
export type CallToolRequest = z.infer<typeof CallToolRequestSchema>;
export type CallToolResult = z.infer<typeof CallToolResultSchema>;
export type CompatibilityCallToolResult = z.infer<typeof CompatibilityCallToolResultSchema>;
export type ToolListChangedNotification = z.infer<typeof ToolListChangedNotificationSchema>;
