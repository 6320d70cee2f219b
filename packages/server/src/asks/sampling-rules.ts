/** What a conversation must look like before a client's model is asked to go on with it. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Tool } from '@mortise/protocol';
import { checkClientResult, hasCapability } from '@mortise/protocol/checks';
import type { JsonSchemaValidator } from '@mortise/protocol/contracts';
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
 * Checks the params of `sampling/createMessage`. `includeContext` is left out where the client does not say that it honours it.
 *
 * @throws {AskError} `ERR_INVALID_ASK` Naming the message that breaks a rule.
 * @see 2026-07-28 client/sampling#message-content-constraints
 */
export function prepareSampling(params: JsonObject, { revision, client }: Pick<Context, 'revision' | 'client'>): JsonObject {
  const problem = checkForm(params) ?? checkTools(params['messages'] as unknown as readonly Message[]);
  if (problem !== undefined) throw new AskError('ERR_INVALID_ASK', `The client's model cannot be asked: ${problem}`);
  const { includeContext, ...rest } = params;
  if (includeContext === undefined || includeContext === 'none') return params;
  const isAsked = revision.clientCapabilities.has('sampling.context');
  return isAsked && !hasCapability(client.capabilities, 'sampling.context') ? rest : params;
}

type Test = (value: JsonValue) => boolean;

const isText: Test = (value) => typeof value === 'string';
const isNumber: Test = (value) => typeof value === 'number';
const isObject: Test = isJsonObject;
const isListOf =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(test);

/** The params beside the messages, by what they must be. A client may answer what is malformed with anything. */
const FIELDS: Readonly<Record<string, readonly [what: string, test: Test]>> = {
  maxTokens: ['an integer', Number.isSafeInteger],
  systemPrompt: ['a string', isText],
  temperature: ['a number', isNumber],
  includeContext: ['one of "none", "thisServer", "allServers"', (value) => ['none', 'thisServer', 'allServers'].includes(value as string)],
  stopSequences: ['an array of strings', isListOf(isText)],
  metadata: ['an object', isObject],
  modelPreferences: ['an object of hints and priorities', arePreferences],
  tools: [
    'an array of tools with a name and an inputSchema',
    isListOf((tool) => isJsonObject(tool) && isText(tool['name'] ?? null) && isObject(tool['inputSchema'] ?? null)),
  ],
  toolChoice: [
    'an object whose mode is "auto", "required" or "none"',
    (value) => isJsonObject(value) && ['auto', 'required', 'none', undefined].includes(value['mode'] as string | undefined),
  ],
};

function arePreferences(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { hints = [], ...priorities } = value;
  const given = ['costPriority', 'speedPriority', 'intelligencePriority'].map((name) => priorities[name] ?? 0);
  return given.every(isNumber) && isListOf((hint) => isJsonObject(hint) && isText(hint['name'] ?? ''))(hints);
}

/** A message has the form of a model's answer, whose check every server has. */
function checkForm(params: JsonObject): string | undefined {
  for (const [name, [what, test]] of Object.entries(FIELDS)) {
    const value = params[name];
    if (value === undefined ? name === 'maxTokens' : !test(value)) return `params.${name} must be ${what}`;
  }
  const { messages } = params;
  if (!Array.isArray(messages)) return 'params.messages must be an array';
  for (const [index, message] of messages.entries()) {
    const problem = isJsonObject(message) ? checkClientResult('sampling/createMessage', { ...message, model: '' }) : ' must be an object';
    if (problem !== undefined) return `params.messages[${index}]${problem.replace(/^result/, '')}`;
  }
  return undefined;
}

/**
 * Checks what tools gave against what they say that they give.
 *
 * @throws {AskError} `ERR_INVALID_ASK` Naming the tool.
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
    const adapter = adaptJsonSchema(outputSchema, validator);
    const outcome = await adapter.validate(structuredContent);
    if (!('issues' in outcome)) continue;
    const problem = describeIssues(outcome.issues, {
      owner: `tool "${name}"`,
      part: 'structuredContent field',
      value: structuredContent,
      showValues: false,
    });
    throw new AskError('ERR_INVALID_ASK', `What the tools gave does not fit: ${problem}`);
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
