/** Sampling, roots and log messages. */

import * as z from 'zod/v4';
import {
  AnyObject,
  bareNotificationOf,
  Meta,
  notificationOf,
  NotificationParamsSchema,
  requestOf,
  RequestParamsSchema,
  ResultSchema,
  TaskAugmentedRequestParamsSchema,
} from './parts.ts';
import { AudioContentSchema, ContentBlockSchema, ImageContentSchema, RoleSchema, TextContentSchema } from './content.ts';
import { ToolSchema } from './tools.ts';

const Share = z.number().min(0).max(1).optional();

export const ModelHintSchema = z.object({ name: z.string().optional() });
export const ModelPreferencesSchema = z.object({
  hints: z.array(ModelHintSchema).optional(),
  costPriority: Share,
  speedPriority: Share,
  intelligencePriority: Share,
});
export const ToolChoiceSchema = z.object({ mode: z.enum(['auto', 'required', 'none']).optional() });
export const ToolUseContentSchema = z.object({
  type: z.literal('tool_use'),
  name: z.string(),
  id: z.string(),
  input: z.record(z.string(), z.unknown()),
  _meta: Meta,
});
export const ToolResultContentSchema = z.object({
  type: z.literal('tool_result'),
  toolUseId: z.string(),
  content: z.array(ContentBlockSchema).default([]),
  structuredContent: z.looseObject({}).optional(),
  isError: z.boolean().optional(),
  _meta: Meta,
});
export const SamplingContentSchema = z.discriminatedUnion('type', [TextContentSchema, ImageContentSchema, AudioContentSchema]);
export const SamplingMessageContentBlockSchema = z.discriminatedUnion('type', [
  TextContentSchema,
  ImageContentSchema,
  AudioContentSchema,
  ToolUseContentSchema,
  ToolResultContentSchema,
]);
const Blocks = z.union([SamplingMessageContentBlockSchema, z.array(SamplingMessageContentBlockSchema)]);
export const SamplingMessageSchema = z.object({ role: RoleSchema, content: Blocks, _meta: Meta });
export const CreateMessageRequestParamsSchema = TaskAugmentedRequestParamsSchema.extend({
  messages: z.array(SamplingMessageSchema),
  modelPreferences: ModelPreferencesSchema.optional(),
  systemPrompt: z.string().optional(),
  includeContext: z.enum(['none', 'thisServer', 'allServers']).optional(),
  temperature: z.number().optional(),
  maxTokens: z.number().int(),
  stopSequences: z.array(z.string()).optional(),
  metadata: AnyObject.optional(),
  tools: z.array(ToolSchema).optional(),
  toolChoice: ToolChoiceSchema.optional(),
});
export const CreateMessageRequestSchema = requestOf('sampling/createMessage', CreateMessageRequestParamsSchema);
export const CreateMessageResultSchema = ResultSchema.extend({
  model: z.string(),
  stopReason: z.enum(['endTurn', 'stopSequence', 'maxTokens']).or(z.string()).optional(),
  role: RoleSchema,
  content: SamplingContentSchema,
});
export const CreateMessageResultWithToolsSchema = ResultSchema.extend({
  model: z.string(),
  stopReason: z.enum(['endTurn', 'stopSequence', 'maxTokens', 'toolUse']).or(z.string()).optional(),
  role: RoleSchema,
  content: Blocks,
});

export const RootSchema = z.object({ uri: z.string().startsWith('file://'), name: z.string().optional(), _meta: Meta });
export const ListRootsRequestSchema = requestOf('roots/list', RequestParamsSchema.optional());
export const ListRootsResultSchema = ResultSchema.extend({ roots: z.array(RootSchema) });
export const RootsListChangedNotificationSchema = bareNotificationOf('notifications/roots/list_changed');

export const LoggingLevelSchema = z.enum(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']);
export const SetLevelRequestParamsSchema = RequestParamsSchema.extend({ level: LoggingLevelSchema });
export const SetLevelRequestSchema = requestOf('logging/setLevel', SetLevelRequestParamsSchema);
export const LoggingMessageNotificationParamsSchema = NotificationParamsSchema.extend({
  level: LoggingLevelSchema,
  logger: z.string().optional(),
  data: z.unknown(),
});
export const LoggingMessageNotificationSchema = notificationOf('notifications/message', LoggingMessageNotificationParamsSchema);

export type ModelHint = z.infer<typeof ModelHintSchema>;
export type ModelPreferences = z.infer<typeof ModelPreferencesSchema>;
export type ToolChoice = z.infer<typeof ToolChoiceSchema>;
export type ToolUseContent = z.infer<typeof ToolUseContentSchema>;
export type ToolResultContent = z.infer<typeof ToolResultContentSchema>;
export type SamplingContent = z.infer<typeof SamplingContentSchema>;
export type SamplingMessageContentBlock = z.infer<typeof SamplingMessageContentBlockSchema>;
export type SamplingMessage = z.infer<typeof SamplingMessageSchema>;
export type CreateMessageRequestParams = z.infer<typeof CreateMessageRequestParamsSchema>;
/** Params of sampling without tools. */
export type CreateMessageRequestParamsBase = Omit<CreateMessageRequestParams, 'tools' | 'toolChoice'>;
/** Params of sampling with tools. */
export interface CreateMessageRequestParamsWithTools extends CreateMessageRequestParams {
  tools: NonNullable<CreateMessageRequestParams['tools']>;
}
export type CreateMessageRequest = z.infer<typeof CreateMessageRequestSchema>;
export type CreateMessageResult = z.infer<typeof CreateMessageResultSchema>;
export type CreateMessageResultWithTools = z.infer<typeof CreateMessageResultWithToolsSchema>;
export type Root = z.infer<typeof RootSchema>;
export type ListRootsRequest = z.infer<typeof ListRootsRequestSchema>;
export type ListRootsResult = z.infer<typeof ListRootsResultSchema>;
export type RootsListChangedNotification = z.infer<typeof RootsListChangedNotificationSchema>;
export type LoggingLevel = z.infer<typeof LoggingLevelSchema>;
export type SetLevelRequestParams = z.infer<typeof SetLevelRequestParamsSchema>;
export type SetLevelRequest = z.infer<typeof SetLevelRequestSchema>;
export type LoggingMessageNotificationParams = z.infer<typeof LoggingMessageNotificationParamsSchema>;
export type LoggingMessageNotification = z.infer<typeof LoggingMessageNotificationSchema>;
