/**
 * `@mortise/protocol`: MCP's vocabulary, its five revisions as values, and what both sides share. First what programs use, then what
 * implementers of servers, clients, transports and extensions use. No zod, no Node: schemas are at `/schemas`, interfaces at `/contracts`.
 */

// What programs meet: the shapes that travel.
export type { CacheableResult, CacheScope } from './model/cacheable.ts';
export type {
  ClientCapabilities,
  ClientTasksCapability,
  ElicitationCapability,
  ExtensionSettings,
  ListCapability,
  ResourcesCapability,
  RootsCapability,
  SamplingCapability,
  ServerCapabilities,
  ServerTasksCapability,
} from './model/capabilities.ts';
export type { CancelledNotificationParams } from './model/cancellation.ts';
export type {
  CompleteRequestParams,
  CompleteResult,
  Completion,
  CompletionArgument,
  CompletionContext,
  PromptReference,
  ResourceTemplateReference,
} from './model/completion.ts';
export { isResourceRef, MAX_COMPLETION_VALUES } from './model/completion.ts';
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
export { isContentBlock } from './model/content.ts';
export type { DiscoverResult } from './model/discover.ts';
export type {
  BooleanSchema,
  ElicitationCompleteNotificationParams,
  ElicitContent,
  ElicitRequestFormParams,
  ElicitRequestParams,
  ElicitRequestURLParams,
  ElicitResult,
  EnumOption,
  EnumSchema,
  LegacyTitledEnumSchema,
  MultiSelectEnumSchema,
  NumberSchema,
  PrimitiveSchemaDefinition,
  RequestedSchema,
  SingleSelectEnumSchema,
  StringSchema,
  TitledMultiSelectEnumSchema,
  TitledSingleSelectEnumSchema,
  UntitledMultiSelectEnumSchema,
  UntitledSingleSelectEnumSchema,
} from './model/elicitation.ts';
export type { Icon, Icons } from './model/icons.ts';
export type { BaseMetadata, Implementation } from './model/implementation.ts';
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
export { isInputRequired } from './model/input-required.ts';
export type { JsonSchemaObject, ObjectJsonSchema } from './model/json-schema.ts';
export type { InitializeRequest, InitializeRequestParams, InitializeResult } from './model/lifecycle.ts';
export { isInitializeRequest } from './model/lifecycle.ts';
export type { LoggingLevel, LoggingMessageNotificationParams, SetLevelRequestParams } from './model/logging.ts';
export { isLevelEnabled, isLoggingLevel, LOGGING_LEVELS } from './model/logging.ts';
export type {
  EmptyResult,
  MetaObject,
  NotificationMeta,
  NotificationParams,
  RequestMeta,
  RequestParams,
  Result,
  ResultMeta,
  ResultType,
} from './model/meta.ts';
export type { Cursor, PaginatedRequestParams, PaginatedResult } from './model/pagination.ts';
export type { Progress, ProgressNotificationParams, ProgressToken } from './model/progress.ts';
export { isProgressToken } from './model/progress.ts';
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
export type { ListRootsRequestParams, ListRootsResult, Root } from './model/roots.ts';
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
  GetTaskPayloadResult,
  GetTaskResult,
  ListTasksResult,
  RelatedTaskMetadata,
  Task,
  TaskMetadata,
  TaskRequestParams,
  TaskStatus,
  TaskStatusNotificationParams,
} from './model/tasks.ts';
export type { CallToolRequestParams, CallToolResult, ListToolsResult, Tool, ToolAnnotations, ToolExecution } from './model/tools.ts';
export { toolDisplayName } from './model/tools.ts';

// What implementers use: methods, `_meta` keys, revisions.
export type {
  ClientNotificationMap,
  ClientRequestMap,
  ClientRequestMethod,
  NotificationMap,
  NotificationMethod,
  ParamsOf,
  RequestMap,
  RequestMethod,
  ResultOf,
  ServerNotificationMap,
  ServerRequestMap,
  ServerRequestMethod,
} from './model/method-map.ts';
export {
  META_BAGGAGE,
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_MODEL_IMMEDIATE_RESPONSE,
  META_PREFIX,
  META_PROGRESS_TOKEN,
  META_PROTOCOL_VERSION,
  META_RELATED_TASK,
  META_SERVER_INFO,
  META_SUBSCRIPTION_ID,
  META_TRACEPARENT,
  META_TRACESTATE,
} from './model/meta.ts';
export {
  ASSUMED_WITHOUT_HEADER,
  chooseLegacy,
  chooseModern,
  clientCapabilitiesFor,
  findNotification,
  findRequest,
  findRevision,
  negotiateLegacy,
  NEWEST,
  NEWEST_LEGACY,
  REVISIONS,
  revisionsOf,
  serverCapabilitiesFor,
  supportedVersions,
} from './revisions/index.ts';
export { REVISION_CHANGES } from './revisions/changes.ts';
export { mirrorStructuredContent } from './revisions/mirror-structured-content.ts';
export type {
  Conversions,
  Convert,
  Direction,
  Era,
  HttpRules,
  MethodFacts,
  Revision,
  RevisionChange,
  Rules,
  RuleValue,
} from './revisions/revision.ts';
export {
  HEADER_MISMATCH,
  headerMismatchError,
  invalidParamsError,
  isModernError,
  isResourceNotFound,
  MISSING_CLIENT_CAPABILITY,
  missingCapabilityError,
  type MissingCapabilityData,
  readMissingCapabilities,
  readSupportedVersions,
  RESOURCE_NOT_FOUND_LEGACY,
  resourceNotFoundError,
  UNSUPPORTED_PROTOCOL_VERSION,
  unsupportedVersionError,
  type UnsupportedVersionData,
  URL_ELICITATION_REQUIRED,
  type UrlElicitationData,
  urlElicitationRequiredError,
} from './error-codes.ts';
export { type AnyProtocolError, AuthChallengeError, SchemaNotCheckableError, UnrepresentableError, UriTemplateError } from './errors.ts';

// What implementers use: checks, facts of requests, parts.
export { checkClientNotification, checkClientParams, checkClientResult } from './checks/from-client.ts';
export { checkInputRequired, checkListItem, checkServerNotification, checkServerParams, checkServerResult } from './checks/from-server.ts';
export { isModernParams, readRequestMeta, type RequestMetaFacts } from './request-meta.ts';
export { checkExtensionId, checkMetaKey, isReservedMetaKey } from './meta-key.ts';
export { hasCapability, hasExtension, missingCapability, toCapabilities } from './capabilities.ts';
export { checkToolName, MAX_TOOL_NAME_LENGTH } from './tool-name.ts';
export { UriTemplate } from './uri-template.ts';
export type { TemplateValue } from './uri-template/expand-template.ts';
export type { TemplateMatch } from './uri-template/match-template.ts';
export { createCursorCodec, type CursorCodec } from './cursor.ts';
export { MemoryMessageBus } from './memory-bus.ts';
