/** Completion of a prompt's or template's argument while it is typed. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { BaseMetadata } from './implementation.ts';
import type { RequestParams, Result } from './meta.ts';

/** Names the prompt whose argument is being completed. */
export interface PromptReference extends BaseMetadata {
  readonly type: 'ref/prompt';
}

/** `uri` may be a template or an address. */
export interface ResourceTemplateReference extends JsonObject {
  readonly type: 'ref/resource';
  readonly uri: string;
}

/**
 * Params of `completion/complete`.
 *
 * @see 2026-07-28 server/utilities/completion
 */
export interface CompleteRequestParams extends RequestParams {
  readonly ref: PromptReference | ResourceTemplateReference;
  readonly argument: CompletionArgument;
  /** What was chosen before. Since 2025-06-18. */
  readonly context?: CompletionContext | undefined;
}

/** The argument and what has been typed of it. */
export interface CompletionArgument extends JsonObject {
  readonly name: string;
  readonly value: string;
}

/** The other arguments, as far as they are known. */
export interface CompletionContext extends JsonObject {
  readonly arguments?: Readonly<Record<string, string>> | undefined;
}

/** How many values a completion may hold. */
export const MAX_COMPLETION_VALUES = 100;

/** The suggestions, best first. */
export interface Completion extends JsonObject {
  /** At most `MAX_COMPLETION_VALUES`. */
  readonly values: readonly string[];
  /** How many there are in all, where known. */
  readonly total?: number | undefined;
  readonly hasMore?: boolean | undefined;
}

/** The result of `completion/complete`. */
export interface CompleteResult extends Result {
  readonly completion: Completion;
}
