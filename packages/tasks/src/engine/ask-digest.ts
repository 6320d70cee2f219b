/** What tells one question from another. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { toBase64Url } from './task-id.ts';

/** 132 bits of a digest. */
const KEY_CHARACTERS = 22;

/** The JSON of a value with its keys sorted by code unit. */
export function canonicalJson(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item: JsonValue | undefined) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member as JsonValue)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 of a text, as base64url. */
export async function digestText(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

/** The key of a question that its author gave none: the first word of its method, and the digest. */
export function keyOfDigest(method: string, digest: string): string {
  return `${method.split('/', 1)[0]}-${digest.slice(0, KEY_CHARACTERS)}`;
}
