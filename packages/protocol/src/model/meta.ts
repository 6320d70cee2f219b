/** The `_meta` keys that MCP defines, and the base types of params and results. */

import type { JsonObject, RequestId } from '@mortise/jsonrpc-core';
import type { ClientCapabilities } from './capabilities.ts';
import type { Implementation } from './implementation.ts';
import type { LoggingLevel } from './logging.ts';
import type { ProgressToken } from './progress.ts';

/** `_meta` key of each modern request: its protocol version. */
export const META_PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
/** `_meta` key of each modern request: the client's capabilities. */
export const META_CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
/** `_meta` key of modern requests: the client's name and version. */
export const META_CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
/** `_meta` key of modern requests: the lowest level of log messages that the client wants for this request. */
export const META_LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
/** `_meta` key of modern results: the server's name and version. */
export const META_SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
/** `_meta` key of all messages of a subscription: the id of the `subscriptions/listen` request. */
export const META_SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
/** `_meta` key of messages that belong to a task: names the task. @until 2025-11-25 */
export const META_RELATED_TASK = 'io.modelcontextprotocol/related-task';
/** `_meta` key of a `CreateTaskResult`: a text for the model while the task runs. @until 2025-11-25 */
export const META_MODEL_IMMEDIATE_RESPONSE = 'io.modelcontextprotocol/model-immediate-response';
/** `_meta` key of requests: the token that progress notifications about the request will carry. */
export const META_PROGRESS_TOKEN = 'progressToken';
/** `_meta` key for W3C Trace Context: the parent span. */
export const META_TRACEPARENT = 'traceparent';
/** `_meta` key for W3C Trace Context: vendor-specific state. */
export const META_TRACESTATE = 'tracestate';
/** `_meta` key for W3C Baggage. */
export const META_BAGGAGE = 'baggage';

/** Any `_meta` object. Unknown keys are kept. */
export interface MetaObject extends JsonObject {}

/** The `_meta` of a request. `readRequestMeta` checks the keys that are mandatory in the modern era. */
export interface RequestMeta extends MetaObject {
  readonly progressToken?: ProgressToken | undefined;
  readonly 'io.modelcontextprotocol/protocolVersion'?: string | undefined;
  readonly 'io.modelcontextprotocol/clientCapabilities'?: ClientCapabilities | undefined;
  readonly 'io.modelcontextprotocol/clientInfo'?: Implementation | undefined;
  /** The lowest level of wanted log messages. @deprecated since 2026-07-28, as all logging: write to stderr, or use OpenTelemetry. */
  readonly 'io.modelcontextprotocol/logLevel'?: LoggingLevel | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

/** The `_meta` of a notification. */
export interface NotificationMeta extends MetaObject {
  readonly 'io.modelcontextprotocol/subscriptionId'?: RequestId | undefined;
}

/** The `_meta` of a result. */
export interface ResultMeta extends MetaObject {
  readonly 'io.modelcontextprotocol/serverInfo'?: Implementation | undefined;
  readonly 'io.modelcontextprotocol/subscriptionId'?: RequestId | undefined;
}

/** The base of every request's params. */
export interface RequestParams extends JsonObject {
  readonly _meta?: RequestMeta | undefined;
}

/** The base of every notification's params. */
export interface NotificationParams extends JsonObject {
  readonly _meta?: NotificationMeta | undefined;
}

/**
 * The kind of a result: complete, or asking for input. Extensions may add kinds.
 *
 * @see 2026-07-28 basic/index#resulttype
 */
export type ResultType = 'complete' | 'input_required' | (string & {});

/** The base of every result. Modern servers always send `resultType`; if it is absent, the result is `complete`. */
export interface Result extends JsonObject {
  readonly _meta?: ResultMeta | undefined;
  readonly resultType?: ResultType | undefined;
}

/** A result without data. */
export interface EmptyResult extends Result {}

/** An opaque position in a list: send it back unchanged. The empty string is a valid cursor. */
export type Cursor = string;

/**
 * Params of a list method, such as `tools/list`.
 *
 * @see 2026-07-28 server/utilities/pagination
 */
export interface PaginatedRequestParams extends RequestParams {
  readonly cursor?: Cursor | undefined;
}

/** The result of a list method, such as `tools/list`. On the last page `nextCursor` is absent. */
export interface PaginatedResult extends Result {
  readonly nextCursor?: Cursor | undefined;
}

/** Who may get a cached result: every caller, or only the authorization context that fetched it. */
export type CacheScope = 'public' | 'private';

/**
 * A result that clients may cache. Modern servers always send `ttlMs` and `cacheScope`; if absent, they mean 0 and `private`.
 *
 * @see 2026-07-28 server/utilities/caching
 */
export interface CacheableResult extends Result {
  /** How long the result is fresh after receipt, in milliseconds: an integer, 0 or more. */
  readonly ttlMs?: number | undefined;
  readonly cacheScope?: CacheScope | undefined;
}
