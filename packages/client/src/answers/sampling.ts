/** Answers `sampling/createMessage` by the program's handler. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { findBrokenToolUse, findMisusedTool } from '@mortise/protocol/checks';
import type { CreateMessageRequestParams, CreateMessageResult } from '@mortise/protocol/model';
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
