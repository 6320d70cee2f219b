/** `@mortise/client`: an MCP client for every revision of the protocol. First what programs use, then what implementers use. */

// What programs use.
export { McpClient, type PagesOptions } from './mcp-client.ts';
export type { ClientOptions, ConnectOptions } from './client-options.ts';
export type { CallOptions } from './call-options.ts';
export type { ChangeHandler, ChangeOptions } from './changes.ts';
export type { Subscription } from './subscription.ts';
export type { AnswerContext, AnswerHandler, AnswerOptions, ElicitationHandlers, SamplingHandler } from './answers.ts';
export { createClient, type ToolCall, type ToolCalls, type TypedClient, type TypedToolResult } from './typed-client.ts';
export { expectSuccess } from './expect-success.ts';
export { type Completer, completer, type CompleterOptions } from './completer.ts';
export { checkIconUrl, type FetchedIcon, fetchIcon, type FetchIconOptions, type IconSource } from './icons/fetch-icon.ts';
export { type ImageFacts, type ImageType, readImageFacts } from './icons/image-facts.ts';
export { displayName } from './display-name.ts';
export { type ToolHints, toolHints } from './tool-hints.ts';
export { type NamedTools, type ToolPlace, uniqueToolNames } from './unique-tool-names.ts';
export {
  type AnyClientError,
  EraMismatchError,
  IconError,
  InputRequiredError,
  InvalidResultError,
  MissingCapabilityError,
  PagingError,
  ResourceNotFoundError,
  ToolFailedError,
  ToolOutputError,
  UnknownResultTypeError,
  UnsupportedMethodError,
  UnsupportedVersionError,
} from './errors.ts';

// What implementers use.
export type { ClientCall, ClientMiddleware, NextClientMiddleware, ServerFacts } from './middleware.ts';
export { createEraMemory, type EraKeyed, type EraMemory, type EraVerdict } from './era/era-memory.ts';
export type { ServerTools, TypedTool } from './typed-client.ts';
export { OutputSchemaError } from './output-checks.ts';
export type { ClientTransport, ClientTransportSource } from './transport-source.ts';
