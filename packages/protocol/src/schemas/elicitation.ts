/** Elicitation. */

import { z } from 'zod/v4';
import type {
  ElicitationCompleteNotificationParams,
  ElicitRequestFormParams,
  ElicitRequestParams,
  ElicitRequestURLParams,
  ElicitResult,
  PrimitiveSchemaDefinition,
} from '../model/elicitation.ts';
import { loose, optionalBoolean, optionalInt, optionalNumber, optionalObject, optionalString, optionalStrings, record } from './base.ts';
import { notificationShape, requestShape } from './meta.ts';
import { TaskMetadataSchema } from './tasks.ts';

const field = { title: optionalString, description: optionalString };
const text = { ...field, type: z.literal('string'), default: optionalString };
const several = { ...field, type: z.literal('array'), minItems: optionalInt, maxItems: optionalInt, default: optionalStrings };
const options = z.array(loose({ const: z.string(), title: z.string() }));
const names = z.array(z.string());

/** The zod twin of `PrimitiveSchemaDefinition`. */
export const PrimitiveSchemaDefinitionSchema: z.ZodType<PrimitiveSchemaDefinition> = z.union([
  loose<PrimitiveSchemaDefinition>({
    ...text,
    minLength: optionalInt,
    maxLength: optionalInt,
    format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
  }),
  loose<PrimitiveSchemaDefinition>({ ...text, enum: names }),
  loose<PrimitiveSchemaDefinition>({ ...text, oneOf: options }),
  loose<PrimitiveSchemaDefinition>({
    ...field,
    type: z.enum(['number', 'integer']),
    minimum: optionalNumber,
    maximum: optionalNumber,
    default: optionalNumber,
  }),
  loose<PrimitiveSchemaDefinition>({ ...field, type: z.literal('boolean'), default: optionalBoolean }),
  loose<PrimitiveSchemaDefinition>({ ...several, items: loose({ type: z.literal('string'), enum: names }) }),
  loose<PrimitiveSchemaDefinition>({ ...several, items: loose({ anyOf: options }) }),
]);

const asked = { ...requestShape, message: z.string(), task: TaskMetadataSchema.optional() };

/** The zod twin of `ElicitRequestFormParams`. */
export const ElicitRequestFormParamsSchema: z.ZodType<ElicitRequestFormParams> = loose({
  ...asked,
  mode: z.literal('form').optional(),
  requestedSchema: loose({
    $schema: optionalString,
    type: z.literal('object'),
    properties: record(PrimitiveSchemaDefinitionSchema),
    required: optionalStrings,
  }),
});

/** The zod twin of `ElicitRequestURLParams`. */
export const ElicitRequestURLParamsSchema: z.ZodType<ElicitRequestURLParams> = loose({
  ...asked,
  mode: z.literal('url'),
  url: z.string(),
  elicitationId: optionalString,
});

/** The zod twin of `ElicitRequestParams`. */
export const ElicitRequestParamsSchema: z.ZodType<ElicitRequestParams> = z.union([
  ElicitRequestFormParamsSchema,
  ElicitRequestURLParamsSchema,
]);

/** The zod twin of `ElicitResult`. */
export const ElicitResultSchema: z.ZodType<ElicitResult> = loose({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: record(z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).optional(),
  _meta: optionalObject,
});

/** The zod twin of `ElicitationCompleteNotificationParams`. */
export const ElicitationCompleteNotificationParamsSchema: z.ZodType<ElicitationCompleteNotificationParams> = loose({
  ...notificationShape,
  elicitationId: z.string(),
});
