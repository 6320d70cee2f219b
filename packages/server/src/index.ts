/**
 * `@mortise/server`: write an MCP server once, serve it in every revision of the protocol. Here: what programs use. Middleware that comes
 * with it is at `/middleware`, every error at `/errors`, the types of what `McpServer` takes and gives at `/types`.
 */

export { McpServer, type McpServerOptions } from './mcp-server.ts';
export { ResourceTemplate } from './resource-template.ts';
export { completable } from './completable.ts';
export { definePrompt, defineResource, defineTool } from './define-tool.ts';
export { inputRequired } from './asks/input-required.ts';
export type { RequestStateOptions } from './options.ts';
export { MemoryReplayStore, MemoryStateStore } from './asks/memory-state-stores.ts';
export type {
  AskOptions,
  ElicitFormRequest,
  ElicitFormResult,
  HandlerContext,
  HandlerLog,
  ProgressUpdate,
  VisibilityContext,
} from './handler-context.ts';
export type {
  PromptConfig,
  PromptHandler,
  RegisteredPrompt,
  RegisteredResource,
  RegisteredResourceTemplate,
  RegisteredTool,
  ResourceConfig,
  ResourceReader,
  TemplateReader,
  ToolConfig,
  ToolHandler,
  ToolReturn,
} from './config.ts';
export type { ToolOptions } from '@mortise/protocol/contracts';
export type { CloseOptions } from './server.ts';
export { RegistrationError, Suspended, ToolError, UrlElicitationRequiredError } from './errors.ts';
export { describeError } from './describe-error.ts';
