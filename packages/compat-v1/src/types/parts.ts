/** What the schemas of messages are made of. */

import { META_RELATED_TASK } from '@mortise/protocol/wire';
import * as z from 'zod/v4';

/** The `_meta` member that names the task a message belongs to. */
export const RELATED_TASK_META_KEY = META_RELATED_TASK;

/** Any object; functions count, as in v1. */
export const AnyObject = z.custom<object>((value) => value !== null && (typeof value === 'object' || typeof value === 'function'));
/** `_meta` of things in lists and content. */
export const Meta = z.record(z.string(), z.unknown()).optional();

export const ProgressTokenSchema = z.union([z.string(), z.number().int()]);
export const RequestIdSchema = z.union([z.string(), z.number().int()]);
export const CursorSchema = z.string();
export const RelatedTaskMetadataSchema = z.object({ taskId: z.string() });
export const TaskCreationParamsSchema = z.looseObject({ ttl: z.number().optional(), pollInterval: z.number().optional() });
export const TaskMetadataSchema = z.object({ ttl: z.number().optional() });

export const RequestMetaSchema = z.looseObject({
  progressToken: ProgressTokenSchema.optional(),
  [RELATED_TASK_META_KEY]: RelatedTaskMetadataSchema.optional(),
});
/** The params that every request may have. */
export const RequestParamsSchema = z.object({ _meta: RequestMetaSchema.optional() });
/** The params that every notification may have. */
export const NotificationParamsSchema = z.object({ _meta: RequestMetaSchema.optional() });
export const TaskAugmentedRequestParamsSchema = RequestParamsSchema.extend({ task: TaskMetadataSchema.optional() });
export const PaginatedRequestParamsSchema = RequestParamsSchema.extend({ cursor: CursorSchema.optional() });

export const RequestSchema = z.object({ method: z.string(), params: RequestParamsSchema.loose().optional() });
export const NotificationSchema = z.object({ method: z.string(), params: NotificationParamsSchema.loose().optional() });
export const ResultSchema = z.looseObject({ _meta: RequestMetaSchema.optional() });
export const EmptyResultSchema = ResultSchema.strict();
export const PaginatedRequestSchema = RequestSchema.extend({ params: PaginatedRequestParamsSchema.optional() });
export const PaginatedResultSchema = ResultSchema.extend({ nextCursor: CursorSchema.optional() });

/** The schema of one request method. */
export const requestOf = <M extends string, P extends z.ZodType>(method: M, params: P) =>
  RequestSchema.extend({ method: z.literal(method), params });
/** The schema of one notification. */
export const notificationOf = <M extends string, P extends z.ZodType>(method: M, params: P) =>
  NotificationSchema.extend({ method: z.literal(method), params });
/** The schema of a notification that carries nothing. */
export const bareNotificationOf = <M extends string>(method: M) => notificationOf(method, NotificationParamsSchema.optional());
/** The schema of a request for one page of a list. */
export const listRequestOf = <M extends string>(method: M) => PaginatedRequestSchema.extend({ method: z.literal(method) });

export const IconSchema = z.object({
  src: z.string(),
  mimeType: z.string().optional(),
  sizes: z.array(z.string()).optional(),
  theme: z.enum(['light', 'dark']).optional(),
});
export const IconsSchema = z.object({ icons: z.array(IconSchema).optional() });
export const BaseMetadataSchema = z.object({ name: z.string(), title: z.string().optional() });
/** What everything with a name in a list has. */
export const NamedSchema = BaseMetadataSchema.extend(IconsSchema.shape);
