/** `@mortise/client`: an MCP client for every revision of the protocol. Helpers for user interfaces are at `/host`. */

export { McpClient } from './mcp-client.ts';
export type { CallOptions, ClientOptions, ConnectOptions } from './client-options.ts';
export type { Subscription, SubscriptionEvent } from './subscription.ts';
export type { AnswerContext, AnswerHandler, AnswerOptions, ElicitationOptions, PageContext } from './answers/answer-options.ts';
export type { ClientCall, ClientMiddleware, NextClientMiddleware, ServerFacts } from './middleware.ts';
export {
  createClient,
  expectSuccess,
  type ServerTools,
  type ToolCall,
  type ToolCalls,
  type TypedClient,
  type TypedTool,
  type TypedToolResult,
} from './typed-client.ts';
export { createResultCache, type ResultCache } from './result-cache.ts';
export type { EraMemory, KnownEra } from './era/era-memory.ts';
export type { ClientTransport, ClientTransportSource } from './transport-source.ts';
export {
  type AnyClientError,
  InputRequiredError,
  MissingCapabilityError,
  ResourceNotFoundError,
  ToolResultError,
  UnsupportedVersionError,
} from './errors.ts';
