/** Requests that the server answers by asking back: rounds of `input_required`, and in 2025-11-25 pages to open first (-32042). */

import { type Clock, type JsonObject, ProtocolError, type RemoteError } from '@mortise/jsonrpc-core';
import { abortable, linkSignals } from '@mortise/jsonrpc-core/connection';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask } from '@mortise/protocol/contracts';
import type { ElicitRequestURLParams } from '@mortise/protocol/model';
import { hasCapability } from '@mortise/protocol/checks';
import type { Answers } from './answers/answers.ts';
import { InputRequiredError } from './errors.ts';

/** How often one request may be asked back. */
const MAX_ROUNDS = 10;
/** How many questions one result may ask. */
const MAX_QUESTIONS = 100;
/** How many pages one error may name: no more than a person would look at. */
const MAX_PAGES = 20;
/** How long the server may take to say that a page is done with. */
const PAGE_TIMEOUT_MS = 300_000;

/** The request that was asked back. */
export interface AskedRequest {
  readonly method: string;
  readonly signal: AbortSignal | undefined;
  /** How often it was asked back so far, this time included. */
  readonly round: number;
  readonly answers: Answers;
  readonly protocolVersion: string;
  readonly clock: Clock;
}

/**
 * Answers what an `input_required` result asks, and gives the parameters of the retry: the original ones with all answers and, only if this
 * result has one, its `requestState`, untouched.
 *
 * @throws {InputRequiredError} No handler answers such questions, a handler refused, or there were too many rounds.
 * @throws Whatever else the program's handlers throw.
 * @see 2026-07-28 basic/patterns/mrtr
 */
export async function answerInputRequired(params: JsonObject, result: JsonObject, request: AskedRequest): Promise<JsonObject> {
  const { method, round } = request;
  if (round > MAX_ROUNDS) throw new InputRequiredError(`"${method}" was asked back for input more than ${MAX_ROUNDS} times`);
  const { inputRequests, requestState } = result;
  const { inputResponses: _answered, requestState: _older, ...original } = params;
  if (inputRequests === undefined && requestState === undefined) {
    throw new InputRequiredError(`the server wants input for "${method}" but does not say which`);
  }
  const inputResponses = inputRequests === undefined ? undefined : await answerAll(inputRequests, request);
  return { ...original, ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) };
}

/** Answers all questions at once: they were asked together because none depends on another. */
async function answerAll(inputRequests: unknown, { method, answers, signal, protocolVersion }: AskedRequest): Promise<JsonObject> {
  if (!isJsonObject(inputRequests)) {
    throw new InputRequiredError(`the server wants input for "${method}" but its inputRequests are not an object`);
  }
  const entries = Object.entries(inputRequests);
  if (entries.length > MAX_QUESTIONS) {
    throw new InputRequiredError(`"${method}" wants ${entries.length} answers at once: ${MAX_QUESTIONS} are given at most`);
  }
  const asks = entries.map(([key, question]) => ({ key, ask: toAsk(method, key, question, answers) }));
  const failed = new AbortController();
  const wanted = linkSignals(signal, failed.signal);
  try {
    const all = asks.map(async ({ key, ask }) => [key, await answers.answer(ask, wanted.signal, protocolVersion)] as const);
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

function toAsk(method: string, key: string, question: unknown, answers: Answers): Ask {
  const asked = isJsonObject(question) ? question['method'] : undefined;
  if (!isJsonObject(question) || typeof asked !== 'string') {
    throw new InputRequiredError(`the input "${key}" that "${method}" wants is not a request`);
  }
  if (!answers.has(asked)) {
    throw new InputRequiredError(`"${method}" wants an answer to "${asked}", which this client does not give: set a handler for it`);
  }
  return { method: asked, params: isJsonObject(question['params']) ? question['params'] : {} };
}

/**
 * Shows the pages that error -32042 names. Resolves when the request may be sent again: the user agreed to all pages, and they are done with
 * or had their time.
 *
 * @throws {RemoteError} The error itself, where it names no page.
 * @throws {InputRequiredError} There is no handler for pages, the user did not agree, or it happened too often.
 * @see 2025-11-25 client/elicitation#url-elicitation-required-error
 */
export async function showRequiredPages(error: RemoteError, request: AskedRequest): Promise<void> {
  const { method, answers, round, protocolVersion } = request;
  const { signal = new AbortController().signal } = request;
  const pages = readPages(error);
  if (pages.length === 0) throw error;
  const fail = (why: string): InputRequiredError =>
    new InputRequiredError(`"${method}" needs the user to open a page first: ${why}`, { elicitations: pages, cause: error });
  const canShow = hasCapability(answers.capabilities, 'elicitation.url') && answers.has('elicitation/create');
  if (!canShow) throw fail('give elicitation.url to have it shown, or show it and call again');
  if (round > MAX_ROUNDS) throw fail(`this came ${MAX_ROUNDS} times`);
  const done: Promise<void>[] = [];
  for (const page of pages) {
    done.push(answers.pages.open(page.elicitationId));
    const answered = answers.answer({ method: 'elicitation/create', params: page }, signal, protocolVersion);
    const { action } = await abortable(answered, signal);
    if (action !== 'accept') throw fail(`the user said ${JSON.stringify(action)}`);
  }
  await untilDone(Promise.all(done), request.clock, signal);
}

function readPages({ data }: RemoteError): readonly ElicitRequestURLParams[] {
  const given = isJsonObject(data) ? data['elicitations'] : undefined;
  if (!Array.isArray(given)) return [];
  return given.slice(0, MAX_PAGES).flatMap((one: unknown) => {
    const isPage = isJsonObject(one) && typeof one['url'] === 'string' && typeof one['message'] === 'string';
    return isPage ? [{ ...one, mode: 'url' } as unknown as ElicitRequestURLParams] : [];
  });
}

/** A server need not say that a page is done with, so the wait ends by itself. */
async function untilDone(done: Promise<unknown>, clock: Clock, signal: AbortSignal): Promise<void> {
  let stop: () => void = () => undefined;
  const tooLong = new Promise<void>((resolve) => {
    const timer = clock.schedule(resolve, PAGE_TIMEOUT_MS, { keepAlive: true });
    stop = () => timer.cancel();
  });
  await abortable(Promise.race([done, tooLong]), signal).finally(stop);
}
