/** What each side sends: the unions of all requests, notifications and results. Also what a transport tells of a message. */

import * as z from 'zod/v4';
import type { AuthInfo } from './auth-info.ts';
import { ElicitationCompleteNotificationSchema, ElicitRequestSchema, ElicitResultSchema } from './elicitation.ts';
import { InitializedNotificationSchema, InitializeRequestSchema, InitializeResultSchema } from './initialize.ts';
import { CancelledNotificationSchema, EmptyResultSchema, PingRequestSchema, ProgressNotificationSchema } from './messages.ts';
import {
  CompleteRequestSchema,
  CompleteResultSchema,
  GetPromptRequestSchema,
  GetPromptResultSchema,
  ListPromptsRequestSchema,
  ListPromptsResultSchema,
  type Prompt,
  PromptListChangedNotificationSchema,
} from './prompts.ts';
import {
  ListResourcesRequestSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesRequestSchema,
  ListResourceTemplatesResultSchema,
  ReadResourceRequestSchema,
  ReadResourceResultSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from './resources.ts';
import type { Resource } from './content.ts';
import {
  CreateMessageRequestSchema,
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ListRootsRequestSchema,
  ListRootsResultSchema,
  LoggingMessageNotificationSchema,
  RootsListChangedNotificationSchema,
  SetLevelRequestSchema,
} from './sampling.ts';
import {
  CancelTaskRequestSchema,
  CreateTaskResultSchema,
  GetTaskPayloadRequestSchema,
  GetTaskRequestSchema,
  GetTaskResultSchema,
  ListTasksRequestSchema,
  ListTasksResultSchema,
  TaskStatusNotificationSchema,
} from './tasks.ts';
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  ListToolsRequestSchema,
  ListToolsResultSchema,
  type Tool,
  ToolListChangedNotificationSchema,
} from './tools.ts';

export const ClientRequestSchema = z.union([
  PingRequestSchema,
  InitializeRequestSchema,
  CompleteRequestSchema,
  SetLevelRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
  CallToolRequestSchema,
  ListToolsRequestSchema,
  GetTaskRequestSchema,
  GetTaskPayloadRequestSchema,
  ListTasksRequestSchema,
  CancelTaskRequestSchema,
]);
export const ClientNotificationSchema = z.union([
  CancelledNotificationSchema,
  ProgressNotificationSchema,
  InitializedNotificationSchema,
  RootsListChangedNotificationSchema,
  TaskStatusNotificationSchema,
]);
export const ClientResultSchema = z.union([
  EmptyResultSchema,
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
  GetTaskResultSchema,
  ListTasksResultSchema,
  CreateTaskResultSchema,
]);

export const ServerRequestSchema = z.union([
  PingRequestSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  GetTaskRequestSchema,
  GetTaskPayloadRequestSchema,
  ListTasksRequestSchema,
  CancelTaskRequestSchema,
]);
export const ServerNotificationSchema = z.union([
  CancelledNotificationSchema,
  ProgressNotificationSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
  PromptListChangedNotificationSchema,
  TaskStatusNotificationSchema,
  ElicitationCompleteNotificationSchema,
]);
export const ServerResultSchema = z.union([
  EmptyResultSchema,
  InitializeResultSchema,
  CompleteResultSchema,
  GetPromptResultSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ReadResourceResultSchema,
  CallToolResultSchema,
  ListToolsResultSchema,
  GetTaskResultSchema,
  ListTasksResultSchema,
  CreateTaskResultSchema,
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
  tools?: ListChangedOptions<Tool>;
  prompts?: ListChangedOptions<Prompt>;
  resources?: ListChangedOptions<Resource>;
};
