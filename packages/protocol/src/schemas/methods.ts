/** Which schema belongs to which method. */

import type { z } from 'zod/v4';
import type { ClientRequestMethod, NotificationMethod, RequestMethod, ServerRequestMethod } from '../model/method-map.ts';
import { CompleteRequestParamsSchema, CompleteResultSchema } from './completion.ts';
import { ElicitationCompleteNotificationParamsSchema, ElicitRequestParamsSchema, ElicitResultSchema } from './elicitation.ts';
import {
  CancelledNotificationParamsSchema,
  DiscoverResultSchema,
  InitializeRequestParamsSchema,
  InitializeResultSchema,
  LoggingMessageNotificationParamsSchema,
  PaginatedRequestParamsSchema,
  ProgressNotificationParamsSchema,
  SetLevelRequestParamsSchema,
  SubscriptionsAcknowledgedNotificationParamsSchema,
  SubscriptionsListenRequestParamsSchema,
} from './lifecycle.ts';
import { EmptyResultSchema, NotificationParamsSchema, RequestParamsSchema } from './meta.ts';
import { GetPromptRequestParamsSchema, GetPromptResultSchema, ListPromptsResultSchema } from './prompts.ts';
import {
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ReadResourceRequestParamsSchema,
  ReadResourceResultSchema,
  ResourceUpdatedNotificationParamsSchema,
  SubscribeRequestParamsSchema,
} from './resources.ts';
import { CreateMessageRequestParamsSchema, CreateMessageResultSchema, ListRootsResultSchema } from './sampling.ts';
import {
  CancelTaskResultSchema,
  GetTaskResultSchema,
  ListTasksResultSchema,
  TaskRequestParamsSchema,
  TaskStatusNotificationParamsSchema,
} from './tasks.ts';
import { CallToolRequestParamsSchema, CallToolResultSchema, ListToolsResultSchema } from './tools.ts';

/** The params of each request. */
export const PARAMS_SCHEMAS: Readonly<Record<RequestMethod, z.ZodType>> = {
  initialize: InitializeRequestParamsSchema,
  ping: RequestParamsSchema,
  'server/discover': RequestParamsSchema,
  'subscriptions/listen': SubscriptionsListenRequestParamsSchema,
  'tools/list': PaginatedRequestParamsSchema,
  'tools/call': CallToolRequestParamsSchema,
  'resources/list': PaginatedRequestParamsSchema,
  'resources/templates/list': PaginatedRequestParamsSchema,
  'resources/read': ReadResourceRequestParamsSchema,
  'resources/subscribe': SubscribeRequestParamsSchema,
  'resources/unsubscribe': SubscribeRequestParamsSchema,
  'prompts/list': PaginatedRequestParamsSchema,
  'prompts/get': GetPromptRequestParamsSchema,
  'completion/complete': CompleteRequestParamsSchema,
  'logging/setLevel': SetLevelRequestParamsSchema,
  'elicitation/create': ElicitRequestParamsSchema,
  'sampling/createMessage': CreateMessageRequestParamsSchema,
  'roots/list': RequestParamsSchema,
  'tasks/get': TaskRequestParamsSchema,
  'tasks/result': TaskRequestParamsSchema,
  'tasks/cancel': TaskRequestParamsSchema,
  'tasks/list': PaginatedRequestParamsSchema,
};

/** The complete results of what clients request. */
export const SERVER_RESULT_SCHEMAS: Readonly<Record<ClientRequestMethod, z.ZodType>> = {
  initialize: InitializeResultSchema,
  ping: EmptyResultSchema,
  'server/discover': DiscoverResultSchema,
  'subscriptions/listen': EmptyResultSchema,
  'tools/list': ListToolsResultSchema,
  'tools/call': CallToolResultSchema,
  'resources/list': ListResourcesResultSchema,
  'resources/templates/list': ListResourceTemplatesResultSchema,
  'resources/read': ReadResourceResultSchema,
  'resources/subscribe': EmptyResultSchema,
  'resources/unsubscribe': EmptyResultSchema,
  'prompts/list': ListPromptsResultSchema,
  'prompts/get': GetPromptResultSchema,
  'completion/complete': CompleteResultSchema,
  'logging/setLevel': EmptyResultSchema,
  'tasks/get': GetTaskResultSchema,
  'tasks/result': EmptyResultSchema,
  'tasks/cancel': CancelTaskResultSchema,
  'tasks/list': ListTasksResultSchema,
};

/** The results of what servers request or ask. */
export const CLIENT_RESULT_SCHEMAS: Readonly<Record<ServerRequestMethod, z.ZodType>> = {
  ping: EmptyResultSchema,
  'elicitation/create': ElicitResultSchema,
  'sampling/createMessage': CreateMessageResultSchema,
  'roots/list': ListRootsResultSchema,
  'tasks/get': GetTaskResultSchema,
  'tasks/result': EmptyResultSchema,
  'tasks/cancel': CancelTaskResultSchema,
  'tasks/list': ListTasksResultSchema,
};

/** The params of each notification. */
export const NOTIFICATION_SCHEMAS: Readonly<Record<NotificationMethod, z.ZodType>> = {
  'notifications/initialized': NotificationParamsSchema,
  'notifications/cancelled': CancelledNotificationParamsSchema,
  'notifications/progress': ProgressNotificationParamsSchema,
  'notifications/message': LoggingMessageNotificationParamsSchema,
  'notifications/tools/list_changed': NotificationParamsSchema,
  'notifications/prompts/list_changed': NotificationParamsSchema,
  'notifications/resources/list_changed': NotificationParamsSchema,
  'notifications/resources/updated': ResourceUpdatedNotificationParamsSchema,
  'notifications/roots/list_changed': NotificationParamsSchema,
  'notifications/subscriptions/acknowledged': SubscriptionsAcknowledgedNotificationParamsSchema,
  'notifications/elicitation/complete': ElicitationCompleteNotificationParamsSchema,
  'notifications/tasks/status': TaskStatusNotificationParamsSchema,
};
