/** What tells one question from another. */

import { toBase64Url } from '@mortise/jsonrpc-core/encoding';

/** 132 bits of a digest. */
const KEY_CHARACTERS = 22;

/** SHA-256 of a text, as base64url. */
export async function digestText(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

/** The key of a question that its author gave none: the first word of its method, and the digest. */
export function keyOfDigest(method: string, digest: string): string {
  return `${method.split('/', 1)[0]}-${digest.slice(0, KEY_CHARACTERS)}`;
}
