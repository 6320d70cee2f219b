/** JSON-RPC messages, and what every request, notification and result of MCP has. */

import { ASSUMED_WITHOUT_HEADER } from '@mortise/protocol/revisions';
import { revisionsOf } from '@mortise/protocol';
import * as z from 'zod/v4';
import {
  type CursorSchema,
  type EmptyResultSchema,
  notificationOf,
  NotificationParamsSchema,
  NotificationSchema,
  type PaginatedRequestParamsSchema,
  type PaginatedRequestSchema,
  type PaginatedResultSchema,
  ProgressTokenSchema,
  type RelatedTaskMetadataSchema,
  RequestIdSchema,
  type RequestMetaSchema,
  requestOf,
  RequestParamsSchema,
  RequestSchema,
  ResultSchema,
  TaskAugmentedRequestParamsSchema,
  type TaskCreationParamsSchema,
  type TaskMetadataSchema,
} from './parts.ts';

export {
  CursorSchema,
  EmptyResultSchema,
  NotificationSchema,
  PaginatedRequestParamsSchema,
  PaginatedRequestSchema,
  PaginatedResultSchema,
  ProgressTokenSchema,
  RELATED_TASK_META_KEY,
  RelatedTaskMetadataSchema,
  RequestIdSchema,
  RequestSchema,
  ResultSchema,
  TaskAugmentedRequestParamsSchema,
  TaskCreationParamsSchema,
  TaskMetadataSchema,
} from './parts.ts';

const legacy = revisionsOf('legacy').map(({ version }) => version);

/** The version that v1 offers first. */
export const LATEST_PROTOCOL_VERSION: string = legacy[0] ?? '';
/** The version that a request over HTTP has if no header names one. */
export const DEFAULT_NEGOTIATED_PROTOCOL_VERSION: string = ASSUMED_WITHOUT_HEADER.version;
/** The versions that v1 negotiates by `initialize`, newest first. */
export const SUPPORTED_PROTOCOL_VERSIONS: string[] = legacy;
export const JSONRPC_VERSION = '2.0';

const version = z.literal(JSONRPC_VERSION);
export const JSONRPCRequestSchema = RequestSchema.extend({ jsonrpc: version, id: RequestIdSchema }).strict();
export const JSONRPCNotificationSchema = NotificationSchema.extend({ jsonrpc: version }).strict();
export const JSONRPCResultResponseSchema = z.strictObject({ jsonrpc: version, id: RequestIdSchema, result: ResultSchema });
export const JSONRPCErrorResponseSchema = z.strictObject({
  jsonrpc: version,
  id: RequestIdSchema.optional(),
  error: z.object({ code: z.number().int(), message: z.string(), data: z.unknown().optional() }),
});
export const JSONRPCResponseSchema = z.union([JSONRPCResultResponseSchema, JSONRPCErrorResponseSchema]);
export const JSONRPCMessageSchema = z.union([
  JSONRPCRequestSchema,
  JSONRPCNotificationSchema,
  JSONRPCResultResponseSchema,
  JSONRPCErrorResponseSchema,
]);

export const isJSONRPCRequest = (value: unknown): value is JSONRPCRequest => JSONRPCRequestSchema.safeParse(value).success;
export const isJSONRPCNotification = (value: unknown): value is JSONRPCNotification => JSONRPCNotificationSchema.safeParse(value).success;
export const isJSONRPCResultResponse = (value: unknown): value is JSONRPCResultResponse =>
  JSONRPCResultResponseSchema.safeParse(value).success;
export const isJSONRPCErrorResponse = (value: unknown): value is JSONRPCErrorResponse =>
  JSONRPCErrorResponseSchema.safeParse(value).success;
export const isTaskAugmentedRequestParams = (value: unknown): value is TaskAugmentedRequestParams =>
  TaskAugmentedRequestParamsSchema.safeParse(value).success;

export const CancelledNotificationParamsSchema = NotificationParamsSchema.extend({
  requestId: RequestIdSchema.optional(),
  reason: z.string().optional(),
});
export const CancelledNotificationSchema = notificationOf('notifications/cancelled', CancelledNotificationParamsSchema);

export const ProgressSchema = z.object({ progress: z.number(), total: z.number().optional(), message: z.string().optional() });
export const ProgressNotificationParamsSchema = NotificationParamsSchema.extend({
  ...ProgressSchema.shape,
  progressToken: ProgressTokenSchema,
});
export const ProgressNotificationSchema = notificationOf('notifications/progress', ProgressNotificationParamsSchema);
export const PingRequestSchema = requestOf('ping', RequestParamsSchema.optional());

export type ProgressToken = z.infer<typeof ProgressTokenSchema>;
export type Cursor = z.infer<typeof CursorSchema>;
export type RequestId = z.infer<typeof RequestIdSchema>;
export type RequestMeta = z.infer<typeof RequestMetaSchema>;
export type RequestParams = z.infer<typeof RequestParamsSchema>;
export type NotificationParams = z.infer<typeof NotificationParamsSchema>;
export type TaskAugmentedRequestParams = z.infer<typeof TaskAugmentedRequestParamsSchema>;
export type TaskCreationParams = z.infer<typeof TaskCreationParamsSchema>;
export type TaskMetadata = z.infer<typeof TaskMetadataSchema>;
export type RelatedTaskMetadata = z.infer<typeof RelatedTaskMetadataSchema>;
export type Request = z.infer<typeof RequestSchema>;
export type Notification = z.infer<typeof NotificationSchema>;
export type Result = z.infer<typeof ResultSchema>;
export type EmptyResult = z.infer<typeof EmptyResultSchema>;
export type PaginatedRequestParams = z.infer<typeof PaginatedRequestParamsSchema>;
export type PaginatedRequest = z.infer<typeof PaginatedRequestSchema>;
export type PaginatedResult = z.infer<typeof PaginatedResultSchema>;
export type JSONRPCRequest = z.infer<typeof JSONRPCRequestSchema>;
export type JSONRPCNotification = z.infer<typeof JSONRPCNotificationSchema>;
export type JSONRPCResultResponse = z.infer<typeof JSONRPCResultResponseSchema>;
export type JSONRPCErrorResponse = z.infer<typeof JSONRPCErrorResponseSchema>;
export type JSONRPCError = JSONRPCErrorResponse;
export type JSONRPCResponse = z.infer<typeof JSONRPCResponseSchema>;
export type JSONRPCMessage = z.infer<typeof JSONRPCMessageSchema>;
export type CancelledNotificationParams = z.infer<typeof CancelledNotificationParamsSchema>;
export type CancelledNotification = z.infer<typeof CancelledNotificationSchema>;
export type Progress = z.infer<typeof ProgressSchema>;
export type ProgressNotificationParams = z.infer<typeof ProgressNotificationParamsSchema>;
export type ProgressNotification = z.infer<typeof ProgressNotificationSchema>;
export type PingRequest = z.infer<typeof PingRequestSchema>;
