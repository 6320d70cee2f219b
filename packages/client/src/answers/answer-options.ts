/** The client options for answering the server's requests (elicitation, sampling, roots), and the check of what the handlers return. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { OptionTable } from '@mortise/jsonrpc-core/transport';
import { checkClientResult } from '@mortise/protocol/checks';
import type { UrlPolicy } from '@mortise/protocol/edge';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  Implementation,
  Root,
} from '@mortise/protocol/model';

/** What a handler that answers a server's request gets as its second argument. */
export interface AnswerContext {
  /** Aborts when the answer is no longer needed: the server cancelled its request, or the client's request that led to it has ended. */
  readonly signal: AbortSignal;
  readonly method: string;
  /**
   * The name and version of the server that asks, as the server states them; undefined if it states none. Show them to the user, but base
   * no decision on them: they are not verified.
   */
  readonly serverInfo: Implementation | undefined;
  /** The server's own name for this request, if it came in an `input_required` result; undefined in the legacy era. */
  readonly key?: string | undefined;
  /**
   * The `signal` that your program passed to the call during which the server asks: it says which of several calls that is. Undefined if
   * the call has no `signal`, and in the legacy era, where servers do not say which call they ask about.
   */
  readonly callSignal?: AbortSignal | undefined;
}

/** What a handler for URL elicitation gets as its second argument. */
export interface PageContext extends AnswerContext {
  /**
   * Resolves when the server reports that the user has finished with the opened page. Never rejects. May never resolve: only servers of
   * 2025-11-25 can report it, and need not. So let the user continue without it.
   */
  readonly completed: Promise<void>;
}

/** Answers one request from the server. The server gets a `ProtocolError` that it throws unchanged, and no details of any other error. */
export type AnswerHandler<Params, Answer, Context extends AnswerContext = AnswerContext> = (
  params: Params,
  context: Context,
) => Answer | Promise<Answer>;

/** Handlers for the two modes of elicitation. The client declares each mode that has a handler. */
export interface ElicitationOptions {
  /**
   * Handles form elicitation: shows the user the fields of `requestedSchema` (see `describeForm` of `@mortise/client/host`). Must say which
   * server asks (`serverInfo`), and let the user edit, decline and cancel. The client fills in the defaults of required fields that the
   * answer lacks. An answer that does not fit the schema is not sent: the call rejects with a `TypeError` (in the legacy era `onError` gets
   * it). `describeForm(...).check` finds the problems before.
   */
  readonly form?: AnswerHandler<ElicitRequestFormParams, ElicitResult> | undefined;
  /**
   * Asks the user whether to open a page, and opens it in the user's browser only after consent. The answer `accept` means that consent.
   * Must show the full address (it is ASCII; `describePage` of `@mortise/client/host` lists warnings) and must not fetch it. Not called for
   * addresses that `urlPolicy` refuses. Since 2025-11-25.
   */
  readonly url?: AnswerHandler<ElicitRequestURLParams, ElicitResult, PageContext> | undefined;
  /** Decides which web pages a server may ask the user to open. @default https on public hosts; also this machine, for a server on it */
  readonly urlPolicy?: UrlPolicy | undefined;
}

/** Handlers for the server's requests. The client declares the capability of each handler that is given. */
export interface AnswerOptions {
  /** Handles elicitation: asks the user for input. A single function handles forms only. @default none: the capability is not declared */
  readonly elicitation?: AnswerHandler<ElicitRequestFormParams, ElicitResult> | ElicitationOptions | undefined;
  /**
   * Handles sampling: calls a language model for the server. Must respect `maxTokens`. `withApproval` of `@mortise/client/host` asks the
   * user before and after, `selectModel` chooses a model. A handler that supports `tools` also needs the option
   * `capabilities: { sampling: { tools: {} } }`.
   *
   * @default none: the capability is not declared
   * @deprecated since 2026-07-28: servers call a model provider's API themselves.
   */
  readonly sampling?: AnswerHandler<CreateMessageRequestParams, CreateMessageResult> | undefined;
  /**
   * The folders that servers should work in, as `file://` URIs.
   *
   * @deprecated since 2026-07-28: pass them as tool arguments, resource URIs or configuration.
   * @default none: the capability is not declared
   */
  readonly roots?: readonly Root[] | AnswerHandler<JsonObject, readonly Root[]> | undefined;
  /** How many elicitation requests the client answers in one minute, and how many sampling requests. @default 60 of each */
  readonly asksPerMinute?: number | undefined;
}

export const ELICITATION_OPTIONS: OptionTable<ElicitationOptions> = {
  form: 'function',
  url: 'function',
  urlPolicy: 'object',
};

/**
 * Checks a handler's answer and returns it unchanged.
 *
 * @param asked The params. If they ask for a task, the answer may be one.
 * @throws {TypeError} The answer is not valid for this method.
 */
export function checkAnswer<Answer extends JsonObject>(method: string, answer: Answer, asked: JsonObject = {}): Answer {
  const problem = asked['task'] !== undefined && isJsonObject(answer['task']) ? undefined : checkClientResult(method, answer);
  if (problem === undefined) return answer;
  throw new TypeError(`the handler of "${method}" returned an invalid answer: ${problem}`);
}
