/** The rules for tool uses in sampling: in the conversation that a server sends, and in what the model answers. */

import type { CreateMessageRequestParams, SamplingMessage, SamplingMessageContentBlock } from '../model/sampling.ts';

/**
 * Finds the first tool use that is not followed by one user message with all its results and nothing else.
 *
 * @returns What is wrong with which message; undefined if nothing is.
 * @see 2026-07-28 client/sampling#message-content-constraints
 */
export function findBrokenToolUse(messages: readonly SamplingMessage[]): string | undefined {
  let used: ReadonlySet<string> = new Set();
  for (const [index, message] of messages.entries()) {
    const problem = findProblem(message, used);
    if (problem !== undefined) return `messages[${index}] ${problem}`;
    used = new Set(blocksOf(message).flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])));
  }
  const [first] = used;
  return first === undefined ? undefined : `messages ends with a tool_use (${first}) that has no tool_result`;
}

/** @param used The ids of the tool uses in the previous message. */
function findProblem(message: SamplingMessage, used: ReadonlySet<string>): string | undefined {
  const blocks = blocksOf(message);
  const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.toolUseId] : []));
  if (results.length > 0) {
    if (message.role !== 'user') return 'has a tool_result, which only a user message may have';
    if (results.length < blocks.length) return 'mixes tool_result with other content: give the results a message of their own';
    const unknown = results.find((id) => !used.has(id));
    if (unknown !== undefined) return `answers the tool use "${unknown}", which the message before it does not have`;
  }
  const answered = new Set(results);
  const missing = [...used].find((id) => !answered.has(id));
  if (missing !== undefined) return `must answer the tool use "${missing}" of the message before it, with nothing in between`;
  if (message.role !== 'assistant' && blocks.some(({ type }) => type === 'tool_use'))
    return 'has a tool_use, which only an assistant message may have';
  return undefined;
}

/**
 * Checks the model's answer against the request's `tools` and `toolChoice`.
 *
 * @returns What is wrong; undefined if nothing is.
 */
export function findMisusedTool(
  answer: Pick<SamplingMessage, 'content'>,
  { tools = [], toolChoice }: Pick<CreateMessageRequestParams, 'tools' | 'toolChoice'>,
): string | undefined {
  const usesTool = blocksOf(answer).some(({ type }) => type === 'tool_use');
  if (usesTool && (tools.length === 0 || toolChoice?.mode === 'none')) return 'the model used a tool, though none was allowed';
  return !usesTool && toolChoice?.mode === 'required' ? 'the model used no tool, though the request requires one' : undefined;
}

/** The content of a message as an array. */
export function blocksOf({ content }: Pick<SamplingMessage, 'content'>): readonly SamplingMessageContentBlock[] {
  return Array.isArray(content) ? (content as readonly SamplingMessageContentBlock[]) : [content as SamplingMessageContentBlock];
}
