/** What a program may answer when a server asks: options of the client, and the check of its handlers' answers. */

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

/** What a handler gets beside the question. */
export interface AnswerContext {
  /** Aborts when the server, or the caller of the request that asked, no longer wants the answer. */
  readonly signal: AbortSignal;
  readonly method: string;
}

/** What a handler of pages gets beside the question. */
export interface PageContext extends AnswerContext {
  /**
   * Resolves when the server says that the user has finished with the page. Only servers of 2025-11-25 can say so, and they need not: offer
   * the user a way to go on without it. Never rejects.
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
   * user edit, and let the user decline. Required fields that the answer leaves out get their default. An answer that does not fit the
   * schema is not sent.
   */
  readonly form?: AnswerHandler<ElicitRequestFormParams, ElicitResult> | undefined;
  /**
   * Shows the full address (in ASCII; `describePage` of `@mortise/client/host` says what is odd about it), opens it in the user's browser
   * only if the user agrees, and answers `accept` for that consent. Must not fetch it. It is not called for addresses that `urlPolicy` refuses.
   * Since 2025-11-25.
   */
  readonly url?: AnswerHandler<ElicitRequestURLParams, ElicitResult, PageContext> | undefined;
  /** Which pages may be shown. @default https to public hosts, and this machine for a server that runs on it */
  readonly urlPolicy?: UrlPolicy | undefined;
}

/** What the program answers. The client declares the capability of each one that is given. */
export interface AnswerOptions {
  /** Asks the user. A function is a handler of forms. @default none: not declared */
  readonly elicitation?: AnswerHandler<ElicitRequestFormParams, ElicitResult> | ElicitationOptions | undefined;
  /**
   * Asks the user's model. Must respect `maxTokens`. `withApproval` of `@mortise/client/host` asks the user before and after, `selectModel` helps
   * to choose a model. One that takes `tools` says so by `capabilities: { sampling: { tools: {} } }`.
   *
   * @default none: not declared
   * @deprecated since 2026-07-28: servers call a model provider's API themselves.
   */
  readonly sampling?: AnswerHandler<CreateMessageRequestParams, CreateMessageResult> | undefined;
  /**
   * The folders that servers may work in: `file://` URIs.
   *
   * @deprecated since 2026-07-28: pass them as tool arguments, resource URIs or configuration.
   * @default none: not declared
   */
  readonly roots?: readonly Root[] | AnswerHandler<JsonObject, readonly Root[]> | undefined;
  /** How many questions a server may ask the user in a minute, and as many the model. @default 60 */
  readonly asksPerMinute?: number | undefined;
}

export const ELICITATION_OPTIONS: OptionTable<ElicitationOptions> = {
  form: 'function',
  url: 'function',
  urlPolicy: 'object',
};

/** Gives the answer back. @throws {TypeError} It is not an answer to this method. */
export function checkAnswer<Answer extends JsonObject>(method: string, answer: Answer): Answer {
  const problem = checkClientResult(method, answer);
  if (problem === undefined) return answer;
  throw new TypeError(`the handler of "${method}" must give an answer to it: ${problem}`);
}
