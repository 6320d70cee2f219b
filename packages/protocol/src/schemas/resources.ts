/** Resources. */

import { z } from 'zod/v4';
import type { Annotations, Role } from '../model/content.ts';
import type {
  BlobResourceContents,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceRequestParams,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  ResourceUpdatedNotificationParams,
  SubscribeRequestParams,
  TextResourceContents,
} from '../model/resources.ts';
import { loose, optionalInt, optionalNumber, optionalObject, optionalString } from './base.ts';
import { named } from './icons.ts';
import { cacheableShape, notificationShape, pagedResultShape, requestShape, resultShape, roundShape } from './meta.ts';

/** The zod twin of `Role`. */
export const RoleSchema: z.ZodType<Role> = z.enum(['user', 'assistant']);

/** The zod twin of `Annotations`. */
export const AnnotationsSchema: z.ZodType<Annotations> = loose({
  audience: z.array(RoleSchema).optional(),
  priority: optionalNumber,
  lastModified: optionalString,
});

/** Members of a resource as lists show it. */
export const resourceShape: z.ZodRawShape = {
  ...named,
  uri: z.string(),
  description: optionalString,
  mimeType: optionalString,
  annotations: AnnotationsSchema.optional(),
  size: optionalInt,
  _meta: optionalObject,
};

/** The zod twin of `Resource`. */
export const ResourceSchema: z.ZodType<Resource> = loose(resourceShape);

/** The zod twin of `ResourceTemplate`. */
export const ResourceTemplateSchema: z.ZodType<ResourceTemplate> = loose({
  ...named,
  uriTemplate: z.string(),
  description: optionalString,
  mimeType: optionalString,
  annotations: AnnotationsSchema.optional(),
  _meta: optionalObject,
});

const contents = { uri: z.string(), mimeType: optionalString, _meta: optionalObject };
/** The zod twin of `TextResourceContents`. */
export const TextResourceContentsSchema: z.ZodType<TextResourceContents> = loose({ ...contents, text: z.string() });
/** The zod twin of `BlobResourceContents`. */
export const BlobResourceContentsSchema: z.ZodType<BlobResourceContents> = loose({ ...contents, blob: z.string() });
/** The zod twin of `ResourceContents`. */
export const ResourceContentsSchema: z.ZodType<TextResourceContents | BlobResourceContents> = z.union([
  TextResourceContentsSchema,
  BlobResourceContentsSchema,
]);

/** The zod twin of `ListResourcesResult`. */
export const ListResourcesResultSchema: z.ZodType<ListResourcesResult> = loose({
  ...pagedResultShape,
  ...cacheableShape,
  resources: z.array(ResourceSchema),
});
/** The zod twin of `ListResourceTemplatesResult`. */
export const ListResourceTemplatesResultSchema: z.ZodType<ListResourceTemplatesResult> = loose({
  ...pagedResultShape,
  ...cacheableShape,
  resourceTemplates: z.array(ResourceTemplateSchema),
});
/** The zod twin of `ReadResourceRequestParams`. */
export const ReadResourceRequestParamsSchema: z.ZodType<ReadResourceRequestParams> = loose({
  ...requestShape,
  ...roundShape,
  uri: z.string(),
});
/** The zod twin of `ReadResourceResult`. */
export const ReadResourceResultSchema: z.ZodType<ReadResourceResult> = loose({
  ...resultShape,
  ...cacheableShape,
  contents: z.array(ResourceContentsSchema),
});
/** The zod twin of `SubscribeRequestParams`. */
export const SubscribeRequestParamsSchema: z.ZodType<SubscribeRequestParams> = loose({ ...requestShape, uri: z.string() });
/** The zod twin of `ResourceUpdatedNotificationParams`. */
export const ResourceUpdatedNotificationParamsSchema: z.ZodType<ResourceUpdatedNotificationParams> = loose({
  ...notificationShape,
  uri: z.string(),
});
