/** Content of messages and results: text, images, audio, resources. */

import * as z from 'zod/v4';
import { Meta, NamedSchema } from './parts.ts';

const Base64 = z.string().refine(isBase64, { message: 'Invalid Base64 string' });

function isBase64(text: string): boolean {
  try {
    atob(text);
    return true;
  } catch {
    return false;
  }
}

export const RoleSchema = z.enum(['user', 'assistant']);
export const AnnotationsSchema = z.object({
  audience: z.array(RoleSchema).optional(),
  priority: z.number().min(0).max(1).optional(),
  lastModified: z.iso.datetime({ offset: true }).optional(),
});

export const ResourceContentsSchema = z.object({ uri: z.string(), mimeType: z.string().optional(), _meta: Meta });
export const TextResourceContentsSchema = ResourceContentsSchema.extend({ text: z.string() });
export const BlobResourceContentsSchema = ResourceContentsSchema.extend({ blob: Base64 });

const described = { description: z.string().optional(), mimeType: z.string().optional(), annotations: AnnotationsSchema.optional() };
const LooseMeta = z.looseObject({}).optional();
export const ResourceSchema = NamedSchema.extend({ uri: z.string(), size: z.number().optional(), ...described, _meta: LooseMeta });
export const ResourceTemplateSchema = NamedSchema.extend({ uriTemplate: z.string(), ...described, _meta: LooseMeta });

const ofBlock = { annotations: AnnotationsSchema.optional(), _meta: Meta };
const media = { data: Base64, mimeType: z.string(), ...ofBlock };
export const TextContentSchema = z.object({ type: z.literal('text'), text: z.string(), ...ofBlock });
export const ImageContentSchema = z.object({ type: z.literal('image'), ...media });
export const AudioContentSchema = z.object({ type: z.literal('audio'), ...media });
export const EmbeddedResourceSchema = z.object({
  type: z.literal('resource'),
  resource: z.union([TextResourceContentsSchema, BlobResourceContentsSchema]),
  ...ofBlock,
});
export const ResourceLinkSchema = ResourceSchema.extend({ type: z.literal('resource_link') });
export const ContentBlockSchema = z.union([
  TextContentSchema,
  ImageContentSchema,
  AudioContentSchema,
  ResourceLinkSchema,
  EmbeddedResourceSchema,
]);

export type Role = z.infer<typeof RoleSchema>;
export type Annotations = z.infer<typeof AnnotationsSchema>;
export type ResourceContents = z.infer<typeof ResourceContentsSchema>;
export type TextResourceContents = z.infer<typeof TextResourceContentsSchema>;
export type BlobResourceContents = z.infer<typeof BlobResourceContentsSchema>;
export type Resource = z.infer<typeof ResourceSchema>;
export type ResourceTemplate = z.infer<typeof ResourceTemplateSchema>;
export type TextContent = z.infer<typeof TextContentSchema>;
export type ImageContent = z.infer<typeof ImageContentSchema>;
export type AudioContent = z.infer<typeof AudioContentSchema>;
export type EmbeddedResource = z.infer<typeof EmbeddedResourceSchema>;
export type ResourceLink = z.infer<typeof ResourceLinkSchema>;
export type ContentBlock = z.infer<typeof ContentBlockSchema>;
