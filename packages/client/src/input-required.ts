/** Results that ask: answers what the server wants to know, and asks the same again with the answers. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { abortable } from '@mortise/jsonrpc-core/connection';
import type { Tracer } from '@mortise/protocol/contracts';
import type { Answers } from './answers.ts';
import { InputRequiredError } from './errors.ts';

/** How many questions one result may ask. */
const MAX_QUESTIONS = 100;

/** What answering needs beside the result. */
export interface InputRound {
  readonly method: string;
  readonly answers: Answers;
  readonly signal: AbortSignal | undefined;
  /** How many results have asked so far, this one included. */
  readonly round: number;
  readonly maxRounds: number;
  /** Opens a span around each answer, where the program has one. */
  readonly tracer: Tracer | undefined;
  readonly protocolVersion: string;
}

/**
 * Gives the parameters of the retry: the original ones with all answers and, only where this result has one, its `requestState`,
 * untouched.
 *
 * @param params The original parameters.
 * @throws {InputRequiredError} `ERR_INPUT_REQUIRED`: nobody answers such questions here, or there were too many rounds.
 * @throws Whatever the program's handlers throw, a refusal (`ProtocolError`) as the cause of `ERR_INPUT_REQUIRED`: the request then ends, for
 *   there is no way to tell the server.
 * @see 2026-07-28 basic/patterns/mrtr
 */
export async function answerInputRequired(params: JsonObject, result: JsonObject, round: InputRound): Promise<JsonObject> {
  const { method, maxRounds } = round;
  if (round.round > maxRounds) {
    throw new InputRequiredError(
      `"${method}" was asked back for input more than ${maxRounds} times: raise maxInputRounds if that is right`,
    );
  }
  const { inputRequests, requestState } = result;
  const { inputResponses: _answered, requestState: _older, ...original } = params;
  if (inputRequests === undefined && requestState === undefined) {
    throw new InputRequiredError(`the server wants input for "${method}" but does not say which`);
  }
  const inputResponses = inputRequests === undefined ? undefined : await answerAll(inputRequests, round);
  return { ...original, ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) };
}

/** Answers all questions at once: they were asked together because none depends on another. */
async function answerAll(inputRequests: unknown, { method, answers, signal, tracer, protocolVersion }: InputRound): Promise<JsonObject> {
  if (!isJsonObject(inputRequests))
    throw new InputRequiredError(`the server wants input for "${method}" but its inputRequests are not an object`);
  const entries = Object.entries(inputRequests);
  if (entries.length > MAX_QUESTIONS)
    throw new InputRequiredError(`"${method}" wants ${entries.length} answers at once: ${MAX_QUESTIONS} are given at most`);
  const questions = entries.map(([key, question]) => ({ key, question: toQuestion(method, key, question, answers) }));
  const tracing = tracer ? await import('./tracing.ts') : undefined;
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const all = questions.map(async ({ key, question }) => {
      const context = { method: question.method, signal: controller.signal };
      const ask = (): Promise<JsonObject> => answers.answer(question.method, question.params, context);
      const asked =
        tracing && tracer ? tracing.traceAnswer(tracer, { method: question.method, protocolVersion }, metaOf(question.params), ask) : ask();
      const answer = await asked.catch((error: unknown) => refuse(method, error));
      return [key, answer] as const;
    });
    return Object.fromEntries(await abortable(Promise.all(all), controller.signal));
  } catch (error) {
    // One answer that fails makes the others useless.
    controller.abort(error);
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** The trace that the question belongs to, where the server says it. */
function metaOf({ _meta }: JsonObject): JsonObject | undefined {
  return isJsonObject(_meta) ? _meta : undefined;
}

/** There is no response that could carry an error, so it is the caller who learns of it. */
function refuse(method: string, error: unknown): never {
  if (!(error instanceof ProtocolError)) throw error;
  throw new InputRequiredError(`the input that "${method}" wants is not given: ${error.message}`, { cause: error });
}

function toQuestion(
  method: string,
  key: string,
  question: unknown,
  answers: Answers,
): { readonly method: string; readonly params: JsonObject } {
  const asked = isJsonObject(question) ? question['method'] : undefined;
  if (!isJsonObject(question) || typeof asked !== 'string')
    throw new InputRequiredError(`the input "${key}" that "${method}" wants is not a request`);
  if (!answers.has(asked)) {
    throw new InputRequiredError(`"${method}" wants an answer to "${asked}", which this client does not give: set a handler for it`);
  }
  const { params } = question;
  return { method: asked, params: isJsonObject(params) ? params : {} };
}
