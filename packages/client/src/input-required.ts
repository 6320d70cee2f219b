/** Results by which a modern server asks for input (`input_required`), and the error by which 2025-11-25 asks for pages to be opened (-32042). */

import { type JsonObject, ProtocolError, type RemoteError } from '@mortise/jsonrpc-core';
import { abortable, linkSignals } from '@mortise/jsonrpc-core/connection';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask } from '@mortise/protocol/contracts';
import type { ElicitRequestURLParams } from '@mortise/protocol/model';
import type { Answers } from './answers/answers.ts';
import { InputRequiredError } from './errors.ts';

/** How often one request may be asked back. */
const MAX_ROUNDS = 10;
/** How many questions one result may ask. */
const MAX_QUESTIONS = 100;
/** How many pages one error may name: no more than a person would look at. */
const MAX_PAGES = 20;

/** The request for which the server wants input. */
export interface AskedRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly signal: AbortSignal | undefined;
  /** How often the server asked back so far, this time included. */
  readonly round: number;
  readonly protocolVersion: string;
}

/**
 * Answers what an `input_required` result asks, and gives the parameters of the retry: the original ones with all answers and, only if this
 * result has one, its `requestState`, untouched.
 *
 * @throws {InputRequiredError} No handler answers such questions, a handler refused, or there were too many rounds.
 * @throws Whatever else the program's handlers throw.
 * @see 2026-07-28 basic/patterns/mrtr
 */
export async function answerInputRequired(request: AskedRequest, result: JsonObject, answers: Answers): Promise<JsonObject> {
  const { method, round } = request;
  if (round > MAX_ROUNDS) throw new InputRequiredError(`"${method}" was asked back for input more than ${MAX_ROUNDS} times`);
  const { inputRequests, requestState } = result;
  const { inputResponses: _answered, requestState: _older, ...original } = request.params;
  if (inputRequests === undefined && requestState === undefined) {
    throw new InputRequiredError(`the server wants input for "${method}" but does not say which`);
  }
  const inputResponses = inputRequests === undefined ? undefined : await answerAll(inputRequests, request, answers);
  return { ...original, ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) };
}

/** Answers all questions at once: they were asked together because none depends on another. */
async function answerAll(inputRequests: unknown, request: AskedRequest, answers: Answers): Promise<JsonObject> {
  const { method, signal, protocolVersion } = request;
  const asks = readAsks(inputRequests, method, answers);
  const failed = new AbortController();
  const wanted = linkSignals(signal, failed.signal);
  try {
    const all = asks.map(async ([key, ask]) => [key, await answers.answer(ask, wanted.signal, protocolVersion)] as const);
    return Object.fromEntries(await abortable(Promise.all(all), wanted.signal));
  } catch (error) {
    // One answer that fails makes the others useless.
    failed.abort(error);
    if (!(error instanceof ProtocolError)) throw error;
    // No response could carry the error to the server, so the caller gets it.
    throw new InputRequiredError(`the input that "${method}" wants is not given: ${error.message}`, { cause: error });
  } finally {
    wanted.dispose();
  }
}

function readAsks(inputRequests: unknown, method: string, answers: Answers): readonly (readonly [string, Ask])[] {
  if (!isJsonObject(inputRequests)) {
    throw new InputRequiredError(`the server wants input for "${method}" but its inputRequests are not an object`);
  }
  const entries = Object.entries(inputRequests);
  if (entries.length > MAX_QUESTIONS) {
    throw new InputRequiredError(`"${method}" wants ${entries.length} answers at once: ${MAX_QUESTIONS} are given at most`);
  }
  return entries.map(([key, question]) => {
    const { method: asked, params }: JsonObject = isJsonObject(question) ? question : {};
    if (typeof asked !== 'string') throw new InputRequiredError(`the input "${key}" that "${method}" wants is not a request`);
    if (!answers.has(asked)) {
      throw new InputRequiredError(`"${method}" wants an answer to "${asked}", which this client does not give: set a handler for it`);
    }
    return [key, { method: asked, params: isJsonObject(params) ? params : {} }];
  });
}

/**
 * Gives error -32042 a class that names the pages to open before the call is made again. Pages that are not safe to show are left out; an
 * error without any is given back as it is.
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
  // The server may say at any time from now on that the user has finished with one.
  for (const { elicitationId } of elicitations) void answers.pages.open(elicitationId);
  const message = `"${method}" needs the user to open a page first: show the error's "elicitations", then call again`;
  return new InputRequiredError(message, { elicitations, cause: error });
}
