/** Content blocks of tool results, prompts and sampling messages. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import type { MetaObject } from './meta.ts';
import type { BlobResourceContents, Resource, TextResourceContents } from './resources.ts';

/** The sender of a message in a conversation. */
export type Role = 'user' | 'assistant';

/** Hints on how to use a resource or content block. Do not rely on them unless you trust the server. */
export interface Annotations extends JsonObject {
  /** Whom the content is meant for: the user, the model (`assistant`) or both. */
  readonly audience?: readonly Role[] | undefined;
  /** How important the content is, from 0 (optional) to 1 (required). */
  readonly priority?: number | undefined;
  /** When the resource was last modified, as an ISO 8601 timestamp. Since 2025-06-18. */
  readonly lastModified?: string | undefined;
}

/** The members that every content block may have. */
export interface BlockBase extends JsonObject {
  readonly annotations?: Annotations | undefined;
  /** Metadata of the content block. Since 2025-06-18. */
  readonly _meta?: MetaObject | undefined;
}

/** A block of text. */
export interface TextContent extends BlockBase {
  readonly type: 'text';
  readonly text: string;
}

/** An image block. */
export interface ImageContent extends BlockBase {
  readonly type: 'image';
  /** The image, in base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** An audio block. Since 2025-03-26. */
export interface AudioContent extends BlockBase {
  readonly type: 'audio';
  /** The audio, in base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** A link to a resource that the client can read. `resources/list` need not list it. Since 2025-06-18. */
export interface ResourceLink extends Resource {
  readonly type: 'resource_link';
}

/** The contents of a resource, embedded in a message. */
export interface EmbeddedResource extends BlockBase {
  readonly type: 'resource';
  readonly resource: TextResourceContents | BlobResourceContents;
}

/**
 * One content block of a tool result or a prompt message.
 *
 * @see 2026-07-28 server/tools#tool-result
 */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** A tool call that the model requests. Since 2025-11-25, in sampling only. */
export interface ToolUseContent extends JsonObject {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly _meta?: MetaObject | undefined;
}

/** The result of a tool call that the model requested. Since 2025-11-25, in sampling only. */
export interface ToolResultContent extends JsonObject {
  readonly type: 'tool_result';
  /** The `id` of the `tool_use` block that this is the result of. */
  readonly toolUseId: string;
  readonly content: readonly ContentBlock[];
  /** The tool's result as JSON: an object up to 2025-11-25; any JSON value in later revisions. */
  readonly structuredContent?: JsonValue | undefined;
  readonly isError?: boolean | undefined;
  readonly _meta?: MetaObject | undefined;
}
