/**
 * `@mortise/protocol`: the types that most programs use, and MCP's five protocol revisions as objects. All types are at `/model`. Authors
 * of servers, clients, transports and extensions also need `/revisions`, `/checks`, `/wire` and `/contracts`. Needs neither zod nor Node.
 * The zod schemas are at `/schemas`.
 */

export type { ClientCapabilities, ServerCapabilities } from './model/capabilities.ts';
export type { Annotations, ContentBlock } from './model/content.ts';
export type { ElicitResult } from './model/elicitation.ts';
export type { Icon, Implementation } from './model/implementation.ts';
export { isInitializeRequest } from './model/lifecycle.ts';
export { LOGGING_LEVELS, type LoggingLevel } from './model/logging.ts';
export type { GetPromptResult, Prompt } from './model/prompts.ts';
export type { ReadResourceResult, Resource } from './model/resources.ts';
export type { Root } from './model/roots.ts';
export type { CreateMessageResult } from './model/sampling.ts';
export { type CallToolResult, type Tool } from './model/tools.ts';
export { findRevision, NEWEST, NEWEST_LEGACY, REVISIONS, revisionsOf, supportedVersions } from './revisions/index.ts';
export type { Era, Revision } from './revisions/revision.ts';
export { AuthChallengeError, SchemaNotCheckableError, UnrepresentableError, UriTemplateError } from './errors.ts';
export { UriTemplate } from './uri-template.ts';
export { MemoryMessageBus } from './memory-message-bus.ts';
