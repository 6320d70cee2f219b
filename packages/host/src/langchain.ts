/** `@mortise/host/langchain`: the tools of a host for LangChain and LangGraph. Needs `@langchain/core` 1. */

import { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import type { CallOptions } from '@mortise/client';
import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CallToolResult, Progress } from '@mortise/protocol/model';
import {
  isImageType,
  type ModelCallLimits,
  type ModelTool,
  type ModelToolOptions,
  readModelTools,
  type ResultPart,
  resultText,
  streamCall,
  toDataUrl,
  toFailure,
  toParts,
  toText,
} from './adapters/model-tools.ts';
import type { Host } from './host.ts';

export type { ModelCallLimits, ModelToolOptions } from './adapters/model-tools.ts';

/** The content of a tool message: text, or text and images. */
export type LangChainContent =
  | string
  | ({ readonly type: 'text'; readonly text: string } | { readonly type: 'image_url'; readonly image_url: { readonly url: string } })[];

/** A tool of a host. Its events are the progress of a call; it returns a message if it is invoked with a tool call, else the content. */
export type LangChainTool = DynamicStructuredTool<JsonObject, unknown, JsonObject, ToolMessage | LangChainContent, Progress>;

/**
 * Returns the tools of a host for `createAgent`, `ToolNode` or `bindTools`.
 *
 * The host's policy decides before each call. A call that is refused or fails, and a result with `isError`, become a tool message with the
 * status `error`, so that the agent goes on. Each message's `artifact` is the whole result. The signal of the run cancels calls. Read the
 * tools again after a `list changed` event.
 *
 * @param options.waitMs How long to wait for servers that are slow: the tools lack those that take longer.
 * @param options.signal Cancels reading the list. @param options.timeoutMs The longest time of a call at its server.
 */
export async function langchainTools(host: Host, options: ModelToolOptions = {}): Promise<LangChainTool[]> {
  const { waitMs, signal, ...limits } = options;
  const tools = await readModelTools(host, { waitMs, signal });
  return tools.map((tool) => toLangChainTool(host, tool, limits));
}

function toLangChainTool(host: Host, { name, description, schema }: ModelTool, limits: ModelCallLimits): LangChainTool {
  const tool: LangChainTool = new DynamicStructuredTool({
    name,
    description: description ?? name,
    schema,
    func: async function* (input, _manager, config) {
      const result = yield* streamOrFail(host, name, input, { ...limits, signal: config?.signal });
      const id = (config as { readonly toolCall?: { readonly id?: string } } | undefined)?.toolCall?.id;
      if (id !== undefined) return toMessage(name, id, result);
      if (result.isError) throw new Error(resultText(result), { cause: result });
      return toContent(result);
    },
  });
  // The server checks the arguments: LangChain would run the patterns of its schema without a bound. Models read the schema of `tool`.
  const unchecked = Object.create(tool, { schema: { value: {} } }) as LangChainTool;
  tool.call = tool.call.bind(unchecked) as LangChainTool['call'];
  return tool;
}

async function* streamOrFail(
  host: Host,
  name: string,
  input: unknown,
  options: CallOptions,
): AsyncGenerator<Progress, CallToolResult, undefined> {
  try {
    return yield* streamCall(host, name, input, options);
  } catch (error) {
    return toFailure(error, options.signal);
  }
}

function toMessage(name: string, id: string, result: CallToolResult): ToolMessage {
  return new ToolMessage({
    name,
    tool_call_id: id,
    status: result.isError ? 'error' : 'success',
    content: toContent(result),
    artifact: result,
  });
}

function toContent(result: CallToolResult): LangChainContent {
  const parts = toParts(result);
  return parts.some((part) => part.type === 'file' && isImageType(part.mimeType)) ? parts.map(toContentPart) : resultText(result);
}

function toContentPart(part: ResultPart): Exclude<LangChainContent, string>[number] {
  if (part.type === 'file' && isImageType(part.mimeType)) return { type: 'image_url', image_url: { url: toDataUrl(part) } };
  return { type: 'text', text: toText(part) };
}
