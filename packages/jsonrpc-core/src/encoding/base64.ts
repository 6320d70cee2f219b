/** Bytes as text: base64, and base64url without padding, which URLs, headers and JSON carry unchanged. */

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
