/** Prompts: message templates that a server offers. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CacheableResult, MetaObject, PaginatedResult, Result } from './meta.ts';
import type { ContentBlock, Role } from './content.ts';
import type { BaseMetadata, Icons } from './implementation.ts';
import type { InputResponseRequestParams } from './input-required.ts';

/** One argument of a prompt. Its value is a string. */
export interface PromptArgument extends BaseMetadata {
  readonly description?: string | undefined;
  /** Whether the argument is mandatory. @default false */
  readonly required?: boolean | undefined;
}

/**
 * A prompt, as `prompts/list` returns it.
 *
 * @see 2026-07-28 server/prompts
 */
export interface Prompt extends BaseMetadata, Icons {
  readonly description?: string | undefined;
  readonly arguments?: readonly PromptArgument[] | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** One page of `prompts/list`. */
export interface ListPromptsResult extends PaginatedResult, CacheableResult {
  readonly prompts: readonly Prompt[];
}

/** Params of `prompts/get`. */
export interface GetPromptRequestParams extends InputResponseRequestParams {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, string>> | undefined;
}

/** One message of a prompt. It has one content block, not an array. */
export interface PromptMessage extends JsonObject {
  readonly role: Role;
  readonly content: ContentBlock;
}

/** The result of `prompts/get`. */
export interface GetPromptResult extends Result {
  readonly description?: string | undefined;
  readonly messages: readonly PromptMessage[];
}
