/** Checks the messages of a sampling request before it is sent, and the client's answer to it. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Tool } from '@mortise/protocol';
import { checkClientResult, hasCapability } from '@mortise/protocol/checks';
import type { Context } from '../context.ts';
import { AskError } from '../errors.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import { adaptJsonSchema } from '../schema/json-schema.ts';

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly toolUseId?: string;
  readonly structuredContent?: JsonValue;
}

interface Message {
  readonly role: string;
  readonly content: Block | readonly Block[];
}

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
  checkToolBlocks(messages as unknown as readonly Message[]);
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
  const { messages, tools } = params as unknown as { readonly messages: readonly Message[]; readonly tools?: readonly Tool[] };
  const blocks = messages.flatMap(blocksOf);
  for (const { structuredContent: value, toolUseId } of blocks) {
    const name = value === undefined ? undefined : blocks.find(({ id }) => id === toolUseId)?.name;
    const schema = tools?.find((tool) => tool.name === name)?.outputSchema;
    if (name === undefined || value === undefined || !schema) continue;
    const outcome = await adaptJsonSchema(schema, server.options.validator).validate(value);
    if (!('issues' in outcome)) continue;
    const about = { owner: `tool "${name}"`, part: 'structuredContent field', value, showValues: false };
    throw invalid(`a tool's result does not fit its outputSchema: ${describeIssues(outcome.issues, about)}`);
  }
}

/** Checks the client's answer to sampling. @throws {AskError} `ERR_INVALID_ANSWER`: the model used a tool, but the request allowed none. */
export function checkSamplingAnswer({ tools, toolChoice }: JsonObject, answer: JsonObject): void {
  const mode: JsonValue | undefined = isJsonObject(toolChoice) ? toolChoice['mode'] : undefined;
  if (Array.isArray(tools) && tools.length > 0 && mode !== 'none') return;
  if (blocksOf(answer as unknown as Message).some(({ type }) => type === 'tool_use'))
    throw new AskError('ERR_INVALID_ANSWER', "The client's answer does not fit: the model used a tool, but the request allowed none");
}

/** Checks one message of a sampling request by the rules for the client's answer, which has the same form. */
function checkMessageForm(message: JsonValue, index: number): void {
  const problem = isJsonObject(message) ? checkClientResult('sampling/createMessage', { ...message, model: '' }) : ' must be an object';
  if (problem !== undefined) throw invalid(`params.messages[${index}]${problem.replace(/^result/, '')}`);
}

/** Checks that each message with tool uses is followed by a message with only their results. */
function checkToolBlocks(messages: readonly Message[]): void {
  let used: readonly (string | undefined)[] = [];
  for (const [index, message] of messages.entries()) {
    const problem = findToolProblem(message, used);
    if (problem !== undefined) throw invalid(`messages[${index}] ${problem}`);
    used = blocksOf(message).flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
  }
  if (used.length > 0) throw invalid(`messages ends with a tool_use (${used.join(', ')}) that has no tool_result`);
}

/** Returns what is wrong with a message's tool uses and results, if anything. @param used The ids of the previous message's tool uses. */
function findToolProblem(message: Message, used: readonly (string | undefined)[]): string | undefined {
  const blocks = blocksOf(message);
  const results = blocks.filter(({ type }) => type === 'tool_result').map(({ toolUseId }) => toolUseId);
  if (results.length > 0) {
    if (message.role !== 'user') return 'has a tool_result, which only a user message may have';
    if (results.length < blocks.length) return 'mixes tool_result with other content: give the results a message of their own';
    const unknown = results.find((id) => !used.includes(id));
    if (unknown !== undefined) return `answers the tool use "${unknown}", which the message before it does not have`;
  }
  const missing = used.find((id) => !results.includes(id));
  if (missing !== undefined) return `must answer the tool use "${missing}" of the message before it, with nothing in between`;
  if (message.role !== 'assistant' && blocks.some(({ type }) => type === 'tool_use'))
    return 'has a tool_use, which only an assistant message may have';
  return undefined;
}

function blocksOf({ content }: Message): readonly Block[] {
  return Array.isArray(content) ? (content as readonly Block[]) : [content as Block];
}

function invalid(problem: string): AskError {
  return new AskError('ERR_INVALID_ASK', `The client's model cannot be asked: ${problem}`);
}
