/** Resources: what a server lets be read. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CacheableResult, MetaObject, NotificationParams, PaginatedResult, RequestParams } from './meta.ts';
import type { Annotations } from './content.ts';
import type { BaseMetadata, Icons } from './implementation.ts';
import type { InputResponseRequestParams } from './input-required.ts';

/**
 * A resource as lists show it.
 *
 * @see 2026-07-28 server/resources
 */
export interface Resource extends BaseMetadata, Icons {
  readonly uri: string;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly annotations?: Annotations | undefined;
  /** Bytes, before any encoding. */
  readonly size?: number | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** A family of resources as lists show it. The class of that name in `@mortise/server` makes one. */
export interface ResourceTemplate extends BaseMetadata, Icons {
  /** RFC 6570. */
  readonly uriTemplate: string;
  readonly description?: string | undefined;
  /** Only where every resource of the family has it. */
  readonly mimeType?: string | undefined;
  readonly annotations?: Annotations | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** What reading gives, without the text or bytes. */
export interface ResourceContents extends JsonObject {
  readonly uri: string;
  readonly mimeType?: string | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** The text that a resource holds. */
export interface TextResourceContents extends ResourceContents {
  readonly text: string;
  readonly blob?: undefined;
}

/** The bytes that a resource holds. */
export interface BlobResourceContents extends ResourceContents {
  /** Base64. */
  readonly blob: string;
  readonly text?: undefined;
}

/** One page of `resources/list`. */
export interface ListResourcesResult extends PaginatedResult, CacheableResult {
  readonly resources: readonly Resource[];
}

/** One page of `resources/templates/list`. */
export interface ListResourceTemplatesResult extends PaginatedResult, CacheableResult {
  readonly resourceTemplates: readonly ResourceTemplate[];
}

/** Params of `resources/read`. */
export interface ReadResourceRequestParams extends InputResponseRequestParams {
  readonly uri: string;
}

/** The result of `resources/read`. */
export interface ReadResourceResult extends CacheableResult {
  /** Never empty for a resource that does not exist: that is an error. */
  readonly contents: readonly (TextResourceContents | BlobResourceContents)[];
}

/** Params of `resources/subscribe` and `resources/unsubscribe`. @until 2025-11-25; then `subscriptions/listen`. */
export interface SubscribeRequestParams extends RequestParams {
  readonly uri: string;
}

/** Params of `notifications/resources/updated`. */
export interface ResourceUpdatedNotificationParams extends NotificationParams {
  /** The resource that was subscribed to, or one below it. */
  readonly uri: string;
}
