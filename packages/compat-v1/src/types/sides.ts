/** What each side sends: the unions of all requests, notifications and results. Also what a transport tells of a message. */

import * as z from 'zod/v4';
import type { AuthInfo } from './auth-info.ts';
import * as elicitation from './elicitation.ts';
import * as initialize from './initialize.ts';
import * as messages from './messages.ts';
import * as prompts from './prompts.ts';
import * as resources from './resources.ts';
import * as sampling from './sampling.ts';
import * as tasks from './tasks.ts';
import * as tools from './tools.ts';
import type * as content from './content.ts';

export const ClientRequestSchema = z.union([
  messages.PingRequestSchema,
  initialize.InitializeRequestSchema,
  prompts.CompleteRequestSchema,
  sampling.SetLevelRequestSchema,
  prompts.GetPromptRequestSchema,
  prompts.ListPromptsRequestSchema,
  resources.ListResourcesRequestSchema,
  resources.ListResourceTemplatesRequestSchema,
  resources.ReadResourceRequestSchema,
  resources.SubscribeRequestSchema,
  resources.UnsubscribeRequestSchema,
  tools.CallToolRequestSchema,
  tools.ListToolsRequestSchema,
  tasks.GetTaskRequestSchema,
  tasks.GetTaskPayloadRequestSchema,
  tasks.ListTasksRequestSchema,
  tasks.CancelTaskRequestSchema,
]);
export const ClientNotificationSchema = z.union([
  messages.CancelledNotificationSchema,
  messages.ProgressNotificationSchema,
  initialize.InitializedNotificationSchema,
  sampling.RootsListChangedNotificationSchema,
  tasks.TaskStatusNotificationSchema,
]);
export const ClientResultSchema = z.union([
  messages.EmptyResultSchema,
  sampling.CreateMessageResultSchema,
  sampling.CreateMessageResultWithToolsSchema,
  elicitation.ElicitResultSchema,
  sampling.ListRootsResultSchema,
  tasks.GetTaskResultSchema,
  tasks.ListTasksResultSchema,
  tasks.CreateTaskResultSchema,
]);

export const ServerRequestSchema = z.union([
  messages.PingRequestSchema,
  sampling.CreateMessageRequestSchema,
  elicitation.ElicitRequestSchema,
  sampling.ListRootsRequestSchema,
  tasks.GetTaskRequestSchema,
  tasks.GetTaskPayloadRequestSchema,
  tasks.ListTasksRequestSchema,
  tasks.CancelTaskRequestSchema,
]);
export const ServerNotificationSchema = z.union([
  messages.CancelledNotificationSchema,
  messages.ProgressNotificationSchema,
  sampling.LoggingMessageNotificationSchema,
  resources.ResourceUpdatedNotificationSchema,
  resources.ResourceListChangedNotificationSchema,
  tools.ToolListChangedNotificationSchema,
  prompts.PromptListChangedNotificationSchema,
  tasks.TaskStatusNotificationSchema,
  elicitation.ElicitationCompleteNotificationSchema,
]);
export const ServerResultSchema = z.union([
  messages.EmptyResultSchema,
  initialize.InitializeResultSchema,
  prompts.CompleteResultSchema,
  prompts.GetPromptResultSchema,
  prompts.ListPromptsResultSchema,
  resources.ListResourcesResultSchema,
  resources.ListResourceTemplatesResultSchema,
  resources.ReadResourceResultSchema,
  tools.CallToolResultSchema,
  tools.ListToolsResultSchema,
  tasks.GetTaskResultSchema,
  tasks.ListTasksResultSchema,
  tasks.CreateTaskResultSchema,
]);

export type ClientRequest = z.infer<typeof ClientRequestSchema>;
export type ClientNotification = z.infer<typeof ClientNotificationSchema>;
export type ClientResult = z.infer<typeof ClientResultSchema>;
export type ServerRequest = z.infer<typeof ServerRequestSchema>;
export type ServerNotification = z.infer<typeof ServerNotificationSchema>;
export type ServerResult = z.infer<typeof ServerResultSchema>;

/** HTTP headers by lower-case name. */
export type IsomorphicHeaders = Record<string, string | string[] | undefined>;
/** The HTTP request that a message came in. */
export interface RequestInfo {
  headers: IsomorphicHeaders;
  url?: URL;
}
/** What a transport tells of a message that it received. */
export interface MessageExtraInfo {
  requestInfo?: RequestInfo | undefined;
  authInfo?: AuthInfo | undefined;
  closeSSEStream?: (() => void) | undefined;
  closeStandaloneSSEStream?: (() => void) | undefined;
}

/** Called when a list changed: with the new list, an error, or two nulls without `autoRefresh`. */
export type ListChangedCallback<T> = (error: Error | null, items: T[] | null) => void;
export type ListChangedOptions<T> = {
  /** Whether to fetch the list again. @default true */
  autoRefresh?: boolean;
  /** How long to wait for further changes, in milliseconds; 0 reports each. @default 300 */
  debounceMs?: number;
  onChanged: ListChangedCallback<T>;
};
/** The client option `listChanged`. */
export type ListChangedHandlers = {
  tools?: ListChangedOptions<tools.Tool>;
  prompts?: ListChangedOptions<prompts.Prompt>;
  resources?: ListChangedOptions<content.Resource>;
};
