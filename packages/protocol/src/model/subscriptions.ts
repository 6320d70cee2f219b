/**
 * Subscriptions: a `subscriptions/listen` request stays open, and the server sends the requested notifications on it. Since 2026-07-28.
 *
 * @see 2026-07-28 basic/patterns/subscriptions
 */

import type { JsonObject, RequestId } from '@mortise/jsonrpc-core';
import type { NotificationParams, RequestParams, Result, ResultMeta } from './meta.ts';

/** The notifications that a client subscribes to. Extensions may add keys. */
export interface SubscriptionFilter extends JsonObject {
  readonly toolsListChanged?: boolean | undefined;
  readonly promptsListChanged?: boolean | undefined;
  readonly resourcesListChanged?: boolean | undefined;
  /** URIs of resources whose updates the client wants. */
  readonly resourceSubscriptions?: readonly string[] | undefined;
}

/** Params of `subscriptions/listen`. */
export interface SubscriptionsListenRequestParams extends RequestParams {
  readonly notifications: SubscriptionFilter;
}

/** The result of `subscriptions/listen`. The server sends it when it ends the subscription. */
export interface SubscriptionsListenResult extends Result {
  readonly _meta: SubscriptionsListenResultMeta;
}

/** The `_meta` of a `SubscriptionsListenResult`: tells which subscription has ended. */
interface SubscriptionsListenResultMeta extends ResultMeta {
  readonly 'io.modelcontextprotocol/subscriptionId': RequestId;
}

/** Params of the first notification of a subscription: the part of the client's filter that the server accepts. */
export interface SubscriptionsAcknowledgedNotificationParams extends NotificationParams {
  readonly notifications: SubscriptionFilter;
}
