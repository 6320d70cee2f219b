/** `@mortise/protocol/model`: every shape that travels, and which method carries which. Types only; importing this loads no code. */

export type {
  CacheableResult,
  CacheScope,
  Cursor,
  EmptyResult,
  MetaObject,
  NotificationParams,
  PaginatedRequestParams,
  PaginatedResult,
  RequestParams,
  Result,
  ResultMeta,
} from './model/meta.ts';
export type { ClientCapabilities, ServerCapabilities } from './model/capabilities.ts';
export type { CancelledNotificationParams, Progress, ProgressNotificationParams, ProgressToken } from './model/progress.ts';
export type {
  CompleteRequestParams,
  CompleteResult,
  Completion,
  CompletionArgument,
  PromptReference,
  ResourceTemplateReference,
} from './model/completion.ts';
export type {
  Annotations,
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  Role,
  TextContent,
  ToolResultContent,
  ToolUseContent,
} from './model/content.ts';
export type { DiscoverResult, InitializeRequest, InitializeRequestParams, InitializeResult } from './model/lifecycle.ts';
export type {
  BooleanSchema,
  ElicitationCompleteNotificationParams,
  ElicitContent,
  ElicitRequestFormParams,
  ElicitRequestParams,
  ElicitRequestURLParams,
  ElicitResult,
  EnumSchema,
  LegacyTitledEnumSchema,
  MultiSelectEnumSchema,
  NumberSchema,
  PrimitiveSchemaDefinition,
  SingleSelectEnumSchema,
  StringSchema,
  TitledMultiSelectEnumSchema,
  TitledSingleSelectEnumSchema,
  UntitledMultiSelectEnumSchema,
  UntitledSingleSelectEnumSchema,
} from './model/elicitation.ts';
export type { BaseMetadata, Icon, Icons, Implementation } from './model/implementation.ts';
export type {
  CreateMessageRequest,
  ElicitRequest,
  InputRequest,
  InputRequests,
  InputRequiredResult,
  InputResponse,
  InputResponseRequestParams,
  InputResponses,
  ListRootsRequest,
} from './model/input-required.ts';
export type { CallToolRequestParams, CallToolResult, ListToolsResult, Tool, ToolAnnotations, ToolExecution } from './model/tools.ts';
export type { LoggingLevel, LoggingMessageNotificationParams, SetLevelRequestParams } from './model/logging.ts';
export type { GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage } from './model/prompts.ts';
export type {
  BlobResourceContents,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceRequestParams,
  ReadResourceResult,
  Resource,
  ResourceContents,
  ResourceTemplate,
  ResourceUpdatedNotificationParams,
  SubscribeRequestParams,
  TextResourceContents,
} from './model/resources.ts';
export type { ListRootsResult, Root } from './model/roots.ts';
export type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ModelHint,
  ModelPreferences,
  SamplingMessage,
  SamplingMessageContentBlock,
  ToolChoice,
} from './model/sampling.ts';
export type {
  SubscriptionFilter,
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult,
} from './model/subscriptions.ts';
export type {
  CancelTaskResult,
  CreateTaskResult,
  GetTaskResult,
  ListTasksResult,
  RelatedTaskMetadata,
  Task,
  TaskMetadata,
  TaskStatus,
  TaskStatusNotificationParams,
} from './model/tasks.ts';
export type {
  ClientNotificationMap,
  ClientRequestMap,
  ClientRequestMethod,
  NotificationMap,
  ParamsOf,
  RequestMap,
  RequestMethod,
  ResultOf,
  ServerNotificationMap,
  ServerRequestMap,
} from './model/method-map.ts';
