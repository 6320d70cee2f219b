/** Elicitation: forms and pages for the user. */

import * as z from 'zod/v4';
import { notificationOf, NotificationParamsSchema, requestOf, ResultSchema, TaskAugmentedRequestParamsSchema } from './parts.ts';

const labels = { title: z.string().optional(), description: z.string().optional() };
const text = { type: z.literal('string'), ...labels };
const list = { type: z.literal('array'), ...labels, minItems: z.number().optional(), maxItems: z.number().optional() };
const Texts = z.array(z.string());
const Choices = z.array(z.object({ const: z.string(), title: z.string() }));

export const BooleanSchemaSchema = z.object({ type: z.literal('boolean'), ...labels, default: z.boolean().optional() });
export const StringSchemaSchema = z.object({
  ...text,
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
  default: z.string().optional(),
});
export const NumberSchemaSchema = z.object({
  type: z.enum(['number', 'integer']),
  ...labels,
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  default: z.number().optional(),
});
export const UntitledSingleSelectEnumSchemaSchema = z.object({ ...text, enum: Texts, default: z.string().optional() });
export const TitledSingleSelectEnumSchemaSchema = z.object({ ...text, oneOf: Choices, default: z.string().optional() });
export const LegacyTitledEnumSchemaSchema = z.object({
  ...text,
  enum: Texts,
  enumNames: Texts.optional(),
  default: z.string().optional(),
});
export const SingleSelectEnumSchemaSchema = z.union([UntitledSingleSelectEnumSchemaSchema, TitledSingleSelectEnumSchemaSchema]);
export const UntitledMultiSelectEnumSchemaSchema = z.object({
  ...list,
  items: z.object({ type: z.literal('string'), enum: Texts }),
  default: Texts.optional(),
});
export const TitledMultiSelectEnumSchemaSchema = z.object({
  ...list,
  items: z.object({ anyOf: Choices }),
  default: Texts.optional(),
});
export const MultiSelectEnumSchemaSchema = z.union([UntitledMultiSelectEnumSchemaSchema, TitledMultiSelectEnumSchemaSchema]);
export const EnumSchemaSchema = z.union([LegacyTitledEnumSchemaSchema, SingleSelectEnumSchemaSchema, MultiSelectEnumSchemaSchema]);
export const PrimitiveSchemaDefinitionSchema = z.union([EnumSchemaSchema, BooleanSchemaSchema, StringSchemaSchema, NumberSchemaSchema]);

export const ElicitRequestFormParamsSchema = TaskAugmentedRequestParamsSchema.extend({
  mode: z.literal('form').optional(),
  message: z.string(),
  requestedSchema: z.object({
    type: z.literal('object'),
    properties: z.record(z.string(), PrimitiveSchemaDefinitionSchema),
    required: Texts.optional(),
  }),
});
export const ElicitRequestURLParamsSchema = TaskAugmentedRequestParamsSchema.extend({
  mode: z.literal('url'),
  message: z.string(),
  elicitationId: z.string(),
  url: z.url(),
});
export const ElicitRequestParamsSchema = z.union([ElicitRequestFormParamsSchema, ElicitRequestURLParamsSchema]);
export const ElicitRequestSchema = requestOf('elicitation/create', ElicitRequestParamsSchema);
export const ElicitationCompleteNotificationParamsSchema = NotificationParamsSchema.extend({ elicitationId: z.string() });
export const ElicitationCompleteNotificationSchema = notificationOf(
  'notifications/elicitation/complete',
  ElicitationCompleteNotificationParamsSchema,
);
export const ElicitResultSchema = ResultSchema.extend({
  action: z.enum(['accept', 'decline', 'cancel']),
  // Some clients send null where there is no content.
  content: z.preprocess(
    (value) => value ?? undefined,
    z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), Texts])).optional(),
  ),
});

export type BooleanSchema = z.infer<typeof BooleanSchemaSchema>;
export type StringSchema = z.infer<typeof StringSchemaSchema>;
export type NumberSchema = z.infer<typeof NumberSchemaSchema>;
export type UntitledSingleSelectEnumSchema = z.infer<typeof UntitledSingleSelectEnumSchemaSchema>;
export type TitledSingleSelectEnumSchema = z.infer<typeof TitledSingleSelectEnumSchemaSchema>;
export type LegacyTitledEnumSchema = z.infer<typeof LegacyTitledEnumSchemaSchema>;
export type SingleSelectEnumSchema = z.infer<typeof SingleSelectEnumSchemaSchema>;
export type UntitledMultiSelectEnumSchema = z.infer<typeof UntitledMultiSelectEnumSchemaSchema>;
export type TitledMultiSelectEnumSchema = z.infer<typeof TitledMultiSelectEnumSchemaSchema>;
export type MultiSelectEnumSchema = z.infer<typeof MultiSelectEnumSchemaSchema>;
export type EnumSchema = z.infer<typeof EnumSchemaSchema>;
export type PrimitiveSchemaDefinition = z.infer<typeof PrimitiveSchemaDefinitionSchema>;
export type ElicitRequestFormParams = z.infer<typeof ElicitRequestFormParamsSchema>;
export type ElicitRequestURLParams = z.infer<typeof ElicitRequestURLParamsSchema>;
export type ElicitRequestParams = z.infer<typeof ElicitRequestParamsSchema>;
export type ElicitRequest = z.infer<typeof ElicitRequestSchema>;
export type ElicitationCompleteNotificationParams = z.infer<typeof ElicitationCompleteNotificationParamsSchema>;
export type ElicitationCompleteNotification = z.infer<typeof ElicitationCompleteNotificationSchema>;
export type ElicitResult = z.infer<typeof ElicitResultSchema>;
