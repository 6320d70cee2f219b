/** `completion/complete`: suggestions for arguments of prompts and variables of resource templates. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { MAX_COMPLETION_VALUES } from '@mortise/protocol/checks';
import type { CompleteRequestParams, Completion } from '@mortise/protocol/model';
import type { Completer, CompleteReturn } from '../completable.ts';
import type { Context } from '../context.ts';
import type { Prompts } from './prompts.ts';
import type { Resources } from './resources.ts';

const NOTHING: JsonObject = { completion: { values: [], total: 0, hasMore: false } };

/** Serves `completion/complete`: calls the completer of the named prompt argument or template variable. */
export async function complete(params: JsonObject, context: Context, prompts: Prompts, resources: Resources): Promise<JsonObject> {
  const { ref, argument, context: chosen } = params as unknown as CompleteRequestParams;
  const completer =
    ref.type === 'ref/prompt'
      ? findOfPrompt(prompts, ref.name, argument.name, context)
      : findOfTemplate(resources, ref.uri, argument.name, context);
  if (!completer) return NOTHING;
  return { completion: toCompletion(await completer(argument.value, { arguments: chosen?.arguments }, context.forHandler())) };
}

function findOfPrompt(prompts: Prompts, name: string, argument: string, context: Context): Completer | undefined {
  const prompt = prompts.get(name, context);
  requireArgument(`prompt "${prompt.key}"`, argument, prompt.argumentNames);
  return prompt.completer(argument);
}

function findOfTemplate(resources: Resources, uri: string, variable: string, context: Context): Completer | undefined {
  const item = resources.findTemplate(uri, context);
  if (!item) {
    if (resources.findResource(uri, context)) return undefined;
    throw new ProtocolError(INVALID_PARAMS, `Unknown resource template: "${uri.slice(0, 200)}"`, { uri });
  }
  requireArgument(`resource template "${item.key}"`, variable, item.template.uriTemplate.variableNames);
  return item.template.completeCallback(variable);
}

function requireArgument(owner: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const list = known.length === 0 ? 'it has none' : `it has ${known.map((each) => `"${each}"`).join(', ')}`;
  throw new ProtocolError(INVALID_PARAMS, `${owner} has no argument "${name.slice(0, 100)}": ${list}`);
}

/**
 * Makes a completion from what a completer returned: at most 100 values, with `total` and `hasMore` if values were cut off.
 *
 * @see 2026-07-28 server/utilities/completion#completion-results
 */
function toCompletion(answer: CompleteReturn): Completion {
  const { values, total, hasMore } = isList(answer) ? { values: answer, total: undefined, hasMore: undefined } : answer;
  const isCut = values.length > MAX_COMPLETION_VALUES;
  const known = total ?? (hasMore === true ? undefined : values.length);
  return {
    values: isCut ? values.slice(0, MAX_COMPLETION_VALUES) : values,
    ...(known === undefined ? {} : { total: known }),
    hasMore: isCut || (hasMore ?? (known !== undefined && known > values.length)),
  };
}

function isList(answer: CompleteReturn): answer is readonly string[] {
  return Array.isArray(answer);
}
