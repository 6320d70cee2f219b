/** Prompts. */

import { z } from 'zod/v4';
import type {
  GetPromptRequestParams,
  GetPromptResult,
  ListPromptsResult,
  Prompt,
  PromptArgument,
  PromptMessage,
} from '../model/prompts.ts';
import { loose, optionalBoolean, optionalObject, optionalString, record } from './base.ts';
import { ContentBlockSchema } from './content.ts';
import { named } from './icons.ts';
import { cacheableShape, pagedResultShape, requestShape, resultShape, roundShape } from './meta.ts';
import { RoleSchema } from './resources.ts';

/** The zod twin of `PromptArgument`. */
export const PromptArgumentSchema: z.ZodType<PromptArgument> = loose({
  name: z.string(),
  title: optionalString,
  description: optionalString,
  required: optionalBoolean,
});

/** The zod twin of `Prompt`. */
export const PromptSchema: z.ZodType<Prompt> = loose({
  ...named,
  description: optionalString,
  arguments: z.array(PromptArgumentSchema).optional(),
  _meta: optionalObject,
});

/** The zod twin of `ListPromptsResult`. */
export const ListPromptsResultSchema: z.ZodType<ListPromptsResult> = loose({
  ...pagedResultShape,
  ...cacheableShape,
  prompts: z.array(PromptSchema),
});

/** The zod twin of `GetPromptRequestParams`. */
export const GetPromptRequestParamsSchema: z.ZodType<GetPromptRequestParams> = loose({
  ...requestShape,
  ...roundShape,
  name: z.string(),
  arguments: record(z.string()).optional(),
});

/** The zod twin of `PromptMessage`. */
export const PromptMessageSchema: z.ZodType<PromptMessage> = loose({ role: RoleSchema, content: ContentBlockSchema });

/** The zod twin of `GetPromptResult`. */
export const GetPromptResultSchema: z.ZodType<GetPromptResult> = loose({
  ...resultShape,
  description: optionalString,
  messages: z.array(PromptMessageSchema),
});
