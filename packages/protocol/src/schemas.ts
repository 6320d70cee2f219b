/**
 * `@mortise/protocol/schemas`: every shape of the canonical model as a zod 4 schema, for gateways and tests. Objects are loose. The
 * rest of Mortise checks messages by hand-written guards and never loads this; a property test holds the two equal.
 */

export { JsonObjectSchema, JsonValueSchema, RequestIdSchema } from './schemas/base.ts';
export { ClientCapabilitiesSchema, ServerCapabilitiesSchema } from './schemas/capabilities.ts';
export { CompleteRequestParamsSchema, CompleteResultSchema } from './schemas/completion.ts';
export {
  AudioContentSchema,
  ContentBlockSchema,
  EmbeddedResourceSchema,
  ImageContentSchema,
  ResourceLinkSchema,
  SamplingMessageContentBlockSchema,
  TextContentSchema,
  ToolResultContentSchema,
  ToolUseContentSchema,
} from './schemas/content.ts';
export {
  ElicitationCompleteNotificationParamsSchema,
  ElicitRequestFormParamsSchema,
  ElicitRequestParamsSchema,
  ElicitRequestURLParamsSchema,
  ElicitResultSchema,
  PrimitiveSchemaDefinitionSchema,
} from './schemas/elicitation.ts';
export { IconSchema, ImplementationSchema } from './schemas/icons.ts';
export {
  CancelledNotificationParamsSchema,
  DiscoverResultSchema,
  InitializeRequestParamsSchema,
  InitializeResultSchema,
  InputRequestSchema,
  InputRequiredResultSchema,
  LoggingMessageNotificationParamsSchema,
  PaginatedRequestParamsSchema,
  ProgressNotificationParamsSchema,
  SetLevelRequestParamsSchema,
  SubscriptionFilterSchema,
  SubscriptionsAcknowledgedNotificationParamsSchema,
  SubscriptionsListenRequestParamsSchema,
} from './schemas/lifecycle.ts';
export {
  EmptyResultSchema,
  LoggingLevelSchema,
  ModernRequestMetaSchema,
  NotificationParamsSchema,
  RequestParamsSchema,
} from './schemas/meta.ts';
export {
  GetPromptRequestParamsSchema,
  GetPromptResultSchema,
  ListPromptsResultSchema,
  PromptArgumentSchema,
  PromptMessageSchema,
  PromptSchema,
} from './schemas/prompts.ts';
export {
  AnnotationsSchema,
  BlobResourceContentsSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ReadResourceRequestParamsSchema,
  ReadResourceResultSchema,
  ResourceContentsSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  ResourceUpdatedNotificationParamsSchema,
  RoleSchema,
  SubscribeRequestParamsSchema,
  TextResourceContentsSchema,
} from './schemas/resources.ts';
export {
  CreateMessageRequestParamsSchema,
  CreateMessageResultSchema,
  ListRootsResultSchema,
  RootSchema,
  SamplingMessageSchema,
} from './schemas/sampling.ts';
export {
  CancelTaskResultSchema,
  CreateTaskResultSchema,
  GetTaskResultSchema,
  ListTasksResultSchema,
  TaskMetadataSchema,
  TaskRequestParamsSchema,
  TaskSchema,
  TaskStatusNotificationParamsSchema,
} from './schemas/tasks.ts';
export {
  CallToolRequestParamsSchema,
  CallToolResultSchema,
  ListToolsResultSchema,
  ToolAnnotationsSchema,
  ToolExecutionSchema,
  ToolSchema,
} from './schemas/tools.ts';
export { CLIENT_RESULT_SCHEMAS, NOTIFICATION_SCHEMAS, PARAMS_SCHEMAS, SERVER_RESULT_SCHEMAS } from './schemas/methods.ts';
