/** Handles results that ask for input (`input_required`, modern era), and the error that asks to open pages (-32042, 2025-11-25). */

import { type JsonObject, ProtocolError, type RemoteError } from '@mortise/jsonrpc-core';
import { abortable, linkSignals } from '@mortise/jsonrpc-core/connection';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask } from '@mortise/protocol/contracts';
import type { ElicitRequestURLParams } from '@mortise/protocol/model';
import type { Answers, AskingSession } from './answers/answers.ts';
import { InputRequiredError } from './errors.ts';

/** How many `input_required` results the client answers for one request. */
const MAX_ROUNDS = 10;
/** How many input requests one `input_required` result may have. */
const MAX_QUESTIONS = 100;
/** How many pages one error -32042 may list. */
const MAX_PAGES = 20;

/** A request to which the server responded with `input_required`. */
export interface AskedRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly signal: AbortSignal | undefined;
  /** Aborts when the client closes. */
  readonly closing: AbortSignal;
  /** The number of `input_required` results for this request so far, this one included. */
  readonly round: number;
  readonly session: AskingSession;
}

/**
 * Answers the input requests of an `input_required` result and returns the parameters of the retry: the original ones, all answers and
 * the unchanged `requestState`, if this result has one.
 *
 * @throws {InputRequiredError} An input request has no handler or is malformed, a handler refused, or the server asked too often.
 * @throws Other errors of the program's handlers, unchanged.
 * @see 2026-07-28 basic/patterns/mrtr
 */
export async function answerInputRequired(request: AskedRequest, result: JsonObject, answers: Answers): Promise<JsonObject> {
  const { method, round } = request;
  if (round > MAX_ROUNDS)
    throw new InputRequiredError(`the server asked for input more than ${MAX_ROUNDS} times for one "${method}" request`);
  const { inputRequests, requestState } = result;
  const { inputResponses: _answered, requestState: _older, ...original } = request.params;
  if (inputRequests === undefined && requestState === undefined) {
    throw new InputRequiredError(`the server asks for input for "${method}", but sent neither "inputRequests" nor "requestState"`);
  }
  const inputResponses = inputRequests === undefined ? undefined : await answerAll(inputRequests, request, answers);
  return { ...original, ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) };
}

/** Answers all input requests of a result in parallel, because none depends on another. */
async function answerAll(inputRequests: unknown, request: AskedRequest, answers: Answers): Promise<JsonObject> {
  const { method, signal, closing, session } = request;
  const asks = readAsks(inputRequests, request, answers);
  const failed = new AbortController();
  const wanted = linkSignals(signal, closing, failed.signal);
  try {
    const all = asks.map(async ([key, ask]) => [key, await answers.answer(ask, wanted.signal, session)] as const);
    return Object.fromEntries(await abortable(Promise.all(all), wanted.signal));
  } catch (error) {
    // Without this answer the others cannot be sent.
    failed.abort(error);
    if (!(error instanceof ProtocolError)) throw error;
    // The server cannot be sent this error, so the caller gets it.
    throw new InputRequiredError(`"${method}" needs input that this client did not give: ${error.message}`, { cause: error });
  } finally {
    wanted.dispose();
  }
}

function readAsks(inputRequests: unknown, { method, signal }: AskedRequest, answers: Answers): readonly (readonly [string, Ask])[] {
  if (!isJsonObject(inputRequests)) {
    throw new InputRequiredError(`the server asks for input for "${method}", but its inputRequests are not an object`);
  }
  const entries = Object.entries(inputRequests);
  if (entries.length > MAX_QUESTIONS) {
    throw new InputRequiredError(`the server sent ${entries.length} input requests for "${method}": the limit is ${MAX_QUESTIONS}`);
  }
  return entries.map(([key, question]) => {
    const { method: asked, params }: JsonObject = isJsonObject(question) ? question : {};
    if (typeof asked !== 'string')
      throw new InputRequiredError(`the server responded to "${method}" with an input request "${key}" that has no "method"`);
    if (!answers.has(asked)) {
      throw new InputRequiredError(`"${method}" needs an answer to "${asked}", but this client has no handler for it: set one up first`);
    }
    return [key, { method: asked, params: isJsonObject(params) ? params : {}, key, ...(signal && { callSignal: signal }) }];
  });
}

/**
 * Converts error -32042 to an `InputRequiredError` with the pages that the user must open before the request is sent again. Leaves out
 * pages that `urlPolicy` refuses. An error without pages is returned unchanged.
 *
 * @see 2025-11-25 client/elicitation#url-elicitation-required-error
 */
export function toPagesRequired(error: RemoteError, method: string, answers: Answers): Error {
  const given = isJsonObject(error.data) ? error.data['elicitations'] : undefined;
  const elicitations = (Array.isArray(given) ? given : []).slice(0, MAX_PAGES).flatMap((one: unknown) => {
    const isPage = isJsonObject(one) && typeof one['url'] === 'string' && typeof one['message'] === 'string';
    return isPage && answers.checkPage(one['url'] as string) === undefined
      ? [{ ...one, mode: 'url' } as unknown as ElicitRequestURLParams]
      : [];
  });
  if (elicitations.length === 0) return error;
  // From now on the server may report that the user has finished with a page.
  for (const { elicitationId } of elicitations) void answers.pages.open(elicitationId);
  const message = `"${method}" needs the user to open a page first: show the error's "elicitations", then call again`;
  return new InputRequiredError(message, { elicitations, cause: error });
}
