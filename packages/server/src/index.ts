/** `@mortise/server`: write an MCP server once, serve it in every revision of the protocol. */

// What programs use.
export { McpServer, type McpServerOptions, type ToolDefinitions } from './mcp-server.ts';
export { ResourceTemplate, type ListedResource, type ListResources, type ResourceTemplateCallbacks } from './resource-template.ts';
export { completable, type CompleteContext, type Completer, type CompleteReturn } from './completable.ts';
export { rank } from './rank.ts';
export { definePrompt, defineResource, defineTool } from './define-tool.ts';
export { auditLog, type AuditLogOptions, type AuditOutcome, type AuditRecord } from './middleware/audit-log.ts';
export { RATE_LIMITED, rateLimit, type RateLimitOptions } from './middleware/rate-limit.ts';
export { redact, type RedactMiddlewareOptions } from './middleware/redact.ts';
export { sanitizeOutput, type SanitizeOutputOptions } from './middleware/sanitize-output.ts';
export { inputRequired, type InputWanted } from './asks/input-required.ts';
export type { ClientRoots, RootGuard } from './asks/client-roots.ts';
export type { RequestStateOptions } from './asks/request-state-options.ts';
export {
  MemoryReplayStore,
  type MemoryReplayStoreOptions,
  MemoryStateStore,
  type MemoryStateStoreOptions,
} from './asks/memory-state-stores.ts';
export { redactor, type RedactOptions, type Redactor } from './redactor.ts';
export type {
  AskOptions,
  ElicitFormRequest,
  ElicitFormResult,
  HandlerContext,
  HandlerLog,
  ProgressUpdate,
  VisibilityContext,
} from './context.ts';
export type {
  ListedConfig,
  PromptChanges,
  PromptConfig,
  PromptHandler,
  PromptReturn,
  ReadContent,
  ReadReturn,
  RegisteredItem,
  RegisteredPrompt,
  RegisteredResource,
  RegisteredResourceTemplate,
  RegisteredTool,
  ResourceChanges,
  ResourceConfig,
  ResourceReader,
  ResourceTemplateChanges,
  TemplateReader,
  TemplateVariables,
  ToolChanges,
  ToolConfig,
  ToolOptions,
} from './config.ts';
export type { ToolHandler, ToolInputSchema, ToolOutputSchema, ToolResultLike, ToolReturn } from './tool-handler.ts';
export type { AnySchema, InferInput, InferOutput, ObjectSchema, PlainJsonSchema, RawShape, TypedSchema } from './schema/infer.ts';
export type { StandardSchema } from './schema/standard-schema.ts';
export type {
  AnyPromptDefinition,
  AnyToolDefinition,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ToolDefinition,
} from './define-tool.ts';
export type { ClientFacts, Middleware, MiddlewareCall, NextMiddleware } from './middleware.ts';
export type { CacheOptions, ContextCall, KeepAliveOptions, LoggingOptions, ProgressOptions, ServerOptions } from './options.ts';
export type { CloseOptions } from './server.ts';
export {
  type AnyServerError,
  AskChangedError,
  AskUnavailableError,
  ClientCapabilityError,
  HandlerTimeoutError,
  InvalidAnswerError,
  InvalidAskError,
  InvalidHandlerResultError,
  InvalidStepError,
  RegistrationError,
  RequestStateError,
  type RequiredPage,
  SchemaUnsupportedError,
  ServerClosedError,
  StateTooLargeError,
  Suspended,
  TooManyAsksError,
  ToolError,
  UrlElicitationRequiredError,
} from './errors.ts';

// What implementers of schemas and extensions use.
export { describeError } from './describe-error.ts';
