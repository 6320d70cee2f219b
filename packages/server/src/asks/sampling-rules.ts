/** What a conversation must look like before a client's model is asked to go on with it. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Tool } from '@mortise/protocol';
import { checkServerParams, hasCapability } from '@mortise/protocol/checks';
import type { JsonSchemaValidator } from '@mortise/protocol/contracts';
import type { CallFacts } from '../call-facts.ts';
import { InvalidAskError } from '../errors.ts';
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
 * Checks the params of `sampling/createMessage`. `includeContext` is left out where the client does not say that it honours it.
 *
 * @throws {InvalidAskError} Naming the message that breaks a rule.
 * @see 2026-07-28 client/sampling#message-content-constraints
 */
export function prepareSampling(params: JsonObject, { revision, client }: Pick<CallFacts, 'revision' | 'client'>): JsonObject {
  const problem = checkServerParams('sampling/createMessage', params) ?? checkTools(params['messages'] as unknown as readonly Message[]);
  if (problem !== undefined) throw new InvalidAskError(`The client's model cannot be asked: ${problem}`);
  const { includeContext, ...rest } = params;
  if (includeContext === undefined || includeContext === 'none') return params;
  const isAsked = revision.clientCapabilities.has('sampling.context');
  return isAsked && !hasCapability(client.capabilities, 'sampling.context') ? rest : params;
}

/**
 * Checks what tools gave against what they say that they give.
 *
 * @throws {InvalidAskError} Naming the tool.
 * @see 2026-07-28 schema#toolresultcontent
 */
export async function checkToolOutputs(params: JsonObject, validator: JsonSchemaValidator | undefined): Promise<void> {
  const { messages, tools } = params as unknown as { readonly messages: readonly Message[]; readonly tools?: readonly Tool[] };
  const blocks = messages.flatMap(blocksOf);
  for (const { type, toolUseId, structuredContent } of blocks) {
    if (type !== 'tool_result' || structuredContent === undefined) continue;
    const name = blocks.find((block) => block.type === 'tool_use' && block.id === toolUseId)?.name;
    const outputSchema = tools?.find((tool) => tool.name === name)?.outputSchema;
    if (!outputSchema) continue;
    const adapter = adaptJsonSchema(outputSchema, { purpose: 'tool output', name: String(name) }, validator);
    const outcome = await adapter.validate(structuredContent);
    if (!('issues' in outcome)) continue;
    const told = describeIssues(outcome.issues, {
      owner: `tool "${name}"`,
      part: 'structuredContent field',
      value: structuredContent,
      showValues: false,
    });
    throw new InvalidAskError(`The client's model cannot be told: ${told}`);
  }
}

/** Whether there is anything for `checkToolOutputs` to check. */
export function hasToolOutputs({ tools, messages }: JsonObject): boolean {
  return (
    Array.isArray(tools) &&
    tools.some((tool: JsonValue) => isJsonObject(tool) && tool['outputSchema'] !== undefined) &&
    (messages as unknown as readonly Message[]).some((message) => blocksOf(message).some((block) => block.structuredContent !== undefined))
  );
}

/** The answer must keep to the tools that the question allowed. @returns What is wrong. */
export function checkSamplingAnswer(params: JsonObject, answer: JsonObject): string | undefined {
  const { toolChoice, tools } = params;
  const mode: JsonValue | undefined = isJsonObject(toolChoice) ? toolChoice['mode'] : undefined;
  const mayUse = Array.isArray(tools) && tools.length > 0 && mode !== 'none';
  const uses = blocksOf(answer as unknown as Message).some(({ type }) => type === 'tool_use');
  return uses && !mayUse ? 'the model used a tool, though none was allowed' : undefined;
}

/** The tool uses of the message before, that this one has to answer. */
function checkTools(messages: readonly Message[]): string | undefined {
  let open: ReadonlySet<string | undefined> = new Set();
  const known = new Set<string | undefined>();
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const reason = checkMessage(message.role, blocks, open, known);
    if (reason !== undefined) return `messages[${index}] ${reason}`;
    open = new Set(blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id));
    for (const id of open) known.add(id);
  }
  return open.size === 0 ? undefined : `messages ends with a tool_use (${[...open].join(', ')}) that has no tool_result`;
}

function checkMessage(
  role: string,
  blocks: readonly Block[],
  open: ReadonlySet<string | undefined>,
  known: ReadonlySet<string | undefined>,
): string | undefined {
  const results = blocks.filter(({ type }) => type === 'tool_result');
  if (results.length > 0 && role !== 'user') return 'has a tool_result, which only a user message may have';
  if (results.length > 0 && results.length < blocks.length)
    return 'mixes tool_result with other content: give the results a message of their own';
  if (role !== 'assistant' && blocks.some(({ type }) => type === 'tool_use'))
    return 'has a tool_use, which only an assistant message may have';
  const unknown = results.find(({ toolUseId }) => !known.has(toolUseId));
  if (unknown) return `answers the tool use "${unknown.toolUseId}", which no message before it has`;
  const answered = new Set(results.map(({ toolUseId }) => toolUseId));
  const missing = [...open].find((id) => !answered.has(id));
  return missing === undefined ? undefined : `must answer the tool use "${missing}" of the message before it, with nothing in between`;
}

function blocksOf({ content }: Message): readonly Block[] {
  return Array.isArray(content) ? (content as readonly Block[]) : [content as Block];
}
