/** What a tool says about itself, as a digest: it differs as soon as a model or a user would read something else. */

import { toBase64Url, toCanonicalJson } from '@mortise/jsonrpc-core/encoding';
import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Tool } from '@mortise/protocol/model';

/** Returns the SHA-256 of a tool's name, title, description, schemas and annotations, in base64url. Icons and `_meta` do not count. */
export async function toolDigest({ name, title, description, inputSchema, outputSchema, annotations }: Tool): Promise<string> {
  const said = { name, title, description, inputSchema, outputSchema, annotations } as unknown as JsonObject;
  const bytes = new TextEncoder().encode(toCanonicalJson(said));
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
