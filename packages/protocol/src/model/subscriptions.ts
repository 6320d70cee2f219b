/**
 * Subscriptions: one long request that delivers the changes it asked for. Since 2026-07-28.
 *
 * @see 2026-07-28 basic/patterns/subscriptions
 */

import type { JsonObject, RequestId } from '@mortise/jsonrpc-core';
import type { NotificationParams, RequestParams, Result, ResultMeta } from './meta.ts';

/** What is wanted. An extension adds keys of its own. */
export interface SubscriptionFilter extends JsonObject {
  readonly toolsListChanged?: boolean | undefined;
  readonly promptsListChanged?: boolean | undefined;
  readonly resourcesListChanged?: boolean | undefined;
  /** Addresses of resources whose updates are wanted. */
  readonly resourceSubscriptions?: readonly string[] | undefined;
}

/** Params of `subscriptions/listen`. */
export interface SubscriptionsListenRequestParams extends RequestParams {
  readonly notifications: SubscriptionFilter;
}

/** Ends a subscription from the server's side. */
export interface SubscriptionsListenResult extends Result {
  readonly _meta: SubscriptionsListenResultMeta;
}

/** Says which subscription has ended. */
interface SubscriptionsListenResultMeta extends ResultMeta {
  readonly 'io.modelcontextprotocol/subscriptionId': RequestId;
}

/** The first message of a subscription: the part of the wish that is honoured. */
export interface SubscriptionsAcknowledgedNotificationParams extends NotificationParams {
  readonly notifications: SubscriptionFilter;
}
