/** Requests, results and notifications about resources. */

import * as z from 'zod/v4';
import {
  bareNotificationOf,
  listRequestOf,
  notificationOf,
  NotificationParamsSchema,
  PaginatedResultSchema,
  requestOf,
  RequestParamsSchema,
  ResultSchema,
} from './parts.ts';
import { EmbeddedResourceSchema, ResourceSchema, ResourceTemplateSchema } from './content.ts';

export const ListResourcesRequestSchema = listRequestOf('resources/list');
export const ListResourcesResultSchema = PaginatedResultSchema.extend({ resources: z.array(ResourceSchema) });
export const ListResourceTemplatesRequestSchema = listRequestOf('resources/templates/list');
export const ListResourceTemplatesResultSchema = PaginatedResultSchema.extend({ resourceTemplates: z.array(ResourceTemplateSchema) });

export const ResourceRequestParamsSchema = RequestParamsSchema.extend({ uri: z.string() });
export const ReadResourceRequestSchema = requestOf('resources/read', ResourceRequestParamsSchema);
export const ReadResourceResultSchema = ResultSchema.extend({ contents: z.array(EmbeddedResourceSchema.shape.resource) });
export const SubscribeRequestSchema = requestOf('resources/subscribe', ResourceRequestParamsSchema);
export const UnsubscribeRequestSchema = requestOf('resources/unsubscribe', ResourceRequestParamsSchema);

export const ResourceListChangedNotificationSchema = bareNotificationOf('notifications/resources/list_changed');
export const ResourceUpdatedNotificationParamsSchema = NotificationParamsSchema.extend({ uri: z.string() });
export const ResourceUpdatedNotificationSchema = notificationOf('notifications/resources/updated', ResourceUpdatedNotificationParamsSchema);

export type ListResourcesRequest = z.infer<typeof ListResourcesRequestSchema>;
export type ListResourcesResult = z.infer<typeof ListResourcesResultSchema>;
export type ListResourceTemplatesRequest = z.infer<typeof ListResourceTemplatesRequestSchema>;
export type ListResourceTemplatesResult = z.infer<typeof ListResourceTemplatesResultSchema>;
export type ResourceRequestParams = z.infer<typeof ResourceRequestParamsSchema>;
export type ReadResourceRequestParams = z.infer<typeof ResourceRequestParamsSchema>;
export type ReadResourceRequest = z.infer<typeof ReadResourceRequestSchema>;
export type ReadResourceResult = z.infer<typeof ReadResourceResultSchema>;
export type SubscribeRequestParams = z.infer<typeof ResourceRequestParamsSchema>;
export type SubscribeRequest = z.infer<typeof SubscribeRequestSchema>;
export type UnsubscribeRequestParams = z.infer<typeof ResourceRequestParamsSchema>;
export type UnsubscribeRequest = z.infer<typeof UnsubscribeRequestSchema>;
export type ResourceListChangedNotification = z.infer<typeof ResourceListChangedNotificationSchema>;
export type ResourceUpdatedNotificationParams = z.infer<typeof ResourceUpdatedNotificationParamsSchema>;
export type ResourceUpdatedNotification = z.infer<typeof ResourceUpdatedNotificationSchema>;
