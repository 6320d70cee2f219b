/**
 * `@mortise/client`: an MCP client for every revision of the protocol. Here: what programs use. What hosts draw and complete is at `/host`,
 * remembering eras at `/era-memory`.
 */

export type { PagesOptions } from './lists.ts';
export { McpClient } from './mcp-client.ts';
export type { ClientOptions, ConnectOptions } from './client-options.ts';
export type { CallOptions } from './call-options.ts';
export type { ChangeHandler, ChangeOptions } from './changes.ts';
export type { Subscription, SubscriptionEvent } from './subscription.ts';
export type { AnswerContext, AnswerHandler, AnswerOptions, ElicitationHandlers, SamplingHandler } from './answers.ts';
export {
  createClient,
  type ServerTools,
  type ToolCall,
  type ToolCalls,
  type TypedClient,
  type TypedTool,
  type TypedToolResult,
} from './typed-client.ts';
export { expectSuccess } from './expect-success.ts';
export {
  type AnyClientError,
  EraMismatchError,
  InputRequiredError,
  InvalidAnswerError,
  InvalidResultError,
  MissingCapabilityError,
  OutputSchemaError,
  PagingError,
  ResourceNotFoundError,
  ToolFailedError,
  ToolOutputError,
  UnknownResultTypeError,
  UnsupportedMethodError,
  UnsupportedVersionError,
  UrlElicitationRequiredError,
} from './errors.ts';
export type { KeepAliveOptions } from './keep-alive.ts';
export type { ClientTransport, ClientTransportSource } from './transport-source.ts';
