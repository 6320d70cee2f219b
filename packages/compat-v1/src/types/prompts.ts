/** Prompts, and the completion of their arguments and of template variables. */

import * as z from 'zod/v4';
import {
  bareNotificationOf,
  listRequestOf,
  NamedSchema,
  PaginatedResultSchema,
  requestOf,
  RequestParamsSchema,
  ResultSchema,
} from './parts.ts';
import { ContentBlockSchema, RoleSchema } from './content.ts';

const Texts = z.record(z.string(), z.string()).optional();

export const PromptArgumentSchema = z.object({
  name: z.string(),
  description: z.string().optional(),
  required: z.boolean().optional(),
});
export const PromptSchema = NamedSchema.extend({
  description: z.string().optional(),
  arguments: z.array(PromptArgumentSchema).optional(),
  _meta: z.looseObject({}).optional(),
});
export const ListPromptsRequestSchema = listRequestOf('prompts/list');
export const ListPromptsResultSchema = PaginatedResultSchema.extend({ prompts: z.array(PromptSchema) });
export const GetPromptRequestParamsSchema = RequestParamsSchema.extend({ name: z.string(), arguments: Texts });
export const GetPromptRequestSchema = requestOf('prompts/get', GetPromptRequestParamsSchema);
export const PromptMessageSchema = z.object({ role: RoleSchema, content: ContentBlockSchema });
export const GetPromptResultSchema = ResultSchema.extend({
  description: z.string().optional(),
  messages: z.array(PromptMessageSchema),
});
export const PromptListChangedNotificationSchema = bareNotificationOf('notifications/prompts/list_changed');

export const ResourceTemplateReferenceSchema = z.object({ type: z.literal('ref/resource'), uri: z.string() });
export const PromptReferenceSchema = z.object({ type: z.literal('ref/prompt'), name: z.string() });
export const CompleteRequestParamsSchema = RequestParamsSchema.extend({
  ref: z.union([PromptReferenceSchema, ResourceTemplateReferenceSchema]),
  argument: z.object({ name: z.string(), value: z.string() }),
  context: z.object({ arguments: Texts }).optional(),
});
export const CompleteRequestSchema = requestOf('completion/complete', CompleteRequestParamsSchema);
export const CompleteResultSchema = ResultSchema.extend({
  completion: z.looseObject({
    values: z.array(z.string()).max(100),
    total: z.number().int().optional(),
    hasMore: z.boolean().optional(),
  }),
});

/** @throws {TypeError} The completion is not for a prompt. */
export function assertCompleteRequestPrompt(request: CompleteRequest): asserts request is CompleteRequestPrompt {
  const { type } = request.params.ref;
  if (type !== 'ref/prompt') throw new TypeError(`Expected CompleteRequestPrompt, but got ${type}`);
}

/** @throws {TypeError} The completion is not for a resource template. */
export function assertCompleteRequestResourceTemplate(request: CompleteRequest): asserts request is CompleteRequestResourceTemplate {
  const { type } = request.params.ref;
  if (type !== 'ref/resource') throw new TypeError(`Expected CompleteRequestResourceTemplate, but got ${type}`);
}

export type PromptArgument = z.infer<typeof PromptArgumentSchema>;
export type Prompt = z.infer<typeof PromptSchema>;
export type ListPromptsRequest = z.infer<typeof ListPromptsRequestSchema>;
export type ListPromptsResult = z.infer<typeof ListPromptsResultSchema>;
export type GetPromptRequestParams = z.infer<typeof GetPromptRequestParamsSchema>;
export type GetPromptRequest = z.infer<typeof GetPromptRequestSchema>;
export type PromptMessage = z.infer<typeof PromptMessageSchema>;
export type GetPromptResult = z.infer<typeof GetPromptResultSchema>;
export type PromptListChangedNotification = z.infer<typeof PromptListChangedNotificationSchema>;
export type ResourceTemplateReference = z.infer<typeof ResourceTemplateReferenceSchema>;
export type ResourceReference = ResourceTemplateReference;
export type PromptReference = z.infer<typeof PromptReferenceSchema>;
export type CompleteRequestParams = z.infer<typeof CompleteRequestParamsSchema>;
export type CompleteRequest = z.infer<typeof CompleteRequestSchema>;
export type CompleteRequestPrompt = CompleteRequest & { params: CompleteRequestParams & { ref: PromptReference } };
export type CompleteRequestResourceTemplate = CompleteRequest & { params: CompleteRequestParams & { ref: ResourceTemplateReference } };
export type CompleteResult = z.infer<typeof CompleteResultSchema>;
