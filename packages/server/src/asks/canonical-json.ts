/** One text for equal JSON values, whatever the order of their keys. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { toBase64Url } from './base64url.ts';
import { sha256 } from './sha256.ts';

/** The JSON of a value with its keys sorted by code unit. Members that are undefined are left out, as JSON does. */
export function canonicalJson(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item: JsonValue | undefined) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member as JsonValue)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 of the canonical JSON, as base64url. */
export function digestJson(value: JsonValue | undefined): string {
  return toBase64Url(sha256(new TextEncoder().encode(canonicalJson(value))));
}
