/** `@mortise/host/langchain`: the tools of a host for LangChain and LangGraph. Needs `@langchain/core` 1. */

import { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { CallToolResult, Progress } from '@mortise/protocol/model';
import {
  isImageType,
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
 * @param options.waitMs How long to wait for servers that are slow. @param options.timeoutMs The longest time of a call.
 */
export async function langchainTools(host: Host, options: ModelToolOptions = {}): Promise<LangChainTool[]> {
  const tools = await readModelTools(host, options);
  return tools.map((tool) => toLangChainTool(host, tool, options));
}

function toLangChainTool(host: Host, { name, description, schema }: ModelTool, options: ModelToolOptions): LangChainTool {
  return new DynamicStructuredTool<JsonObject, unknown, JsonObject, ToolMessage | LangChainContent, Progress>({
    name,
    description: description ?? name,
    // LangChain itself checks the arguments: patterns of a server could take it forever. The server checks them anyway.
    schema: withoutPatterns(schema) as typeof schema,
    func: async function* (input, _manager, config) {
      const signal = config?.signal;
      const result = yield* streamOrFail(host, name, input, { ...options, signal });
      const id = (config as { readonly toolCall?: { readonly id?: string } } | undefined)?.toolCall?.id;
      if (id !== undefined) return toMessage(name, id, result);
      if (result.isError) throw new Error(resultText(result), { cause: result });
      return toContent(result);
    },
  });
}

async function* streamOrFail(
  host: Host,
  name: string,
  input: unknown,
  options: ModelToolOptions,
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

/** Keywords that hold values and no schemas, and those that hold schemas by names. */
const VALUES: readonly string[] = ['const', 'enum', 'default', 'examples'];
const MAPS: readonly string[] = ['properties', '$defs', 'definitions', 'dependentSchemas'];

/** Returns a schema, or schemas by names, without `pattern` and `patternProperties`. */
function withoutPatterns(schema: JsonValue | undefined, isMap = false): JsonValue {
  if (Array.isArray(schema)) return schema.map((each) => withoutPatterns(each as JsonValue));
  if (!isJsonObject(schema)) return schema ?? null;
  if (isMap) return Object.fromEntries(Object.entries(schema).map(([name, each]) => [name, withoutPatterns(each)]));
  const { pattern: _, patternProperties, ...members } = schema;
  return Object.fromEntries(
    Object.entries(members)
      // The names that patterns allowed are allowed.
      .filter(([key]) => key !== 'additionalProperties' || patternProperties === undefined)
      .map(([key, value]) => [key, VALUES.includes(key) ? value : withoutPatterns(value, MAPS.includes(key))]),
  );
}
