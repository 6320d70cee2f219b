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
import { loose, optionalBoolean, optionalObject, optionalString } from './base.ts';
import { ContentBlockSchema } from './content.ts';
import { named } from './icons.ts';
import { cacheableShape, pagedResultShape, requestShape, resultShape, roundShape } from './meta.ts';
import { RoleSchema } from './resources.ts';

export const PromptArgumentSchema: z.ZodType<PromptArgument> = loose({
  name: z.string(),
  title: optionalString,
  description: optionalString,
  required: optionalBoolean,
});

export const PromptSchema: z.ZodType<Prompt> = loose({
  ...named,
  description: optionalString,
  arguments: z.array(PromptArgumentSchema).optional(),
  _meta: optionalObject,
});

export const ListPromptsResultSchema: z.ZodType<ListPromptsResult> = loose({
  ...pagedResultShape,
  ...cacheableShape,
  prompts: z.array(PromptSchema),
});

export const GetPromptRequestParamsSchema: z.ZodType<GetPromptRequestParams> = loose({
  ...requestShape,
  ...roundShape,
  name: z.string(),
  arguments: z.record(z.string(), z.string()).optional(),
});

export const PromptMessageSchema: z.ZodType<PromptMessage> = loose({ role: RoleSchema, content: ContentBlockSchema });

export const GetPromptResultSchema: z.ZodType<GetPromptResult> = loose({
  ...resultShape,
  description: optionalString,
  messages: z.array(PromptMessageSchema),
});
