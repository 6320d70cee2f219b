/** Turns a tool's own failure into an exception, for programs that call tools by themselves. */

import type { CallToolResult } from '@mortise/protocol';
import { ToolFailedError } from './errors.ts';

/**
 * Gives a tool's result back, unless it says `isError`.
 *
 * A program that calls on behalf of a model should not use this: the model is to see what went wrong.
 *
 * @param tool The tool's name, for the message.
 * @throws {ToolFailedError} `ERR_TOOL_FAILED`, with the result and its first text as the message.
 */
export function expectSuccess<R extends CallToolResult>(tool: string, result: R): R {
  if (result.isError !== true) return result;
  const text = result.content.find((block) => block.type === 'text');
  throw new ToolFailedError(`the tool "${tool}" failed${text ? `: ${text.text}` : ''}`, tool, result);
}
