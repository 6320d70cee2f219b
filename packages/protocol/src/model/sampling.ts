/**
 * Sampling: a server asks the client to call a model.
 *
 * Deprecated since 2026-07-28: call a model provider's API from the server.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { AudioContent, ImageContent, Role, TextContent, ToolResultContent, ToolUseContent } from './content.ts';
import type { MetaObject, RequestParams } from './meta.ts';
import type { TaskMetadata } from './tasks.ts';
import type { Tool } from './tools.ts';

/** A content block of a sampling message. The tool blocks exist since 2025-11-25. */
export type SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent;

/** One message to or from the model. @deprecated since 2026-07-28: call a model provider's API from the server. */
export interface SamplingMessage extends JsonObject {
  readonly role: Role;
  /** The content: one block up to 2025-06-18; one block or an array in later revisions. */
  readonly content: SamplingMessageContentBlock | readonly SamplingMessageContentBlock[];
  readonly _meta?: MetaObject | undefined;
}

/** A hint at which model the server prefers. */
export interface ModelHint extends JsonObject {
  /** Part of a model's name, such as `sonnet`. */
  readonly name?: string | undefined;
}

/** Preferences for the choice of a model. Each priority is from 0 to 1. */
export interface ModelPreferences extends JsonObject {
  /** Hints in order of preference. The first hint that matches a model takes precedence over the three priorities. */
  readonly hints?: readonly ModelHint[] | undefined;
  readonly costPriority?: number | undefined;
  readonly speedPriority?: number | undefined;
  readonly intelligencePriority?: number | undefined;
}

/** How the model may use tools. Since 2025-11-25. */
export interface ToolChoice extends JsonObject {
  /** Whether the model may (`auto`), must (`required`) or must not (`none`) use tools. @default 'auto' */
  readonly mode?: 'auto' | 'required' | 'none' | undefined;
}

/**
 * Params of `sampling/createMessage`.
 *
 * @deprecated since 2026-07-28: call a model provider's API from the server.
 * @see 2026-07-28 client/sampling
 */
export interface CreateMessageRequestParams extends RequestParams {
  readonly messages: readonly SamplingMessage[];
  readonly modelPreferences?: ModelPreferences | undefined;
  readonly systemPrompt?: string | undefined;
  /** Which servers' context the client adds to the prompt. `thisServer` and `allServers` are deprecated: leave this member out. */
  readonly includeContext?: 'none' | 'thisServer' | 'allServers' | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens: number;
  readonly stopSequences?: readonly string[] | undefined;
  readonly metadata?: JsonObject | undefined;
  /** The tools that the model may use. Needs the client capability `sampling.tools`. Since 2025-11-25. */
  readonly tools?: readonly Tool[] | undefined;
  /** How the model may use the tools. Needs the client capability `sampling.tools`. Since 2025-11-25. */
  readonly toolChoice?: ToolChoice | undefined;
  /** Asks the client to run this sampling request as a task. @until 2025-11-25 */
  readonly task?: TaskMetadata | undefined;
}

/** The result of `sampling/createMessage`: the model's message. @deprecated since 2026-07-28: call a model provider's API instead. */
export interface CreateMessageResult extends SamplingMessage {
  readonly model: string;
  readonly stopReason?: 'endTurn' | 'stopSequence' | 'maxTokens' | 'toolUse' | (string & {}) | undefined;
}
