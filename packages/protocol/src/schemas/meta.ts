/** `_meta`, and the bases of params and results. */

import { z } from 'zod/v4';
import { LOGGING_LEVELS, type LoggingLevel } from '../model/logging.ts';
import {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_PROTOCOL_VERSION,
  META_SERVER_INFO,
  META_SUBSCRIPTION_ID,
  type EmptyResult,
  type NotificationParams,
  type RequestMeta,
  type RequestParams,
} from '../model/meta.ts';
import { loose, optionalNumber, optionalString, record, RequestIdSchema } from './base.ts';
import { ClientCapabilitiesSchema } from './capabilities.ts';
import { ImplementationSchema } from './icons.ts';

/** The zod twin of `LoggingLevel`. */
export const LoggingLevelSchema: z.ZodType<LoggingLevel> = z.enum(LOGGING_LEVELS);

/** `_meta` of a modern request, with what is mandatory there. */
export const ModernRequestMetaSchema: z.ZodType<RequestMeta> = loose({
  progressToken: RequestIdSchema.optional(),
  [META_PROTOCOL_VERSION]: z.string(),
  [META_CLIENT_CAPABILITIES]: ClientCapabilitiesSchema,
  [META_CLIENT_INFO]: ImplementationSchema.optional(),
  [META_LOG_LEVEL]: LoggingLevelSchema.optional(),
});

/** Members of every request's params. */
export const requestShape: z.ZodRawShape = { _meta: loose({ progressToken: RequestIdSchema.optional() }).optional() };
/** Members of every notification's params. */
export const notificationShape: z.ZodRawShape = { _meta: loose({ [META_SUBSCRIPTION_ID]: RequestIdSchema.optional() }).optional() };
/** Members of every result. */
export const resultShape: z.ZodRawShape = {
  _meta: loose({ [META_SERVER_INFO]: ImplementationSchema.optional(), [META_SUBSCRIPTION_ID]: RequestIdSchema.optional() }).optional(),
  resultType: optionalString,
};
/** Members of a list's params. */
export const pagedRequestShape: z.ZodRawShape = { ...requestShape, cursor: optionalString };
/** Members of a list's result. A `nextCursor` of `null` is read as none. */
export const pagedResultShape: z.ZodRawShape = { ...resultShape, nextCursor: z.string().nullish() };
/** Members of a result that may be kept. */
export const cacheableShape: z.ZodRawShape = { ttlMs: optionalNumber, cacheScope: z.enum(['public', 'private']).optional() };
/** Members of params that may carry the answers of an earlier round. */
export const roundShape: z.ZodRawShape = { inputResponses: record(loose({})).optional(), requestState: optionalString };

/** The zod twin of `RequestParams`. */
export const RequestParamsSchema: z.ZodType<RequestParams> = loose(requestShape);
/** The zod twin of `NotificationParams`. */
export const NotificationParamsSchema: z.ZodType<NotificationParams> = loose(notificationShape);
/** The zod twin of `EmptyResult`. */
export const EmptyResultSchema: z.ZodType<EmptyResult> = loose(resultShape);
