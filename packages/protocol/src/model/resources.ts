/** Resources: data that clients can read from a server. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CacheableResult, MetaObject, NotificationParams, PaginatedResult, RequestParams } from './meta.ts';
import type { Annotations } from './content.ts';
import type { BaseMetadata, Icons } from './implementation.ts';
import type { InputResponseRequestParams } from './input-required.ts';

/**
 * A resource, as `resources/list` returns it.
 *
 * @see 2026-07-28 server/resources
 */
export interface Resource extends BaseMetadata, Icons {
  readonly uri: string;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly annotations?: Annotations | undefined;
  /** The size of the resource in bytes, before base64 encoding. */
  readonly size?: number | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** A resource template, as `resources/templates/list` returns it. To create one, use the class `ResourceTemplate` of `@mortise/server`. */
export interface ResourceTemplate extends BaseMetadata, Icons {
  /** The template of the resources' URIs, as RFC 6570 defines it. */
  readonly uriTemplate: string;
  readonly description?: string | undefined;
  /** The MIME type of all resources of the template; absent if they differ. */
  readonly mimeType?: string | undefined;
  readonly annotations?: Annotations | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** The members that text and binary contents of resources share. */
export interface ResourceContents extends JsonObject {
  readonly uri: string;
  readonly mimeType?: string | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** Text contents of a resource. */
export interface TextResourceContents extends ResourceContents {
  readonly text: string;
  readonly blob?: undefined;
}

/** Binary contents of a resource. */
export interface BlobResourceContents extends ResourceContents {
  /** The contents, in base64. */
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
  /** The contents of the resource. If it does not exist, the response is an error, not an empty array. */
  readonly contents: readonly (TextResourceContents | BlobResourceContents)[];
}

/** Params of `resources/subscribe` and `resources/unsubscribe`. @until 2025-11-25; later revisions have `subscriptions/listen`. */
export interface SubscribeRequestParams extends RequestParams {
  readonly uri: string;
}

/** Params of `notifications/resources/updated`. */
export interface ResourceUpdatedNotificationParams extends NotificationParams {
  /** The URI of the resource that changed: the one subscribed to, or a sub-resource of it. */
  readonly uri: string;
}
