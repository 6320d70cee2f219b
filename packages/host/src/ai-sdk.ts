/** `@mortise/host/ai-sdk`: the tools of a host for the AI SDK (`generateText`, `streamText`, agents). Needs `ai` 7. */

import type { CallOptions } from '@mortise/client';
import type { CallToolResult, Progress } from '@mortise/protocol/model';
import { dynamicTool, jsonSchema, type ToolSet } from 'ai';
import {
  type ModelCallLimits,
  type ModelTool,
  type ModelToolOptions,
  readModelTools,
  type ResultPart,
  resultText,
  streamCall,
  toParts,
} from './adapters/model-tools.ts';
import type { Host } from './host.ts';

export type { ModelCallLimits, ModelToolOptions } from './adapters/model-tools.ts';

/** What a tool puts out: its progress as preliminary results, and at last its result. */
export type AiSdkToolOutput = Progress | CallToolResult;

type ModelOutput = ReturnType<NonNullable<ToolSet[string]['toModelOutput']>>;

/**
 * Returns the tools of a host as the option `tools` of `generateText` and `streamText`.
 *
 * The host's policy decides before each call. A call that is refused or fails, and a result with `isError`, become a `tool-error` part, which
 * the model reads. The abort signal of the generation cancels calls. Read the tools again after a `list changed` event.
 *
 * @param options.waitMs How long to wait for servers that are slow: the tools lack those that take longer.
 * @param options.signal Cancels reading the list. @param options.timeoutMs The longest time of a call at its server.
 */
export async function aiSdkTools(host: Host, options: ModelToolOptions = {}): Promise<ToolSet> {
  const { waitMs, signal, ...limits } = options;
  const tools = await readModelTools(host, { waitMs, signal });
  return Object.fromEntries(tools.map((tool) => [tool.name, toAiSdkTool(host, tool, limits)]));
}

function toAiSdkTool(host: Host, { name, description, schema }: ModelTool, limits: ModelCallLimits): ToolSet[string] {
  return dynamicTool({
    ...(description !== undefined && { description }),
    inputSchema: jsonSchema(schema as Parameters<typeof jsonSchema>[0]),
    execute: (input, { abortSignal }) => run(host, name, input, { ...limits, signal: abortSignal }),
    toModelOutput: ({ output }) => toModelOutput(output as CallToolResult),
  });
}

async function* run(host: Host, name: string, input: unknown, options: CallOptions): AsyncGenerator<AiSdkToolOutput, void, undefined> {
  const result = yield* streamCall(host, name, input, options);
  if (result.isError) throw new Error(resultText(result), { cause: result });
  yield result;
}

function toModelOutput(result: CallToolResult): Awaited<ModelOutput> {
  const parts = toParts(result);
  const [first] = parts;
  if (parts.length > 1 || first?.type !== 'text') return { type: 'content', value: parts.map(toContentPart) };
  return result.structuredContent === undefined
    ? { type: 'text', value: first.text }
    : { type: 'json', value: result.structuredContent as never };
}

function toContentPart(part: ResultPart): Extract<Awaited<ModelOutput>, { type: 'content' }>['value'][number] {
  if (part.type === 'text') return part;
  return { type: 'file', mediaType: part.mimeType, data: { type: 'data', data: part.data } };
}
