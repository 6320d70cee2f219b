/** Sends a request to the API, within bounds of time and size, and makes a result of the answer. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { abortable, withTimeout } from '@mortise/jsonrpc-core/connection';
import { toBase64 } from '@mortise/jsonrpc-core/encoding';
import { isJsonObject, parseJson } from '@mortise/jsonrpc-core/messages';
import { readBytes } from '@mortise/protocol/edge';
import type { ContentBlock } from '@mortise/protocol/model';
import { type HandlerContext, ToolError } from '@mortise/server';
import type { ToolResultLike } from '@mortise/server/types';
import { buildRequest, setHeader } from './build-request.ts';
import type { ApiOperation } from './read-operations.ts';

/** Values that every request has: the same for all, or made for each call, such as a token of the caller. */
export type ApiValues =
  | Readonly<Record<string, string>>
  | ((ctx: HandlerContext) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>);

export interface ApiSettings {
  readonly baseUrl: URL;
  readonly headers: ApiValues;
  readonly query: ApiValues;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly fetch: typeof fetch;
}

export interface ApiAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** How much of the body of an error the model gets. */
const MAX_ERROR_TEXT = 10_000;

/** Calls an operation. @throws {ToolError} It cannot be sent or answered. An answer with an error status is returned. */
export async function callApi(
  settings: ApiSettings,
  operation: ApiOperation,
  args: Readonly<Record<string, unknown>>,
  ctx: HandlerContext,
): Promise<ApiAnswer> {
  const { timeoutMs, maxResponseBytes } = settings;
  const limit = withTimeout(timeoutMs, ctx.signal);
  const fail = (what: string, cause?: unknown): ToolError =>
    new ToolError(`${operation.method.toUpperCase()} ${operation.path}: ${what}`, { cause });
  try {
    const { url, headers, body } = buildRequest(settings.baseUrl, operation, args);
    const values = Promise.all([valuesFor(settings.headers, ctx), valuesFor(settings.query, ctx)]);
    const [ownHeaders, ownQuery] = await abortable(values, limit.signal);
    for (const [name, value] of Object.entries(ownHeaders)) setHeader(headers, name, value);
    for (const [name, value] of Object.entries(ownQuery)) url.searchParams.set(name, value);
    // A redirect could lead elsewhere, with the credentials of the API.
    const request = {
      method: operation.method.toUpperCase(),
      headers,
      body: body ?? null,
      redirect: 'manual',
      signal: limit.signal,
    } as const;
    const response = await settings.fetch(url, request);
    if (response.status >= 300 && response.status < 400)
      throw fail(`the API answers with a redirect (${response.status}), which is not followed`);
    const bytes = await readBytes(response.body, maxResponseBytes);
    if (!bytes)
      throw fail(
        `the answer (${response.status}) is longer than ${maxResponseBytes} bytes: ask for less (the program's option maxResponseBytes)`,
      );
    const [mediaType = ''] = (response.headers.get('content-type') ?? '').toLowerCase().split(';');
    return { status: response.status, statusText: response.statusText, mediaType: mediaType.trim(), bytes };
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (error instanceof ToolError) throw error;
    if (error instanceof URIError) throw fail('an argument has half of a character', error);
    if (limit.signal.aborted) throw fail(`the API did not answer within ${timeoutMs} ms (the program's option timeoutMs)`, error);
    throw fail(`the API cannot be reached${codeOf(error)}`, error);
  } finally {
    limit.dispose();
  }
}

/** Returns the result of a tool: JSON as structured content, images and audio as such, an error status as an error. */
export function toResult({ status, statusText, mediaType, bytes }: ApiAnswer): ToolResultLike {
  const statusLine = `${status} ${statusText}`.trim();
  if (status >= 400) {
    const text = isText(mediaType) ? new TextDecoder().decode(bytes).slice(0, MAX_ERROR_TEXT) : '';
    return { isError: true, content: [{ type: 'text', text: text === '' ? statusLine : `${statusLine}\n${text}` }] };
  }
  if (bytes.length === 0) return { content: [{ type: 'text', text: statusLine }] };
  if (isText(mediaType)) {
    const text = new TextDecoder().decode(bytes);
    const value = isJson(mediaType) ? parseAnswer(text) : undefined;
    return { content: [{ type: 'text', text }], ...(isJsonObject(value) && { structuredContent: value }) };
  }
  return { content: [toFileBlock(mediaType, bytes)] };
}

/** Whether a media type is text; an answer without a type is taken as text. */
export function isText(mediaType: string): boolean {
  return (
    mediaType === '' ||
    /^text\/|^application\/(?:xml|yaml|x-yaml|javascript|x-ndjson|graphql)$|\+xml$/u.test(mediaType) ||
    isJson(mediaType)
  );
}

function isJson(mediaType: string): boolean {
  return /[/+]json$/u.test(mediaType);
}

function toFileBlock(mimeType: string, bytes: Uint8Array): ContentBlock {
  const data = toBase64(bytes);
  if (mimeType.startsWith('image/')) return { type: 'image', mimeType, data };
  if (mimeType.startsWith('audio/')) return { type: 'audio', mimeType, data };
  return { type: 'resource', resource: { uri: 'openapi:answer', mimeType, blob: data } };
}

async function valuesFor(values: ApiValues, ctx: HandlerContext): Promise<Readonly<Record<string, string>>> {
  return typeof values === 'function' ? values(ctx) : values;
}

/** Returns undefined if the text is not JSON, or nests so deeply that clients would refuse the message around it. */
function parseAnswer(text: string): JsonValue | undefined {
  try {
    parseJson(`${'['.repeat(8)}${text}${']'.repeat(8)}`, Infinity);
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The code of a network error, such as ECONNREFUSED. Its message could hold the URL, and so a key. */
function codeOf(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? ` (${code})` : '';
}
