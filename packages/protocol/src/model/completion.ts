/** Completion: suggestions for an argument of a prompt or resource template while the user types it. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { BaseMetadata } from './implementation.ts';
import type { RequestParams, Result } from './meta.ts';

/** Names the prompt whose argument is completed. */
export interface PromptReference extends BaseMetadata {
  readonly type: 'ref/prompt';
}

/** Names the resource template whose argument is completed. `uri` may be a template or a URI. */
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
  /** The values that other arguments already have. Since 2025-06-18. */
  readonly context?: CompletionContext | undefined;
}

/** The argument to complete. `value` is the text typed so far. */
export interface CompletionArgument extends JsonObject {
  readonly name: string;
  readonly value: string;
}

/** The values that the user has already given for other arguments. */
export interface CompletionContext extends JsonObject {
  readonly arguments?: Readonly<Record<string, string>> | undefined;
}

/** The maximum number of suggested values in the result of `completion/complete`. */
export const MAX_COMPLETION_VALUES = 100;

/** The values that a server suggests for an argument, best first. */
export interface Completion extends JsonObject {
  /** The suggested values, at most `MAX_COMPLETION_VALUES` (100). */
  readonly values: readonly string[];
  /** The number of all matching values, also those not in `values`, if known. */
  readonly total?: number | undefined;
  readonly hasMore?: boolean | undefined;
}

/** The result of `completion/complete`. */
export interface CompleteResult extends Result {
  readonly completion: Completion;
}
