/** Checks the messages of a sampling request before it is sent, and the client's answer to it. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { blocksOf, checkClientResult, findBrokenToolUse, findMisusedTool, hasCapability } from '@mortise/protocol/checks';
import type { CreateMessageRequestParams, CreateMessageResult, SamplingMessage } from '@mortise/protocol/model';
import type { Context } from '../context.ts';
import { AskError } from '../errors.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import { adaptJsonSchema } from '../schema/json-schema.ts';

/**
 * Checks the params of `sampling/createMessage`. Removes `includeContext` if the client does not declare support for it.
 *
 * @throws {AskError} `ERR_INVALID_ASK`, naming the message that breaks a rule.
 * @see 2026-07-28 client/sampling#message-content-constraints
 */
export function prepareSampling(params: JsonObject, { server, revision, client }: Context): JsonObject {
  const { messages, maxTokens, includeContext = 'none', ...rest } = params;
  if (!Array.isArray(messages)) throw invalid('params.messages must be an array');
  if (!Number.isSafeInteger(maxTokens)) throw invalid('params.maxTokens must be an integer');
  messages.forEach(checkMessageForm);
  const problem = findBrokenToolUse(messages as unknown as readonly SamplingMessage[]);
  if (problem !== undefined) throw invalid(problem);
  if (includeContext === 'none') return params;
  server.warnOnce(`includeContext ${JSON.stringify(includeContext)} is deprecated: leave it out, and put the context into messages`);
  const isDeclared = !revision.clientCapabilities.has('sampling.context') || hasCapability(client.capabilities, 'sampling.context');
  return isDeclared ? params : { messages, maxTokens: maxTokens as number, ...rest };
}

/**
 * Checks the tool results in the messages of a sampling request against the tools' `outputSchema`.
 *
 * @throws {AskError} `ERR_INVALID_ASK`, naming the tool.
 * @see 2026-07-28 schema#toolresultcontent
 */
export async function checkToolOutputs(params: JsonObject, { server }: Context): Promise<void> {
  const { messages, tools } = params as CreateMessageRequestParams;
  const blocks = messages.flatMap(blocksOf);
  for (const { structuredContent: value, toolUseId } of blocks) {
    const name = value === undefined ? undefined : blocks.find(({ id }) => id === toolUseId)?.['name'];
    const schema = tools?.find((tool) => tool.name === name)?.outputSchema;
    if (name === undefined || value === undefined || !schema) continue;
    const outcome = await adaptJsonSchema(schema, server.options.validator).validate(value);
    if (!('issues' in outcome)) continue;
    const about = { owner: `tool "${name}"`, part: 'structuredContent field', value, showValues: false };
    throw invalid(`a tool's result does not fit its outputSchema: ${describeIssues(outcome.issues, about)}`);
  }
}

/** @throws {AskError} `ERR_INVALID_ANSWER`: the model used a tool that the request did not allow, or none that it requires. */
export function checkSamplingAnswer(params: JsonObject, answer: JsonObject): void {
  const problem = findMisusedTool(answer as unknown as CreateMessageResult, params as CreateMessageRequestParams);
  if (problem !== undefined) throw new AskError('ERR_INVALID_ANSWER', `The client's answer does not fit: ${problem}`);
}

/** Checks one message of a sampling request by the rules for the client's answer, which has the same form. */
function checkMessageForm(message: JsonValue, index: number): void {
  const problem = isJsonObject(message) ? checkClientResult('sampling/createMessage', { ...message, model: '' }) : ' must be an object';
  if (problem !== undefined) throw invalid(`params.messages[${index}]${problem.replace(/^result/, '')}`);
}

function invalid(problem: string): AskError {
  return new AskError('ERR_INVALID_ASK', `The client's model cannot be asked: ${problem}`);
}
