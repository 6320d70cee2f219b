/** `@mortise/protocol/model`: the types of all MCP messages, and of params and result by method. Types only. */

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
export type * from './model/capabilities.ts';
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
export type * from './model/elicitation.ts';
export type * from './model/implementation.ts';
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
export type * from './model/tools.ts';
export type { LoggingLevel, LoggingMessageNotificationParams, SetLevelRequestParams } from './model/logging.ts';
export type * from './model/prompts.ts';
export type * from './model/resources.ts';
export type * from './model/roots.ts';
export type * from './model/sampling.ts';
export type * from './model/subscriptions.ts';
export type * from './model/tasks.ts';
export type * from './model/method-map.ts';
