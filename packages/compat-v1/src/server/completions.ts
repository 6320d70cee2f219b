/** Completes the arguments of prompts and the variables of resource templates. */

import { type CompleteRequestParams, ErrorCode, McpError, type Result } from '../types.ts';
import { getCompleter } from './completable.ts';
import { completableOf, type Prompts } from './prompts.ts';
import type { Resources } from './resources.ts';
import { getObjectShape } from './zod-compat.ts';

/** How many values one answer may hold. */
const MAX_VALUES = 100;
const NOTHING = { completion: { values: [], hasMore: false } };

type Completer = (value: string, context?: CompleteRequestParams['context']) => unknown[] | Promise<unknown[]>;

/** @throws {McpError} There is no such prompt or template. */
export async function complete(params: CompleteRequestParams, prompts: Prompts, resources: Resources): Promise<Result> {
  const { ref, argument, context } = params;
  const completer = ref.type === 'ref/prompt' ? ofPrompt(prompts, ref.name, argument.name) : ofTemplate(resources, ref.uri, argument.name);
  if (!completer) return NOTHING;
  const values = await completer(argument.value, context);
  return { completion: { values: values.slice(0, MAX_VALUES), total: values.length, hasMore: values.length > MAX_VALUES } };
}

function ofPrompt(prompts: Prompts, name: string, argument: string): Completer | undefined {
  const { argsSchema } = prompts.find(name);
  const field = completableOf(getObjectShape(argsSchema)?.[argument]);
  return field && (getCompleter(field) as Completer | undefined);
}

function ofTemplate({ fixed, templates }: Resources, uri: string, variable: string): Completer | undefined {
  const template = Object.values(templates.all).find(({ resourceTemplate }) => resourceTemplate.uriTemplate.toString() === uri);
  if (template) return template.resourceTemplate.completeCallback(variable) as Completer | undefined;
  // An address without variables has nothing to complete.
  if (fixed.find(uri)) return undefined;
  throw new McpError(ErrorCode.InvalidParams, `Resource template ${uri} not found`);
}
