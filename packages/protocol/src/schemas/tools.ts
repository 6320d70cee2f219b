/** Tools. */

import { z } from 'zod/v4';
import type { CallToolRequestParams, CallToolResult, ListToolsResult, Tool, ToolAnnotations, ToolExecution } from '../model/tools.ts';
import { loose, optionalBoolean, optionalObject, optionalString, optionalStrings } from './base.ts';
import { ContentBlockSchema } from './content.ts';
import { named } from './icons.ts';
import { cacheableShape, pagedResultShape, requestShape, resultShape, roundShape } from './meta.ts';
import { TaskMetadataSchema } from './tasks.ts';

/** The zod twin of `ToolAnnotations`. */
export const ToolAnnotationsSchema: z.ZodType<ToolAnnotations> = loose({
  title: optionalString,
  readOnlyHint: optionalBoolean,
  destructiveHint: optionalBoolean,
  idempotentHint: optionalBoolean,
  openWorldHint: optionalBoolean,
});

/** The zod twin of `ToolExecution`. */
export const ToolExecutionSchema: z.ZodType<ToolExecution> = loose({
  taskSupport: z.enum(['forbidden', 'optional', 'required']).optional(),
});

/** The zod twin of `Tool`. */
export const ToolSchema: z.ZodType<Tool> = loose({
  ...named,
  description: optionalString,
  inputSchema: loose({ $schema: optionalString, type: z.literal('object'), properties: optionalObject, required: optionalStrings }),
  outputSchema: loose({ $schema: optionalString }).optional(),
  annotations: ToolAnnotationsSchema.optional(),
  execution: ToolExecutionSchema.optional(),
  _meta: optionalObject,
});

/** The zod twin of `ListToolsResult`. */
export const ListToolsResultSchema: z.ZodType<ListToolsResult> = loose({
  ...pagedResultShape,
  ...cacheableShape,
  tools: z.array(ToolSchema),
});

/** The zod twin of `CallToolRequestParams`. */
export const CallToolRequestParamsSchema: z.ZodType<CallToolRequestParams> = loose({
  ...requestShape,
  ...roundShape,
  name: z.string(),
  arguments: optionalObject,
  task: TaskMetadataSchema.optional(),
});

/** The zod twin of `CallToolResult`. */
export const CallToolResultSchema: z.ZodType<CallToolResult> = loose({
  ...resultShape,
  content: z.array(ContentBlockSchema),
  structuredContent: z.unknown().optional(),
  isError: optionalBoolean,
});
