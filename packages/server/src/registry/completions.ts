/** `completion/complete`: suggestions for arguments of prompts and variables of templates. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { CompleteRequestParams } from '@mortise/protocol/model';
import { createContext } from '../call-context.ts';
import type { Completer } from '../completable.ts';
import type { RequestCall } from '../request-call.ts';
import { toCompletion } from '../to-completion.ts';
import type { Prompts } from './prompts.ts';
import type { Resources } from './resources.ts';

const NOTHING: JsonObject = { completion: { values: [], total: 0, hasMore: false } };

/** Answers `completion/complete`. */
export async function complete(params: JsonObject, call: RequestCall, prompts: Prompts, resources: Resources): Promise<JsonObject> {
  const { ref, argument, context } = params as unknown as CompleteRequestParams;
  const completer =
    ref.type === 'ref/prompt'
      ? findOfPrompt(prompts, ref.name, argument.name, call)
      : findOfTemplate(resources, ref.uri, argument.name, call);
  if (!completer) return NOTHING;
  const answer = await completer(argument.value, { arguments: context?.arguments }, createContext(call));
  return { completion: toCompletion(answer) };
}

function findOfPrompt(prompts: Prompts, name: string, argument: string, call: RequestCall): Completer | undefined {
  const prompt = prompts.find(name, call);
  if (!prompt) throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: "${name.slice(0, 128)}"`);
  if (!prompt.argumentNames.includes(argument)) throw unknownArgument(`prompt "${prompt.key}"`, argument, prompt.argumentNames);
  return prompt.completer(argument);
}

function findOfTemplate(resources: Resources, uri: string, variable: string, call: RequestCall): Completer | undefined {
  const item = resources.findTemplate(uri, call);
  if (!item) {
    if (resources.hasResource(uri, call)) return undefined;
    throw new ProtocolError(INVALID_PARAMS, `Unknown resource template: "${uri.slice(0, 200)}"`, { uri });
  }
  const { variableNames } = item.template.uriTemplate;
  if (!variableNames.includes(variable)) throw unknownArgument(`resource template "${item.key}"`, variable, variableNames);
  return item.template.completeCallback(variable);
}

function unknownArgument(owner: string, name: string, known: readonly string[]): ProtocolError {
  const list = known.length === 0 ? 'it has none' : `it has ${known.map((each) => `"${each}"`).join(', ')}`;
  return new ProtocolError(INVALID_PARAMS, `${owner} has no argument "${name.slice(0, 100)}": ${list}`);
}
