/** Content blocks. */

import { z } from 'zod/v4';
import type {
  AudioContent,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceLink,
  TextContent,
  ToolResultContent,
  ToolUseContent,
} from '../model/content.ts';
import type { SamplingMessageContentBlock } from '../model/sampling.ts';
import { JsonObjectSchema, loose, optionalBoolean, optionalObject } from './base.ts';
import { AnnotationsSchema, ResourceContentsSchema, resourceShape } from './resources.ts';

const block = { annotations: AnnotationsSchema.optional(), _meta: optionalObject };
const media = { ...block, data: z.string(), mimeType: z.string() };

/** The zod twin of `TextContent`. */
export const TextContentSchema: z.ZodType<TextContent> = loose({ ...block, type: z.literal('text'), text: z.string() });
/** The zod twin of `ImageContent`. */
export const ImageContentSchema: z.ZodType<ImageContent> = loose({ ...media, type: z.literal('image') });
/** The zod twin of `AudioContent`. */
export const AudioContentSchema: z.ZodType<AudioContent> = loose({ ...media, type: z.literal('audio') });
/** The zod twin of `ResourceLink`. */
export const ResourceLinkSchema: z.ZodType<ResourceLink> = loose({ ...resourceShape, type: z.literal('resource_link') });
/** The zod twin of `EmbeddedResource`. */
export const EmbeddedResourceSchema: z.ZodType<EmbeddedResource> = loose({
  ...block,
  type: z.literal('resource'),
  resource: ResourceContentsSchema,
});

/** The zod twin of `ContentBlock`. */
export const ContentBlockSchema: z.ZodType<ContentBlock> = z.union([
  TextContentSchema,
  ImageContentSchema,
  AudioContentSchema,
  ResourceLinkSchema,
  EmbeddedResourceSchema,
]);

/** The zod twin of `ToolUseContent`. */
export const ToolUseContentSchema: z.ZodType<ToolUseContent> = loose({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: JsonObjectSchema,
  _meta: optionalObject,
});

/** The zod twin of `ToolResultContent`. */
export const ToolResultContentSchema: z.ZodType<ToolResultContent> = loose({
  type: z.literal('tool_result'),
  toolUseId: z.string(),
  content: z.array(ContentBlockSchema),
  structuredContent: z.unknown().optional(),
  isError: optionalBoolean,
  _meta: optionalObject,
});

/** The zod twin of `SamplingMessageContentBlock`. */
export const SamplingMessageContentBlockSchema: z.ZodType<SamplingMessageContentBlock> = z.union([
  TextContentSchema,
  ImageContentSchema,
  AudioContentSchema,
  ToolUseContentSchema,
  ToolResultContentSchema,
]);
