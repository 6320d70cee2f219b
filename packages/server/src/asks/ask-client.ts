/** `ctx.sample`, `ctx.listRoots` and `ctx.sendRequest`: questions that need no schema of their own. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallFacts } from '../call-facts.ts';
import type { AskOptions } from '../context.ts';
import { InvalidAnswerError } from '../errors.ts';
import { toAskOptions } from './ask-options.ts';
import { prepareAsk } from './prepare-ask.ts';
import { checkSamplingAnswer, checkToolOutputs, hasToolOutputs } from './sampling-rules.ts';

/** @throws {InvalidAskError} {InvalidAnswerError} and whatever `HandlerRun.ask` rejects with. */
export async function askClient(facts: CallFacts, method: string, params?: JsonObject, options?: AskOptions): Promise<JsonObject> {
  const ask = prepareAsk({ method, ...(params ? { params } : {}), ...toAskOptions(options) }, facts);
  if (method !== 'sampling/createMessage' || !ask.params) return facts.run.ask(ask);
  if (hasToolOutputs(ask.params)) await checkToolOutputs(ask.params, facts.core.options.validator);
  const answer = await facts.run.ask(ask);
  const problem = checkSamplingAnswer(ask.params, answer);
  if (problem !== undefined) throw new InvalidAnswerError(`The client's answer does not fit: ${problem}`);
  return answer;
}
