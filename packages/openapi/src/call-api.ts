/** Sends a request to the API, within bounds of time and size, and makes a result of the answer. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { abortable, withTimeout } from '@mortise/jsonrpc-core/connection';
import { toBase64 } from '@mortise/jsonrpc-core/encoding';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { readBytes } from '@mortise/protocol/edge';
import type { ContentBlock } from '@mortise/protocol/model';
import { type HandlerContext, ToolError } from '@mortise/server';
import type { ToolResultLike } from '@mortise/server/types';
import { type ApiRequest, buildRequest, setHeader } from './build-request.ts';
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
  readonly charset: string | undefined;
  readonly bytes: Uint8Array;
}

/** How much of the body of an error the model gets. */
const MAX_ERROR_TEXT = 10_000;
/** How deep the structured content of a result may nest. Clients refuse messages of more than 128 levels, those around it included. */
const MAX_DEPTH = 100;

/** Calls an operation. @throws {ToolError} It cannot be sent or answered. An answer with an error status is returned. */
export async function callApi(
  settings: ApiSettings,
  operation: ApiOperation,
  args: Readonly<Record<string, unknown>>,
  ctx: HandlerContext,
): Promise<ApiAnswer> {
  const { timeoutMs } = settings;
  const limit = withTimeout(timeoutMs, ctx.signal);
  try {
    const request = await abortable(prepare(settings, operation, args, ctx), limit.signal);
    return await send(settings, operation, request, limit.signal);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (limit.signal.aborted) throw toFault(operation, `no answer within ${timeoutMs} ms (the program's option timeoutMs)`, error);
    throw error;
  } finally {
    limit.dispose();
  }
}

/** Makes the request, with the values of the program. */
async function prepare(
  { baseUrl, headers, query }: ApiSettings,
  operation: ApiOperation,
  args: Readonly<Record<string, unknown>>,
  ctx: HandlerContext,
): Promise<ApiRequest> {
  const request = buildRequest(baseUrl, operation, args);
  for (const [name, value] of Object.entries(await valuesFor(headers, ctx))) setHeader(request.headers, name, value);
  for (const [name, value] of Object.entries(await valuesFor(query, ctx))) request.url.searchParams.set(name, value);
  return request;
}

async function send(
  { fetch: request, maxResponseBytes }: ApiSettings,
  operation: ApiOperation,
  { url, headers, body }: ApiRequest,
  signal: AbortSignal,
): Promise<ApiAnswer> {
  const reached = async (): Promise<readonly [Response, Uint8Array | undefined]> => {
    const method = operation.method.toUpperCase();
    // A redirect could lead elsewhere, with the credentials of the API.
    const response = await request(url, { method, headers, body: body ?? null, redirect: 'manual', signal });
    return [response, await readBytes(response.body, maxResponseBytes)];
  };
  const [{ status, statusText, headers: answered }, bytes] = await reached().catch((error: unknown) => {
    throw toFault(operation, `the API cannot be reached${codeOf(error)}`, error);
  });
  if (status >= 300 && status < 400) throw toFault(operation, `the API answers with a redirect (${status}), which is not followed`);
  if (!bytes) {
    const advice = "ask for less (the program's option maxResponseBytes)";
    throw toFault(operation, `the answer (${status}) is longer than ${maxResponseBytes} bytes: ${advice}`);
  }
  const type = answered.get('content-type') ?? '';
  const mediaType = (type.split(';', 1)[0] ?? '').trim().toLowerCase();
  return { status, statusText, mediaType, charset: /;\s*charset="?([^\s;"]+)/iu.exec(type)?.[1], bytes };
}

function toFault({ method, path }: ApiOperation, what: string, cause?: unknown): ToolError {
  return new ToolError(`${method.toUpperCase()} ${path}: ${what}`, { cause });
}

/** Returns the result of a tool: JSON as structured content, images and audio as such, an error status as an error. */
export function toResult(answer: ApiAnswer): ToolResultLike {
  const { status, statusText, mediaType, bytes } = answer;
  const statusLine = `${status} ${statusText}`.trim();
  if (status >= 400) {
    const text = isText(mediaType) ? textOf(answer).slice(0, MAX_ERROR_TEXT) : '';
    return { isError: true, content: [{ type: 'text', text: text === '' ? statusLine : `${statusLine}\n${text}` }] };
  }
  if (bytes.length === 0) return { content: [{ type: 'text', text: statusLine }] };
  if (isText(mediaType)) {
    const text = textOf(answer);
    const value = isJson(mediaType) ? parseJson(text) : undefined;
    return { content: [{ type: 'text', text }], ...(isJsonObject(value) && !isDeep(value, MAX_DEPTH) && { structuredContent: value }) };
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

/** Returns the body as text, in the charset that the answer names: UTF-8 if it names none, or one that is unknown. */
export function textOf({ charset, bytes }: ApiAnswer): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** Whether a value nests more than `levels` levels. */
function isDeep(value: JsonValue | undefined, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeep(member, levels - 1));
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

function parseJson(text: string): JsonValue | undefined {
  try {
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
