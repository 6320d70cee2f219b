/** `initialize`: who the two sides are and what they can do. Also names and icons. */

import * as z from 'zod/v4';
import {
  AnyObject,
  NamedSchema,
  bareNotificationOf,
  type BaseMetadataSchema,
  type IconSchema,
  type IconsSchema,
  requestOf,
  RequestParamsSchema,
  ResultSchema,
} from './parts.ts';

export { BaseMetadataSchema, IconSchema, IconsSchema } from './parts.ts';

export const ImplementationSchema = NamedSchema.extend({
  version: z.string(),
  websiteUrl: z.string().optional(),
  description: z.string().optional(),
});

const Listed = z.object({ listChanged: z.boolean().optional() }).optional();
const Named = z.record(z.string(), AnyObject).optional();
const others = z.record(z.string(), z.unknown());
const Form = z.intersection(z.object({ applyDefaults: z.boolean().optional() }), others);
/** An empty capability means forms: it is how they were declared before there were modes. */
const ElicitationCapability = z.preprocess(
  (value) => (isEmptyObject(value) ? { form: {} } : value),
  z.intersection(z.object({ form: Form.optional(), url: AnyObject.optional() }), others.optional()),
);

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
}

const tasks = <T extends z.ZodRawShape>(requests: T) =>
  z.looseObject({
    list: AnyObject.optional(),
    cancel: AnyObject.optional(),
    requests: z.looseObject(requests).optional(),
  });
export const ClientTasksCapabilitySchema = tasks({
  sampling: z.looseObject({ createMessage: AnyObject.optional() }).optional(),
  elicitation: z.looseObject({ create: AnyObject.optional() }).optional(),
});
export const ServerTasksCapabilitySchema = tasks({ tools: z.looseObject({ call: AnyObject.optional() }).optional() });

export const ClientCapabilitiesSchema = z.object({
  experimental: Named,
  sampling: z.object({ context: AnyObject.optional(), tools: AnyObject.optional() }).optional(),
  elicitation: ElicitationCapability.optional(),
  roots: Listed,
  tasks: ClientTasksCapabilitySchema.optional(),
  extensions: Named,
});
export const ServerCapabilitiesSchema = z.object({
  experimental: Named,
  logging: AnyObject.optional(),
  completions: AnyObject.optional(),
  prompts: Listed,
  resources: z.object({ subscribe: z.boolean().optional(), listChanged: z.boolean().optional() }).optional(),
  tools: Listed,
  tasks: ServerTasksCapabilitySchema.optional(),
  extensions: Named,
});

export const InitializeRequestParamsSchema = RequestParamsSchema.extend({
  protocolVersion: z.string(),
  capabilities: ClientCapabilitiesSchema,
  clientInfo: ImplementationSchema,
});
export const InitializeRequestSchema = requestOf('initialize', InitializeRequestParamsSchema);
export const InitializeResultSchema = ResultSchema.extend({
  protocolVersion: z.string(),
  capabilities: ServerCapabilitiesSchema,
  serverInfo: ImplementationSchema,
  instructions: z.string().optional(),
});
export const InitializedNotificationSchema = bareNotificationOf('notifications/initialized');
export const isInitializeRequest = (value: unknown): value is InitializeRequest => InitializeRequestSchema.safeParse(value).success;
export const isInitializedNotification = (value: unknown): value is InitializedNotification =>
  InitializedNotificationSchema.safeParse(value).success;

export type Icon = z.infer<typeof IconSchema>;
export type Icons = z.infer<typeof IconsSchema>;
export type BaseMetadata = z.infer<typeof BaseMetadataSchema>;
export type Implementation = z.infer<typeof ImplementationSchema>;
export type ClientCapabilities = z.infer<typeof ClientCapabilitiesSchema>;
export type ServerCapabilities = z.infer<typeof ServerCapabilitiesSchema>;
export type InitializeRequestParams = z.infer<typeof InitializeRequestParamsSchema>;
export type InitializeRequest = z.infer<typeof InitializeRequestSchema>;
export type InitializeResult = z.infer<typeof InitializeResultSchema>;
export type InitializedNotification = z.infer<typeof InitializedNotificationSchema>;
