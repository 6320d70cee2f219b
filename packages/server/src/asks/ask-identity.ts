/** What tells one question from another, and how messages name it. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { toBase64Url, toCanonicalJson } from '@mortise/jsonrpc-core/encoding';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';

/** How many characters of a question messages show. */
const MAX_TEXT = 80;

/** SHA-256 of its canonical JSON, as base64url. */
export async function digestAsk(method: string, params: JsonObject | undefined): Promise<string> {
  const text = toCanonicalJson({ method, params: params ?? {} });
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

/** The beginning of a question: `elicitation "Who are you?"`. */
export function describeAsk(method: string, params: JsonObject = {}): string {
  const text = params['message'] ?? lastTextOf(params['messages']);
  const name = method.split('/', 1)[0] ?? method;
  if (typeof text !== 'string') return name;
  return `${name} ${JSON.stringify(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}...` : text)}`;
}

/** What a call is of: `tool "add"`. */
export function nameCall({ method, target }: { readonly method: string; readonly target: string | undefined }): string {
  const kind = method.split('/', 1)[0]?.replace(/s$/, '') ?? method;
  return target === undefined ? kind : `${kind} "${target.slice(0, 100)}"`;
}

function lastTextOf(messages: JsonValue | undefined): JsonValue | undefined {
  const last: JsonValue | undefined = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content = isJsonObject(last) ? last['content'] : undefined;
  const blocks: readonly JsonValue[] = Array.isArray(content) ? content : [content ?? null];
  return blocks.map((block) => (isJsonObject(block) ? block['text'] : undefined)).find((text) => typeof text === 'string');
}
