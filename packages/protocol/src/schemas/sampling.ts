/** Sampling and roots, both deprecated since 2026-07-28. */

import { z } from 'zod/v4';
import type { ListRootsResult, Root } from '../model/roots.ts';
import type { CreateMessageRequestParams, CreateMessageResult, SamplingMessage } from '../model/sampling.ts';
import { loose, optionalNumber, optionalObject, optionalString, optionalStrings } from './base.ts';
import { SamplingMessageContentBlockSchema } from './content.ts';
import { requestShape } from './meta.ts';
import { RoleSchema } from './resources.ts';
import { TaskMetadataSchema } from './tasks.ts';
import { ToolSchema } from './tools.ts';

const message = {
  role: RoleSchema,
  content: z.union([SamplingMessageContentBlockSchema, z.array(SamplingMessageContentBlockSchema)]),
  _meta: optionalObject,
};

/** The zod twin of `SamplingMessage`. */
export const SamplingMessageSchema: z.ZodType<SamplingMessage> = loose(message);

/** The zod twin of `CreateMessageRequestParams`. */
export const CreateMessageRequestParamsSchema: z.ZodType<CreateMessageRequestParams> = loose({
  ...requestShape,
  messages: z.array(SamplingMessageSchema),
  modelPreferences: loose({
    hints: z.array(loose({ name: optionalString })).optional(),
    costPriority: optionalNumber,
    speedPriority: optionalNumber,
    intelligencePriority: optionalNumber,
  }).optional(),
  systemPrompt: optionalString,
  includeContext: z.enum(['none', 'thisServer', 'allServers']).optional(),
  temperature: optionalNumber,
  maxTokens: z.int(),
  stopSequences: optionalStrings,
  metadata: optionalObject,
  tools: z.array(ToolSchema).optional(),
  toolChoice: loose({ mode: z.enum(['auto', 'required', 'none']).optional() }).optional(),
  task: TaskMetadataSchema.optional(),
});

/** The zod twin of `CreateMessageResult`. */
export const CreateMessageResultSchema: z.ZodType<CreateMessageResult> = loose({
  ...message,
  model: z.string(),
  stopReason: optionalString,
});

/** The zod twin of `Root`. */
export const RootSchema: z.ZodType<Root> = loose({ uri: z.string(), name: optionalString, _meta: optionalObject });
/** The zod twin of `ListRootsResult`. */
export const ListRootsResultSchema: z.ZodType<ListRootsResult> = loose({ roots: z.array(RootSchema), _meta: optionalObject });
