/** What the adapters for libraries of models share: tools as models take them, calls with progress, and results as text and files. */

import type { CallOptions } from '@mortise/client';
import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { AsyncQueue } from '@mortise/jsonrpc-core/connection';
import { toCanonicalJson } from '@mortise/jsonrpc-core/encoding';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { toError } from '@mortise/jsonrpc-core/transport';
import type { CallToolResult, ContentBlock, Progress } from '@mortise/protocol/model';
import type { Host } from '../host.ts';
import type { HostListOptions } from '../list-reader.ts';

/** How long the calls of a model may take. See `CallOptions` of `@mortise/client`. */
export type ModelCallLimits = Pick<CallOptions, 'timeoutMs' | 'maxTimeoutMs' | 'resetTimeoutOnProgress'>;

/** Options of tools that the library calls by itself. */
export interface ModelToolOptions extends HostListOptions, ModelCallLimits {}

/** Options of answering the calls of a model. */
export interface AnswerCallsOptions extends ModelCallLimits {
  /** Cancels the calls. The answer then rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each progress notification of a call. */
  readonly onProgress?: ((progress: Progress, call: { readonly id: string; readonly name: string }) => void) | undefined;
}

/** A tool in the form that all models accept. */
export interface ModelTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: JsonObject & { readonly type: 'object' };
}

/** A call as a model made it. */
export interface ModelCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** A part of a result: text, or a file such as an image in base64. */
export type ResultPart =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'file'; readonly mimeType: string; readonly data: string };

/** The images that all vision models accept. */
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** Reads the tools of a host. The schema gets `properties`, which some endpoints miss, and loses `$schema`, which some refuse. */
export async function readModelTools(host: Host, options: HostListOptions): Promise<readonly ModelTool[]> {
  const tools = await host.tools(options);
  return tools.map(({ name, tool: { title, description = title, inputSchema } }) => {
    const { $schema: _, ...schema } = inputSchema as JsonObject;
    return { name, description, schema: { properties: {}, ...schema, type: 'object' } };
  });
}

/**
 * Calls a tool: yields its progress, and returns its result. A reader that is slow gets the newest step of progress alone.
 *
 * @throws As `host.callTool` does, and if the arguments are no object.
 */
export async function* streamCall(
  host: Host,
  name: string,
  args: unknown,
  options: CallOptions,
): AsyncGenerator<Progress, CallToolResult, undefined> {
  const updates = new AsyncQueue<'update'>();
  let newest: Progress | undefined;
  const onProgress = (progress: Progress): void => {
    newest = progress;
    if (updates.length === 0) updates.push('update');
  };
  const calling = host.callTool(name, toArguments(name, args), { ...options, onProgress });
  // A failure is thrown when the progress before it has been read.
  calling.then(
    () => updates.close(),
    () => updates.close(),
  );
  while ((await updates.next()).done !== true) {
    const progress = newest;
    newest = undefined;
    if (progress) yield progress;
  }
  return calling;
}

/** Makes all calls of one message at once. A call that fails gets an answer that says why, so that the model can go on. */
export async function answerCalls(
  host: Host,
  calls: readonly ModelCall[],
  { onProgress, ...options }: AnswerCallsOptions,
): Promise<readonly (readonly [ModelCall, CallToolResult])[]> {
  const answer = async (call: ModelCall): Promise<CallToolResult> => {
    const { id, name } = call;
    try {
      return await host.callTool(name, toArguments(name, call.arguments), {
        ...options,
        onProgress: onProgress && ((progress) => onProgress(progress, { id, name })),
      });
    } catch (error) {
      return toFailure(error, options.signal);
    }
  };
  return Promise.all(calls.map(async (call) => [call, await answer(call)] as const));
}

/** @throws {TypeError} The model's arguments are not an object. */
function toArguments(name: string, args: unknown): JsonObject | undefined {
  if (args === undefined || isJsonObject(args)) return args;
  throw new TypeError(`the arguments for "${name}" must be a JSON object: ${excerpt(args)}`);
}

/** Returns a result that says why a call failed. @throws The reason of the signal, if that is why. */
export function toFailure(error: unknown, signal: AbortSignal | undefined): CallToolResult {
  signal?.throwIfAborted();
  return { content: [{ type: 'text', text: toError(error).message }], isError: true };
}

/** Returns a result as text and files. Structured content is added as JSON unless a text block says the same. */
export function toParts({ content, structuredContent }: CallToolResult): readonly ResultPart[] {
  const parts = content.map(toPart).filter((part) => part.type === 'file' || part.text !== '');
  const json = structuredContent && toCanonicalJson(structuredContent);
  const isSaid = parts.some((part) => part.type === 'text' && json !== undefined && toCanonicalText(part.text) === json);
  if (structuredContent !== undefined && !isSaid) parts.push({ type: 'text', text: JSON.stringify(structuredContent) });
  return parts.length > 0 ? parts : [{ type: 'text', text: 'The tool returned nothing.' }];
}

/** Returns a part as text: a file that a model cannot take is described. */
export function toText(part: ResultPart): string {
  return part.type === 'text' ? part.text : `[a file of the type ${part.mimeType}, which is not shown]`;
}

/** Returns a result as one text. */
export function resultText(result: CallToolResult): string {
  return toParts(result).map(toText).join('\n\n');
}

/** Returns whether vision models accept an image of this type. */
export function isImageType(mimeType: string): mimeType is (typeof IMAGE_TYPES)[number] {
  return IMAGE_TYPES.some((type) => type === mimeType);
}

/** Returns a file as a `data:` URL. */
export function toDataUrl({ mimeType, data }: { readonly mimeType: string; readonly data: string }): string {
  return `data:${mimeType};base64,${data}`;
}

function toPart(block: ContentBlock): ResultPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: 'file', mimeType: block.mimeType, data: block.data };
    case 'resource_link':
      return { type: 'text', text: `Resource: ${block.uri} (${block.title ?? block.name})` };
    case 'resource': {
      const { resource } = block;
      if (typeof resource.text === 'string') return { type: 'text', text: `${resource.uri}:\n${resource.text}` };
      return { type: 'file', mimeType: resource.mimeType ?? 'application/octet-stream', data: String(resource.blob) };
    }
  }
}

function toCanonicalText(text: string): string | undefined {
  try {
    return toCanonicalJson(JSON.parse(text) as JsonValue);
  } catch {
    return undefined;
  }
}

function excerpt(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? typeof value)).slice(0, 100);
}
