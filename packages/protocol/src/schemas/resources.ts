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

export const RoleSchema: z.ZodType<Role> = z.enum(['user', 'assistant']);

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

export const ResourceSchema: z.ZodType<Resource> = loose(resourceShape);

export const ResourceTemplateSchema: z.ZodType<ResourceTemplate> = loose({
  ...named,
  uriTemplate: z.string(),
  description: optionalString,
  mimeType: optionalString,
  annotations: AnnotationsSchema.optional(),
  _meta: optionalObject,
});

const contents = { uri: z.string(), mimeType: optionalString, _meta: optionalObject };
export const TextResourceContentsSchema: z.ZodType<TextResourceContents> = loose({ ...contents, text: z.string() });
export const BlobResourceContentsSchema: z.ZodType<BlobResourceContents> = loose({ ...contents, blob: z.string() });
export const ResourceContentsSchema: z.ZodType<TextResourceContents | BlobResourceContents> = z.union([
  TextResourceContentsSchema,
  BlobResourceContentsSchema,
]);

export const ListResourcesResultSchema: z.ZodType<ListResourcesResult> = loose({
  ...pagedResultShape,
  ...cacheableShape,
  resources: z.array(ResourceSchema),
});
export const ListResourceTemplatesResultSchema: z.ZodType<ListResourceTemplatesResult> = loose({
  ...pagedResultShape,
  ...cacheableShape,
  resourceTemplates: z.array(ResourceTemplateSchema),
});
export const ReadResourceRequestParamsSchema: z.ZodType<ReadResourceRequestParams> = loose({
  ...requestShape,
  ...roundShape,
  uri: z.string(),
});
export const ReadResourceResultSchema: z.ZodType<ReadResourceResult> = loose({
  ...resultShape,
  ...cacheableShape,
  contents: z.array(ResourceContentsSchema),
});
export const SubscribeRequestParamsSchema: z.ZodType<SubscribeRequestParams> = loose({ ...requestShape, uri: z.string() });
export const ResourceUpdatedNotificationParamsSchema: z.ZodType<ResourceUpdatedNotificationParams> = loose({
  ...notificationShape,
  uri: z.string(),
});
