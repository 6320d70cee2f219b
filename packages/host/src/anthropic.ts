/**
 * `@mortise/host/anthropic`: the tools of a host for Anthropic's Messages API.
 *
 * It makes the values that the API takes, and needs no library.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallToolResult } from '@mortise/protocol/model';
import {
  answerCalls,
  type AnswerCallsOptions,
  isImageType,
  type ModelCall,
  readModelTools,
  type ResultPart,
  resultText,
  toParts,
  toText,
} from './adapters/model-tools.ts';
import type { Host } from './host.ts';
import type { HostListOptions } from './list-reader.ts';

export type { AnswerCallsOptions, ModelCallLimits } from './adapters/model-tools.ts';

/** A tool of the Messages API. */
export interface AnthropicTool {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: JsonObject & { readonly type: 'object' };
}

/** A block of an assistant message. Blocks other than tool uses are skipped. */
export interface AnthropicBlock {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
}

/** A block that answers a tool use. */
export interface AnthropicToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly is_error?: true;
  readonly content: AnthropicResultPart[];
}

/** A part of an answer. */
export type AnthropicResultPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image';
      readonly source: {
        readonly type: 'base64';
        readonly media_type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
        readonly data: string;
      };
    }
  | {
      readonly type: 'document';
      readonly source: { readonly type: 'base64'; readonly media_type: 'application/pdf'; readonly data: string };
    };

/** Returns the tools of a host as the option `tools` of `messages.create`. Read them again after a `list changed` event. */
export async function anthropicTools(host: Host, options: HostListOptions = {}): Promise<AnthropicTool[]> {
  const tools = await readModelTools(host, options);
  return tools.map(({ name, description, schema }) => ({
    name,
    ...(description !== undefined && { description }),
    input_schema: schema,
  }));
}

/**
 * Makes the tool uses of an assistant message, and returns the blocks that answer them: the start of the content of the next user message.
 *
 * Answers each tool use that it is given: leave out those of tools that are not the host's. A call that is refused or fails is answered with
 * `is_error`, and then with text only, as the API requires.
 *
 * @param content `message.content` of the assistant message; its other blocks are left alone.
 * @throws The reason of `options.signal`, and nothing else.
 */
export async function answerToolUses(
  host: Host,
  content: readonly AnthropicBlock[],
  options: AnswerCallsOptions = {},
): Promise<AnthropicToolResult[]> {
  const made = content.flatMap(({ type, id, name, input }): ModelCall[] =>
    type === 'tool_use' && id !== undefined && name !== undefined ? [{ id, name, arguments: input }] : [],
  );
  return (await answerCalls(host, made, options)).map(([{ id }, result]) => toToolResult(id, result));
}

function toToolResult(id: string, result: CallToolResult): AnthropicToolResult {
  if (!result.isError) return { type: 'tool_result', tool_use_id: id, content: toParts(result).map(toResultPart) };
  return { type: 'tool_result', tool_use_id: id, is_error: true, content: [{ type: 'text', text: resultText(result) }] };
}

function toResultPart(part: ResultPart): AnthropicResultPart {
  if (part.type === 'text') return part;
  const { mimeType, data } = part;
  if (isImageType(mimeType)) return { type: 'image', source: { type: 'base64', media_type: mimeType, data } };
  if (mimeType === 'application/pdf') return { type: 'document', source: { type: 'base64', media_type: mimeType, data } };
  return { type: 'text', text: toText(part) };
}
