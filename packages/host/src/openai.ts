/**
 * `@mortise/host/openai`: the tools of a host for the Chat Completions and Responses APIs of any compatible endpoint.
 *
 * It makes the values that these APIs take, and needs no library.
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
  toDataUrl,
  toParts,
  toText,
} from './adapters/model-tools.ts';
import type { Host } from './host.ts';
import type { HostListOptions } from './list-reader.ts';

export type { AnswerCallsOptions, ModelCallLimits } from './adapters/model-tools.ts';

/** A tool of Chat Completions. */
export interface ChatTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description?: string; readonly parameters: JsonObject };
}

/** A tool call in an assistant message. Calls of other types are skipped. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: string;
  readonly function?: { readonly name: string; readonly arguments: string };
}

/** A message that answers tool calls: one for each call, and one from the user with the images of all results. */
export type ChatAnswer =
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }
  | { readonly role: 'user'; readonly content: ChatImagePart[] };

/** A part of the user message with images. */
export type ChatImagePart =
  { readonly type: 'text'; readonly text: string } | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** A tool of the Responses API. It is not strict: schemas of servers need not be in the subset that strict mode supports. */
export interface ResponsesTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  readonly parameters: JsonObject;
  readonly strict: false;
}

/** An item of a response's `output`. Items other than function calls are skipped. */
export interface ResponsesOutputItem {
  readonly type: string;
  readonly call_id?: string | null;
  readonly name?: string | null;
  readonly arguments?: unknown;
}

/** An input item that answers a function call. */
export interface ResponsesAnswer {
  readonly type: 'function_call_output';
  readonly call_id: string;
  readonly output: string | ResponsesAnswerPart[];
}

/** A part of an answer that is more than text. */
export type ResponsesAnswerPart =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: 'auto' }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string };

/** Returns the tools of a host as the option `tools` of Chat Completions. Read them again after a `list changed` event. */
export async function chatTools(host: Host, options: HostListOptions = {}): Promise<ChatTool[]> {
  const tools = await readModelTools(host, options);
  return tools.map(({ name, description, schema }) => ({
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters: schema },
  }));
}

/**
 * Makes the tool calls of an assistant message, and returns the messages that answer them.
 *
 * Answers each call that it is given: leave out the calls of tools that are not the host's. A call that is refused or fails is answered by a
 * text that starts with `Error:`. Images come in a user message at the end, since a tool message has text only.
 *
 * @param calls `message.tool_calls` of the assistant message.
 * @throws The reason of `options.signal`, and nothing else.
 */
export async function answerChatCalls(
  host: Host,
  calls: readonly ChatToolCall[] | undefined,
  options: AnswerCallsOptions = {},
): Promise<ChatAnswer[]> {
  const made = (calls ?? []).flatMap(({ id, function: called }): ModelCall[] =>
    called ? [{ id, name: called.name, arguments: parseArguments(called.arguments) }] : [],
  );
  const answers = await answerCalls(host, made, options);
  const images = answers.flatMap(([{ name }, result]) => imagesOf(name, result));
  const messages = answers.map(([{ id }, result]): ChatAnswer => ({ role: 'tool', tool_call_id: id, content: toChatText(result) }));
  return images.length > 0 ? [...messages, { role: 'user', content: images }] : messages;
}

/** Returns the tools of a host as the option `tools` of the Responses API. Read them again after a `list changed` event. */
export async function responsesTools(host: Host, options: HostListOptions = {}): Promise<ResponsesTool[]> {
  const tools = await readModelTools(host, options);
  return tools.map(({ name, description, schema }) => ({
    type: 'function',
    name,
    ...(description !== undefined && { description }),
    parameters: schema,
    strict: false,
  }));
}

/**
 * Makes the function calls of a response, and returns the input items that answer them. As `answerChatCalls`, but images and PDF files are in
 * the answer itself.
 *
 * @param output `response.output`; its other items are left alone.
 * @throws The reason of `options.signal`, and nothing else.
 */
export async function answerResponsesCalls(
  host: Host,
  output: readonly ResponsesOutputItem[],
  options: AnswerCallsOptions = {},
): Promise<ResponsesAnswer[]> {
  const made = output.flatMap(({ type, call_id: id, name, arguments: args }): ModelCall[] =>
    type === 'function_call' && typeof id === 'string' ? [{ id, name: name ?? '', arguments: parseArguments(args) }] : [],
  );
  const answers = await answerCalls(host, made, options);
  return answers.map(([{ id }, result]) => ({ type: 'function_call_output', call_id: id, output: toResponsesOutput(result) }));
}

/** Returns what the model wrote if that is not JSON: the answer then says so. */
function parseArguments(text: unknown): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(String(text));
  } catch {
    return text;
  }
}

function toChatText(result: CallToolResult): string {
  const texts = toParts(result).map((part) =>
    part.type === 'file' && isImageType(part.mimeType) ? '[an image, which follows in a message of the user]' : toText(part),
  );
  return markError(result, texts.join('\n\n'));
}

function imagesOf(name: string, result: CallToolResult): ChatImagePart[] {
  const urls = toParts(result).flatMap((part) => (part.type === 'file' && isImageType(part.mimeType) ? [toDataUrl(part)] : []));
  if (urls.length === 0) return [];
  return [
    { type: 'text', text: `Result of the tool ${name}:` },
    ...urls.map((url): ChatImagePart => ({ type: 'image_url', image_url: { url } })),
  ];
}

function toResponsesOutput(result: CallToolResult): ResponsesAnswer['output'] {
  const parts = toParts(result);
  if (parts.every(({ type }) => type === 'text')) return markError(result, parts.map(toText).join('\n\n'));
  const output = parts.map(toResponsesPart);
  return result.isError ? [{ type: 'input_text', text: 'Error:' }, ...output] : output;
}

function toResponsesPart(part: ResultPart): ResponsesAnswerPart {
  if (part.type === 'file' && isImageType(part.mimeType)) return { type: 'input_image', image_url: toDataUrl(part), detail: 'auto' };
  if (part.type === 'file' && part.mimeType === 'application/pdf')
    return { type: 'input_file', filename: 'result.pdf', file_data: toDataUrl(part) };
  return { type: 'input_text', text: toText(part) };
}

function markError({ isError }: CallToolResult, text: string): string {
  return isError ? `Error: ${text}` : text;
}
