/**
 * `@mortise/server`: MCP servers for every revision of the protocol. More entry points: middleware at `/middleware`, every error at `/errors`, the
 * types around `McpServer` at `/types`.
 */

export { McpServer, type McpServerOptions } from './mcp-server.ts';
export { ResourceTemplate } from './resource-template.ts';
export { completable } from './completable.ts';
export { definePrompt, defineResource, defineTool } from './define-tool.ts';
export { inputRequired } from './asks/input-required.ts';
export type { RequestStateOptions } from './options.ts';
export { MemoryReplayStore } from '@mortise/protocol/edge';
export { MemoryStateStore } from './asks/memory-state-store.ts';
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
export type { CloseOptions } from '@mortise/protocol/contracts';
export { RegistrationError, Suspended, ToolError, UrlElicitationRequiredError } from './errors.ts';
export { describeError } from './describe-error.ts';
