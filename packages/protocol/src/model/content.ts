/** What tools, prompts and models say: blocks of content. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import type { MetaObject } from './meta.ts';
import type { BlobResourceContents, Resource, TextResourceContents } from './resources.ts';

/** Who speaks in a conversation. */
export type Role = 'user' | 'assistant';

/** Hints on how to use something. Never to be trusted from a server that is not. */
export interface Annotations extends JsonObject {
  /** Whom it is for. */
  readonly audience?: readonly Role[] | undefined;
  /** From 0 (may be left out) to 1 (required). */
  readonly priority?: number | undefined;
  /** ISO 8601. Since 2025-06-18. */
  readonly lastModified?: string | undefined;
}

/** What every block may have. */
export interface BlockBase extends JsonObject {
  readonly annotations?: Annotations | undefined;
  /** Since 2025-06-18. */
  readonly _meta?: MetaObject | undefined;
}

/** A block of text. */
export interface TextContent extends BlockBase {
  readonly type: 'text';
  readonly text: string;
}

/** A picture. */
export interface ImageContent extends BlockBase {
  readonly type: 'image';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** Since 2025-03-26. */
export interface AudioContent extends BlockBase {
  readonly type: 'audio';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** A resource that the client can read by itself. It need not be listed anywhere. Since 2025-06-18. */
export interface ResourceLink extends Resource {
  readonly type: 'resource_link';
}

/** A resource's contents, given along. */
export interface EmbeddedResource extends BlockBase {
  readonly type: 'resource';
  readonly resource: TextResourceContents | BlobResourceContents;
}

/**
 * One block of a tool's result or a prompt's message.
 *
 * @see 2026-07-28 server/tools#tool-result
 */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;

/** A model's wish to call a tool. Since 2025-11-25, in sampling only. */
export interface ToolUseContent extends JsonObject {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly _meta?: MetaObject | undefined;
}

/** What the tool said to that. Since 2025-11-25, in sampling only. */
export interface ToolResultContent extends JsonObject {
  readonly type: 'tool_result';
  /** The `id` of the `tool_use` that it answers. */
  readonly toolUseId: string;
  readonly content: readonly ContentBlock[];
  /** An object up to 2025-11-25; any value later. */
  readonly structuredContent?: JsonValue | undefined;
  readonly isError?: boolean | undefined;
  readonly _meta?: MetaObject | undefined;
}
