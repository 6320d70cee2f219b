/** `ctx.sample`, `ctx.listRoots` and `ctx.sendRequest`: questions that need no schema of their own. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallFacts } from '../call-facts.ts';
import type { AskOptions } from '../context.ts';
import { InvalidAnswerError } from '../errors.ts';
import { toAskOptions } from './ask-options.ts';
import { prepareAsk } from './prepare-ask.ts';
import { checkSamplingAnswer } from './sampling-rules.ts';

/** @throws {InvalidAskError} {InvalidAnswerError} and whatever `HandlerRun.ask` rejects with. */
export async function askClient(facts: CallFacts, method: string, params?: JsonObject, options?: AskOptions): Promise<JsonObject> {
  const ask = prepareAsk({ method, ...(params ? { params } : {}), ...toAskOptions(options) }, facts);
  const answer = await facts.run.ask(ask);
  const problem = method === 'sampling/createMessage' ? checkSamplingAnswer(ask.params ?? {}, answer) : undefined;
  if (problem !== undefined) throw new InvalidAnswerError(`The client's answer does not fit: ${problem}`);
  return answer;
}
