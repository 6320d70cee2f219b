/** Asks other servers, and reads no more of what they answer, for no longer, than the proxy can afford. */

import { readBytes } from '@mortise/protocol/edge';

const TIMEOUT_MS = 10_000;

/**
 * Fetches a document to its end. Follows no redirect, and does NOT judge the URL.
 *
 * @throws {Error} The body is longer than `maxBytes`; or what `fetch` throws, after ten seconds too.
 */
export async function fetchBounded(
  url: string,
  init: RequestInit,
  { fetch, maxBytes }: { readonly fetch: typeof globalThis.fetch; readonly maxBytes: number },
): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const bytes = await readBytes(response.body, maxBytes);
  if (bytes === undefined) throw new Error(`${new URL(url).host} sent more than ${maxBytes} bytes`);
  const headers = new Headers(response.headers);
  // The bytes are decoded, and as many as they are.
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(name);
  return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), { status: response.status, headers });
}
