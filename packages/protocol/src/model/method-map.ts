/**
 * The types of the params and the result of each MCP method, by its name. Extensions add methods by declaration merging.
 * `Revision.requests` tells which methods a revision has.
 */

import type { CancelledNotificationParams, ProgressNotificationParams } from './progress.ts';
import type { CompleteRequestParams, CompleteResult } from './completion.ts';
import type { DiscoverResult, InitializeRequestParams, InitializeResult } from './lifecycle.ts';
import type { ElicitationCompleteNotificationParams, ElicitRequestParams, ElicitResult } from './elicitation.ts';
import type { LoggingMessageNotificationParams, SetLevelRequestParams } from './logging.ts';
import type { EmptyResult, NotificationParams, PaginatedRequestParams, RequestParams, Result } from './meta.ts';
import type { GetPromptRequestParams, GetPromptResult, ListPromptsResult } from './prompts.ts';
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceRequestParams,
  ReadResourceResult,
  ResourceUpdatedNotificationParams,
  SubscribeRequestParams,
} from './resources.ts';
import type { ListRootsResult } from './roots.ts';
import type { CreateMessageRequestParams, CreateMessageResult } from './sampling.ts';
import type {
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult,
} from './subscriptions.ts';
import type { CancelTaskResult, GetTaskResult, ListTasksResult, TaskRequestParams, TaskStatusNotificationParams } from './tasks.ts';
import type { CallToolRequestParams, CallToolResult, ListToolsResult } from './tools.ts';

/** The requests that clients send, by method. `result` is the complete result, not `input_required` or that of an extension. */
export interface ClientRequestMap {
  initialize: { params: InitializeRequestParams; result: InitializeResult };
  ping: { params: RequestParams | undefined; result: EmptyResult };
  'server/discover': { params: RequestParams; result: DiscoverResult };
  'subscriptions/listen': { params: SubscriptionsListenRequestParams; result: SubscriptionsListenResult };
  'tools/list': { params: PaginatedRequestParams | undefined; result: ListToolsResult };
  'tools/call': { params: CallToolRequestParams; result: CallToolResult };
  'resources/list': { params: PaginatedRequestParams | undefined; result: ListResourcesResult };
  'resources/templates/list': { params: PaginatedRequestParams | undefined; result: ListResourceTemplatesResult };
  'resources/read': { params: ReadResourceRequestParams; result: ReadResourceResult };
  'resources/subscribe': { params: SubscribeRequestParams; result: EmptyResult };
  'resources/unsubscribe': { params: SubscribeRequestParams; result: EmptyResult };
  'prompts/list': { params: PaginatedRequestParams | undefined; result: ListPromptsResult };
  'prompts/get': { params: GetPromptRequestParams; result: GetPromptResult };
  'completion/complete': { params: CompleteRequestParams; result: CompleteResult };
  'logging/setLevel': { params: SetLevelRequestParams; result: EmptyResult };
  'tasks/get': { params: TaskRequestParams; result: GetTaskResult };
  'tasks/result': { params: TaskRequestParams; result: Result };
  'tasks/cancel': { params: TaskRequestParams; result: CancelTaskResult };
  'tasks/list': { params: PaginatedRequestParams | undefined; result: ListTasksResult };
}

/** The requests that servers send (legacy era) or put in an `input_required` result (modern era), by method. */
export interface ServerRequestMap {
  ping: { params: RequestParams | undefined; result: EmptyResult };
  'elicitation/create': { params: ElicitRequestParams; result: ElicitResult };
  'sampling/createMessage': { params: CreateMessageRequestParams; result: CreateMessageResult };
  'roots/list': { params: RequestParams | undefined; result: ListRootsResult };
  'tasks/get': { params: TaskRequestParams; result: GetTaskResult };
  'tasks/result': { params: TaskRequestParams; result: Result };
  'tasks/cancel': { params: TaskRequestParams; result: CancelTaskResult };
  'tasks/list': { params: PaginatedRequestParams | undefined; result: ListTasksResult };
}

/** The params and results of all requests, by method. */
export interface RequestMap extends ClientRequestMap, ServerRequestMap {}

/** The params of notifications that clients send, by method. */
export interface ClientNotificationMap {
  'notifications/initialized': NotificationParams | undefined;
  'notifications/cancelled': CancelledNotificationParams;
  'notifications/progress': ProgressNotificationParams;
  'notifications/roots/list_changed': NotificationParams | undefined;
  'notifications/tasks/status': TaskStatusNotificationParams;
}

/** The params of notifications that servers send, by method. */
export interface ServerNotificationMap {
  'notifications/cancelled': CancelledNotificationParams;
  'notifications/progress': ProgressNotificationParams;
  'notifications/message': LoggingMessageNotificationParams;
  'notifications/tools/list_changed': NotificationParams | undefined;
  'notifications/prompts/list_changed': NotificationParams | undefined;
  'notifications/resources/list_changed': NotificationParams | undefined;
  'notifications/resources/updated': ResourceUpdatedNotificationParams;
  'notifications/subscriptions/acknowledged': SubscriptionsAcknowledgedNotificationParams;
  'notifications/elicitation/complete': ElicitationCompleteNotificationParams;
  'notifications/tasks/status': TaskStatusNotificationParams;
}

/** The params of all notifications, by method. */
export interface NotificationMap extends ClientNotificationMap, ServerNotificationMap {}

/** The methods of requests that clients send. */
export type ClientRequestMethod = keyof ClientRequestMap;
/** The methods of requests that servers send. */
export type ServerRequestMethod = keyof ServerRequestMap;
/** The methods of all requests. */
export type RequestMethod = keyof RequestMap;
/** The methods of all notifications. */
export type NotificationMethod = keyof NotificationMap;
/** The params type of a request method. */
export type ParamsOf<M extends RequestMethod> = RequestMap[M]['params'];
/** The type of a request method's complete result. */
export type ResultOf<M extends RequestMethod> = RequestMap[M]['result'];
