/** The rules of sampling with tools. */

import type { ClientCapabilities, CreateMessageRequestParams, SamplingMessage, SamplingMessageContentBlock } from '../types.ts';

/** @throws {Error} The client has no tools in sampling, or the results of tools do not fit their calls. */
export function assertToolMessages(
  { tools, toolChoice, messages }: CreateMessageRequestParams,
  capabilities: ClientCapabilities | undefined,
): void {
  if ((tools || toolChoice) && !capabilities?.sampling?.tools) throw new Error('Client does not support sampling tools capability.');
  const [before, last] = [blocksOf(messages.at(-2)), blocksOf(messages.at(-1))];
  const calls = idsOf(before, 'tool_use');
  const results = idsOf(last, 'tool_result');
  if (results.size > 0) {
    if (last.some(({ type }) => type !== 'tool_result'))
      throw new Error('The last message must contain only tool_result content if any is present');
    if (calls.size === 0) throw new Error('tool_result blocks are not matching any tool_use from the previous message');
  }
  const fit = calls.size === results.size && [...calls].every((id) => results.has(id));
  if (calls.size > 0 && !fit) throw new Error('ids of tool_result blocks and tool_use blocks from previous message do not match');
}

function blocksOf(message: SamplingMessage | undefined): readonly SamplingMessageContentBlock[] {
  if (!message) return [];
  return Array.isArray(message.content) ? message.content : [message.content];
}

function idsOf(blocks: readonly SamplingMessageContentBlock[], type: 'tool_use' | 'tool_result'): ReadonlySet<string> {
  return new Set(
    blocks.flatMap((block) => {
      if (block.type !== type) return [];
      return block.type === 'tool_use' ? [block.id] : block.type === 'tool_result' ? [block.toolUseId] : [];
    }),
  );
}
