/** `prompts/get`: loaded when somebody first gets a prompt. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { createContext } from '../call-context.ts';
import type { RequestCall } from '../request-call.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import { normalizePromptResult } from './normalize-prompt.ts';
import type { Prompts } from './prompts.ts';

/** @throws {ProtocolError} -32602: there is no such prompt for this caller, or its arguments do not fit. */
export async function getPrompt(prompts: Prompts, params: JsonObject, call: RequestCall): Promise<JsonObject> {
  const name = params['name'] as string;
  const item = prompts.find(name, call);
  if (!item) throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: "${name.slice(0, 128)}"`);
  const args = (params['arguments'] ?? {}) as JsonObject;
  const outcome = await item.checkArguments(args);
  if ('issues' in outcome)
    throw new ProtocolError(
      INVALID_PARAMS,
      describeIssues(outcome.issues, { owner: `prompt "${item.key}"`, part: 'argument', value: args }),
    );
  const ctx = createContext(call);
  const value = await (item.args ? item.handler(outcome.value, ctx) : item.handler(ctx));
  return normalizePromptResult(value, item.key, item.description);
}
