/** `@mortise/jsonrpc-core/encoding`: bytes and JSON values as text of which there is one spelling. */

import type { JsonValue } from './message.ts';

/** How many arguments a call takes on every platform. */
const CHUNK = 8192;

/**
 * Writes bytes as base64 with padding.
 *
 * @see RFC 4648 section 4
 */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let from = 0; from < bytes.length; from += CHUNK) binary += String.fromCharCode(...bytes.subarray(from, from + CHUNK));
  return btoa(binary);
}

/**
 * Writes bytes as base64url without padding.
 *
 * @see RFC 4648 section 5
 */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * Reads canonical base64url.
 *
 * @returns The bytes; undefined for any text that `toBase64Url` would not have made, padded texts among them.
 */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  // Unused bits of the last character must be zero, or many texts would mean the same bytes.
  return toBase64Url(bytes) === text ? bytes : undefined;
}

/**
 * Writes a value as JSON with its keys sorted by code unit, for digests and comparisons.
 *
 * Members that are undefined are left out, as `JSON.stringify` does. Recurses: the value must be bounded in depth, as `parseJson` sees to.
 */
export function toCanonicalJson(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item: JsonValue | undefined) => toCanonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${toCanonicalJson(member as JsonValue)}`);
  return `{${members.join(',')}}`;
}

/** 132 bits of a digest. */
const KEY_CHARACTERS = 22;

/**
 * Names a message by the first word of its method and the beginning of its digest: `elicitation-2jmj7l5rSw0yVb_vlWAYkK`.
 *
 * @param digest As base64url, of what tells the message from others.
 */
export function toDigestKey(method: string, digest: string): string {
  return `${method.split('/', 1)[0]}-${digest.slice(0, KEY_CHARACTERS)}`;
}
