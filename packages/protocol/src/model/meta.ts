/** `_meta`: the keys that MCP reserves, and the bases of params and results that carry them: plain, in pages, and cacheable. */

import type { JsonObject, RequestId } from '@mortise/jsonrpc-core';
import type { ClientCapabilities } from './capabilities.ts';
import type { Implementation } from './implementation.ts';
import type { LoggingLevel } from './logging.ts';
import type { ProgressToken } from './progress.ts';

/** On each modern request: the revision it is written in. */
export const META_PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
/** On each modern request: what the client can do for it. */
export const META_CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
/** On modern requests: who the client says it is. */
export const META_CLIENT_INFO = 'io.modelcontextprotocol/clientInfo';
/** On modern requests: the least severe log message that the client wants for this request. */
export const META_LOG_LEVEL = 'io.modelcontextprotocol/logLevel';
/** On modern results: who the server says it is. */
export const META_SERVER_INFO = 'io.modelcontextprotocol/serverInfo';
/** On everything that a subscription delivers: the id of its `subscriptions/listen` request. */
export const META_SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
/** On messages that belong to a task of the core's first generation. @until 2025-11-25 */
export const META_RELATED_TASK = 'io.modelcontextprotocol/related-task';
/** On a `CreateTaskResult`: what to tell the model meanwhile. @until 2025-11-25 */
export const META_MODEL_IMMEDIATE_RESPONSE = 'io.modelcontextprotocol/model-immediate-response';
/** On requests: the token under which progress is wanted. */
export const META_PROGRESS_TOKEN = 'progressToken';
/** W3C Trace Context, the parent. */
export const META_TRACEPARENT = 'traceparent';
/** W3C Trace Context, the vendors' state. */
export const META_TRACESTATE = 'tracestate';
/** W3C Baggage. */
export const META_BAGGAGE = 'baggage';

/** Any `_meta`: unknown keys are kept. */
export interface MetaObject extends JsonObject {}

/** `_meta` of a request. What is mandatory in the modern era is checked by `readRequestMeta`. */
export interface RequestMeta extends MetaObject {
  readonly progressToken?: ProgressToken | undefined;
  readonly 'io.modelcontextprotocol/protocolVersion'?: string | undefined;
  readonly 'io.modelcontextprotocol/clientCapabilities'?: ClientCapabilities | undefined;
  readonly 'io.modelcontextprotocol/clientInfo'?: Implementation | undefined;
  /** @deprecated with logging since 2026-07-28: write to stderr, or use OpenTelemetry. */
  readonly 'io.modelcontextprotocol/logLevel'?: LoggingLevel | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

/** `_meta` of a notification. */
export interface NotificationMeta extends MetaObject {
  readonly 'io.modelcontextprotocol/subscriptionId'?: RequestId | undefined;
}

/** `_meta` of a result. */
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
 * What kind of result this is. An extension adds values of its own.
 *
 * @see 2026-07-28 basic/index#resulttype
 */
export type ResultType = 'complete' | 'input_required' | (string & {});

/** The base of every result. On the modern wire `resultType` is always there; absent means `complete`. */
export interface Result extends JsonObject {
  readonly _meta?: ResultMeta | undefined;
  readonly resultType?: ResultType | undefined;
}

/** A result that says nothing but that it worked. */
export interface EmptyResult extends Result {}

/** Where a page begins. Opaque: kept and given back, never read or changed. The empty string is a cursor. */
export type Cursor = string;

/**
 * Params of a list method.
 *
 * @see 2026-07-28 server/utilities/pagination
 */
export interface PaginatedRequestParams extends RequestParams {
  readonly cursor?: Cursor | undefined;
}

/** Result of a list method. The list ends where `nextCursor` is absent. */
export interface PaginatedResult extends Result {
  readonly nextCursor?: Cursor | undefined;
}

/** Who may be given a cached result: anybody, or only the authorization context that fetched it. */
export type CacheScope = 'public' | 'private';

/**
 * A result that may be kept. On the modern wire both members are always there; absent means 0 and `private`.
 *
 * @see 2026-07-28 server/utilities/caching
 */
export interface CacheableResult extends Result {
  /** How long it is fresh after receipt, in milliseconds, an integer from 0 up. */
  readonly ttlMs?: number | undefined;
  readonly cacheScope?: CacheScope | undefined;
}
