/** What a program may answer when a server asks: options of the client, and the check of what their handlers give. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { OptionTable } from '@mortise/jsonrpc-core/transport';
import { checkClientResult } from '@mortise/protocol/checks';
import type { UrlPolicy } from '@mortise/protocol/edge';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  Root,
} from '@mortise/protocol/model';

/** What a handler knows beside the question. */
export interface AnswerContext {
  /** Aborts when the server, or the caller of the request that asked, no longer wants the answer. */
  readonly signal: AbortSignal;
  readonly method: string;
}

/** What a handler of pages knows beside the question. */
export interface PageContext extends AnswerContext {
  /**
   * Resolves when the server says that the user is done with the page. It need not say so, and only 2025-11-25 can: offer the user a way to
   * go on without it. Never rejects.
   */
  readonly completed: Promise<void>;
}

/** Answers one question. A `ProtocolError` that it throws is the answer; any other error reaches the server as a neutral one. */
export type AnswerHandler<Params, Answer, Context extends AnswerContext = AnswerContext> = (
  params: Params,
  context: Context,
) => Answer | Promise<Answer>;

/** Handlers for the two modes of elicitation. The client declares the modes that have one. */
export interface ElicitationOptions {
  /**
   * Shows a form, made from `requestedSchema`: `describeForm` of `@mortise/client/host` gives its fields. Must say which server asks, let the
   * user edit, and let the user decline. An answer that does not fit the schema is not sent.
   */
  readonly form?: AnswerHandler<ElicitRequestFormParams, ElicitResult> | undefined;
  /**
   * Whether fields that an accepted form leaves out get the default that `requestedSchema` gives them; required fields always do. Leave it
   * off where `form` shows the defaults itself: what its user cleared stays cleared.
   *
   * @default false
   * @see 2025-11-25 client/elicitation#requested-schema
   */
  readonly fillsDefaults?: boolean | undefined;
  /**
   * Shows the full address (in ASCII; `describePage` of `@mortise/client/host` says what is odd about it), opens it in the user's browser
   * only if the user agrees, and answers `accept` for that consent. Must not fetch it. Addresses that `urlPolicy` refuses never get here.
   * Since 2025-11-25.
   */
  readonly url?: AnswerHandler<ElicitRequestURLParams, ElicitResult, PageContext> | undefined;
  /** Which pages may be shown. @default https to public hosts, and this machine for a server that runs on it */
  readonly urlPolicy?: UrlPolicy | undefined;
}

/**
 * A handler for sampling and what it can do.
 *
 * @deprecated since 2026-07-28: servers call a model provider's API themselves.
 */
export interface SamplingOptions {
  /**
   * Asks the model. `withApproval` of `@mortise/client/host` asks the user before and after, `selectModel` helps to choose a model. Must
   * respect `maxTokens`.
   */
  readonly handler: AnswerHandler<CreateMessageRequestParams, CreateMessageResult>;
  /** Whether it honours `tools` and `toolChoice`. @default false */
  readonly tools?: boolean | undefined;
  /** Whether it honours `includeContext`. @default false */
  readonly context?: boolean | undefined;
}

/** What the program answers. The client declares the capability of each one that is given. */
export interface AnswerOptions {
  /** Asks the user. A function is a handler of forms. @default none: not declared */
  readonly elicitation?: AnswerHandler<ElicitRequestFormParams, ElicitResult> | ElicitationOptions | undefined;
  /** Asks the user's model. @default none: not declared @deprecated since 2026-07-28: servers call a model provider's API themselves. */
  readonly sampling?: AnswerHandler<CreateMessageRequestParams, CreateMessageResult> | SamplingOptions | undefined;
  /**
   * The folders that servers may work in: `file://` URIs.
   *
   * @deprecated since 2026-07-28: pass them as tool arguments, resource URIs or configuration.
   * @default none: not declared
   */
  readonly roots?: readonly Root[] | AnswerHandler<JsonObject, readonly Root[]> | undefined;
  /** How many questions to the user, and as many to the model, a server may ask a minute, all at once or spread. @default 60 */
  readonly asksPerMinute?: number | undefined;
}

export const ELICITATION_OPTIONS: OptionTable<ElicitationOptions> = {
  form: 'function',
  fillsDefaults: 'boolean',
  url: 'function',
  urlPolicy: 'object',
};

export const SAMPLING_OPTIONS: OptionTable<SamplingOptions> = { handler: 'function', tools: 'boolean', context: 'boolean' };

/** Gives the answer back. @throws {TypeError} It is not an answer to this method. */
export function checkAnswer<Answer extends JsonObject>(method: string, answer: Answer): Answer {
  const problem = checkClientResult(method, answer);
  if (problem === undefined) return answer;
  throw new TypeError(`the handler of "${method}" must give an answer to it: ${problem}`);
}
