/** What tells one question from another. */

import { toBase64Url } from '@mortise/jsonrpc-core/encoding';

/** SHA-256 of a text, as base64url. */
export async function digestText(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}
