/** Opening, discovery, levels, cancellation, progress, subscriptions, rounds. */

import { z } from 'zod/v4';
import type { CancelledNotificationParams, ProgressNotificationParams } from '../model/progress.ts';
import type { DiscoverResult, InitializeRequestParams, InitializeResult } from '../model/lifecycle.ts';
import type { InputRequest, InputRequiredResult } from '../model/input-required.ts';
import type { LoggingMessageNotificationParams, SetLevelRequestParams } from '../model/logging.ts';
import type { PaginatedRequestParams } from '../model/meta.ts';
import type {
  SubscriptionFilter,
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
} from '../model/subscriptions.ts';
import {
  JsonValueSchema,
  loose,
  optionalBoolean,
  optionalNumber,
  optionalString,
  optionalStrings,
  record,
  RequestIdSchema,
} from './base.ts';
import { ClientCapabilitiesSchema, ServerCapabilitiesSchema } from './capabilities.ts';
import { ElicitRequestParamsSchema } from './elicitation.ts';
import { ImplementationSchema } from './icons.ts';
import {
  cacheableShape,
  LoggingLevelSchema,
  notificationShape,
  pagedRequestShape,
  RequestParamsSchema,
  requestShape,
  resultShape,
} from './meta.ts';
import { CreateMessageRequestParamsSchema } from './sampling.ts';

/** The zod twin of `InitializeRequestParams`. */
export const InitializeRequestParamsSchema: z.ZodType<InitializeRequestParams> = loose({
  ...requestShape,
  protocolVersion: z.string(),
  capabilities: ClientCapabilitiesSchema,
  clientInfo: ImplementationSchema,
});

/** The zod twin of `InitializeResult`. */
export const InitializeResultSchema: z.ZodType<InitializeResult> = loose({
  ...resultShape,
  protocolVersion: z.string(),
  capabilities: ServerCapabilitiesSchema,
  serverInfo: ImplementationSchema,
  instructions: optionalString,
});

/** The zod twin of `DiscoverResult`. */
export const DiscoverResultSchema: z.ZodType<DiscoverResult> = loose({
  ...resultShape,
  ...cacheableShape,
  supportedVersions: z.array(z.string()),
  capabilities: ServerCapabilitiesSchema,
  instructions: optionalString,
});

/** The zod twin of `PaginatedRequestParams`. */
export const PaginatedRequestParamsSchema: z.ZodType<PaginatedRequestParams> = loose(pagedRequestShape);
/** The zod twin of `SetLevelRequestParams`. */
export const SetLevelRequestParamsSchema: z.ZodType<SetLevelRequestParams> = loose({ ...requestShape, level: LoggingLevelSchema });

/** The zod twin of `SubscriptionFilter`. */
export const SubscriptionFilterSchema: z.ZodType<SubscriptionFilter> = loose({
  toolsListChanged: optionalBoolean,
  promptsListChanged: optionalBoolean,
  resourcesListChanged: optionalBoolean,
  resourceSubscriptions: optionalStrings,
});
/** The zod twin of `SubscriptionsListenRequestParams`. */
export const SubscriptionsListenRequestParamsSchema: z.ZodType<SubscriptionsListenRequestParams> = loose({
  ...requestShape,
  notifications: SubscriptionFilterSchema,
});
/** The zod twin of `SubscriptionsAcknowledgedNotificationParams`. */
export const SubscriptionsAcknowledgedNotificationParamsSchema: z.ZodType<SubscriptionsAcknowledgedNotificationParams> = loose({
  ...notificationShape,
  notifications: SubscriptionFilterSchema,
});

/** The zod twin of `CancelledNotificationParams`. */
export const CancelledNotificationParamsSchema: z.ZodType<CancelledNotificationParams> = loose({
  ...notificationShape,
  requestId: RequestIdSchema.optional(),
  reason: optionalString,
});
/** The zod twin of `ProgressNotificationParams`. */
export const ProgressNotificationParamsSchema: z.ZodType<ProgressNotificationParams> = loose({
  ...notificationShape,
  progressToken: RequestIdSchema,
  progress: z.number(),
  total: optionalNumber,
  message: optionalString,
});
/** The zod twin of `LoggingMessageNotificationParams`. */
export const LoggingMessageNotificationParamsSchema: z.ZodType<LoggingMessageNotificationParams> = loose({
  ...notificationShape,
  level: LoggingLevelSchema,
  logger: optionalString,
  data: JsonValueSchema,
});

/** The zod twin of `InputRequest`. */
export const InputRequestSchema: z.ZodType<InputRequest> = z.union([
  loose<InputRequest>({ method: z.literal('elicitation/create'), params: ElicitRequestParamsSchema }),
  loose<InputRequest>({ method: z.literal('sampling/createMessage'), params: CreateMessageRequestParamsSchema }),
  loose<InputRequest>({ method: z.literal('roots/list'), params: RequestParamsSchema.optional() }),
]);

/** The zod twin of `InputRequiredResult`. */
export const InputRequiredResultSchema: z.ZodType<InputRequiredResult> = (
  loose({
    ...resultShape,
    resultType: z.literal('input_required'),
    inputRequests: record(InputRequestSchema).optional(),
    requestState: optionalString,
  }) as z.ZodType<InputRequiredResult>
).refine((result) => result.inputRequests !== undefined || result.requestState !== undefined, 'inputRequests or requestState is required');
