/** Asks the user's model what a server wants to know, with the user's leave before and after. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  SamplingMessage,
  SamplingMessageContentBlock,
} from '@mortise/protocol/model';
import type { AnswerContext, Approval, SamplingHandler } from '../answers.ts';
import { InvalidAnswerError } from '../errors.ts';

/** The code by which a legacy server learns that the user said no. */
const REJECTED = -1;

/**
 * Asks the model by the program's handler.
 *
 * @param take Counts one question. Throws where there were too many.
 * @throws {ProtocolError} -1: the user said no; -32602: the question cannot be asked.
 * @throws {InvalidAnswerError} What the handler gave is not what a model says.
 */
export async function sample(
  sampling: SamplingHandler,
  params: JsonObject,
  context: AnswerContext,
  take: () => void,
): Promise<CreateMessageResult> {
  const { handler, tools, approveRequest, approveResult } = sampling;
  const problem = checkQuestion(params);
  if (problem !== undefined) throw refuse(`Invalid params: ${problem}`);
  const asked = params as CreateMessageRequestParams;
  if (tools !== true && (asked.tools !== undefined || asked.toolChoice !== undefined)) throw refuse('Sampling with tools is not supported');
  const broken = findBrokenToolUse(asked.messages);
  if (broken !== undefined) throw refuse(`Invalid params: ${broken}`);
  take();
  const approved = await approve(asked, approveRequest?.(asked, context));
  // The user may allow less than the server asked for and never more.
  const sent = approved.maxTokens > asked.maxTokens ? { ...approved, maxTokens: asked.maxTokens } : approved;
  context.signal.throwIfAborted();
  const result = await handler(sent, context);
  assertResult(result, sent);
  const shown = await approve(result, approveResult?.(result, sent, context));
  if (shown !== result) assertResult(shown, sent);
  return shown;
}

/** What the user made of it; what nobody was asked about goes through. */
async function approve<T extends object>(given: T, asking: Approval<T> | Promise<Approval<T>> | undefined): Promise<T> {
  if (asking === undefined) return given;
  const verdict = await asking;
  if (verdict === true) return given;
  if (verdict === false) throw new ProtocolError(REJECTED, 'User rejected sampling request');
  if (isJsonObject(verdict)) return verdict as T;
  throw new InvalidAnswerError('approveRequest and approveResult must give true, false, or what is to be sent instead');
}

function assertResult(result: CreateMessageResult, { tools = [], toolChoice }: CreateMessageRequestParams): void {
  const problem = isJsonObject(result)
    ? (checkMessage('result', result) ?? (typeof result.model === 'string' ? undefined : 'model must be a string'))
    : 'an object';
  if (problem !== undefined)
    throw new InvalidAnswerError(`the handler of "sampling/createMessage" must give what a model says: ${problem}`);
  const mayUse = tools.length > 0 && toolChoice?.mode !== 'none';
  const uses = blocksOf(result).some(({ type }) => type === 'tool_use');
  if (uses && !mayUse) throw new InvalidAnswerError('the model used a tool, though the server allowed none');
  if (!uses && toolChoice?.mode === 'required') throw new InvalidAnswerError('the model used no tool, though the server requires one');
}

/** Written out here: the checks of `@mortise/protocol` would be loaded by every client, which this is not. */
function checkQuestion({ messages, maxTokens }: JsonObject): string | undefined {
  if (!Array.isArray(messages)) return 'messages must be an array';
  if (typeof maxTokens !== 'number') return 'maxTokens must be a number';
  for (const [index, message] of messages.entries()) {
    const problem = checkMessage(`messages[${index}]`, message);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function checkMessage(what: string, message: unknown): string | undefined {
  if (!isJsonObject(message)) return `${what} must be an object`;
  if (message['role'] !== 'user' && message['role'] !== 'assistant') return `${what}.role must be "user" or "assistant"`;
  const blocks = Array.isArray(message['content']) ? message['content'] : [message['content']];
  return blocks.every(isBlock) ? undefined : `${what}.content must hold blocks of text, image, audio, tool_use or tool_result`;
}

function isBlock(block: unknown): boolean {
  if (!isJsonObject(block)) return false;
  const isText = (key: string): boolean => typeof block[key] === 'string';
  switch (block['type']) {
    case 'text':
      return isText('text');
    case 'image':
    case 'audio':
      return isText('data') && isText('mimeType');
    case 'tool_use':
      return isText('id') && isText('name') && isJsonObject(block['input']);
    case 'tool_result':
      return isText('toolUseId') && Array.isArray(block['content']);
    default:
      return false;
  }
}

/** Every use of a tool is followed by one message with all its results and nothing else. @see 2025-11-25 client/sampling#message-content-constraints */
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
  return open.length === 0 ? undefined : `messages ends with a tool use that has no result`;
}

function blocksOf({ content }: SamplingMessage): readonly SamplingMessageContentBlock[] {
  return Array.isArray(content) ? (content as readonly SamplingMessageContentBlock[]) : [content as SamplingMessageContentBlock];
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, message);
}
