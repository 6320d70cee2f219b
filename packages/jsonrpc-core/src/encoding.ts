/** `@mortise/jsonrpc-core/encoding`: bytes as base64, and JSON values as canonical text. */

import type { JsonValue } from './message.ts';

/** How many arguments one function call can take on every platform. Longer data is encoded in pieces. */
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
 * @returns The bytes, or undefined for text that `toBase64Url` would not write, such as padded text.
 */
export function fromBase64Url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  // Unused bits of the last character must be zero. Otherwise several texts would decode to the same bytes.
  return toBase64Url(bytes) === text ? bytes : undefined;
}

/**
 * Writes a value as JSON with its keys sorted by code unit, for digests and comparisons.
 *
 * Leaves out members that are undefined, as `JSON.stringify` does. The function is recursive, so limit the depth of the value first (`parseJson`
 * does).
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

/** How many characters of base64url a key has: 22 characters hold 132 bits of the digest. */
const KEY_CHARACTERS = 22;

/**
 * Makes a short key from the first word of a method and the start of a digest: `elicitation-2jmj7l5rSw0yVb_vlWAYkK`.
 *
 * @param digest Base64url digest of the part of the message that must be unique.
 */
export function toDigestKey(method: string, digest: string): string {
  return `${method.split('/', 1)[0]}-${digest.slice(0, KEY_CHARACTERS)}`;
}
