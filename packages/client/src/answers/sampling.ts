/** Answers `sampling/createMessage` by the program's handler. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  SamplingMessage,
  SamplingMessageContentBlock,
} from '@mortise/protocol/model';
import { type AnswerContext, type AnswerOptions, checkAnswer } from './answer-options.ts';

/**
 * Calls the program's sampling handler and checks what it returns.
 *
 * @param params Already checked against the shape of `sampling/createMessage`.
 * @param takesTools Whether the client declares `sampling.tools`.
 * @throws {ProtocolError} -32602: the request has tools that the client does not support, or a tool use without its result.
 * @throws {TypeError} The handler's result is not a valid sampling result, or its tool use contradicts `toolChoice`.
 */
export async function sample(
  handler: NonNullable<AnswerOptions['sampling']>,
  params: JsonObject,
  context: AnswerContext,
  takesTools: boolean,
): Promise<CreateMessageResult> {
  const asked = params as CreateMessageRequestParams;
  const usesTools = asked.tools !== undefined || asked.toolChoice !== undefined;
  const problem = usesTools && !takesTools ? 'sampling with tools is not supported' : findBrokenToolUse(asked.messages);
  if (problem !== undefined) throw new ProtocolError(INVALID_PARAMS, `Invalid params: ${problem}`);
  const result = checkAnswer(context.method, await handler(asked, context));
  const misuse = findMisusedTool(result, asked);
  if (misuse !== undefined) throw new TypeError(misuse);
  return result;
}

function findMisusedTool(result: CreateMessageResult, { tools = [], toolChoice }: CreateMessageRequestParams): string | undefined {
  const usesTool = blocksOf(result).some(({ type }) => type === 'tool_use');
  const mayUse = tools.length > 0 && toolChoice?.mode !== 'none';
  if (usesTool && !mayUse) return 'the model used a tool, but the server allows none';
  return !usesTool && toolChoice?.mode === 'required' ? 'the model used no tool, but the server requires one' : undefined;
}

/**
 * Describes the first tool use that is not followed by one message with all its results and nothing else; undefined if there is none.
 *
 * @see 2025-11-25 client/sampling#message-content-constraints
 */
function findBrokenToolUse(messages: readonly SamplingMessage[]): string | undefined {
  let open: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.toolUseId] : []));
    if (results.length > 0 && results.length < blocks.length) return `messages[${index}] mixes tool results with other content`;
    const missing = open.find((id) => !results.includes(id));
    if (missing !== undefined) return `messages[${index}] has no result for the tool use ${JSON.stringify(missing)}`;
    open = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  }
  return open.length === 0 ? undefined : 'messages ends with a tool use that has no result';
}

function blocksOf({ content }: SamplingMessage): readonly SamplingMessageContentBlock[] {
  return Array.isArray(content) ? (content as readonly SamplingMessageContentBlock[]) : [content as SamplingMessageContentBlock];
}
