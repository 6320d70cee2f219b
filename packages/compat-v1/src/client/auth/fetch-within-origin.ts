/** Follows redirects within the origin only: requests to authorization servers carry secrets. Bounds what they answer. */

import { readBytes } from '@mortise/protocol/edge';
import type { FetchLike } from '../../shared/transport.ts';

const MAX_REDIRECTS = 5;
const MAX_BYTES = 1_048_576;

/**
 * Sends a request, and follows redirects that keep its method and origin. Any other redirect is returned as the response.
 *
 * @throws {Error} The response is longer than 1 MiB.
 */
export async function fetchWithinOrigin(fetchFn: FetchLike, url: string | URL, init: RequestInit): Promise<Response> {
  let at = new URL(url);
  for (let redirects = 0; ; redirects++) {
    const response = await fetchFn(at, { ...init, redirect: 'manual' });
    const target = redirects < MAX_REDIRECTS ? findTarget(response, at, init.method ?? 'GET') : undefined;
    if (target === undefined) return readWhole(response, at);
    await response.body?.cancel();
    at = target;
  }
}

async function readWhole(response: Response, { href }: URL): Promise<Response> {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const bytes = await readBytes(body, MAX_BYTES);
  if (!bytes) throw new Error(`The response of ${href} is longer than ${MAX_BYTES} bytes`);
  return new Response(new Uint8Array(bytes), { status, statusText, headers });
}

function findTarget({ status, headers }: Response, from: URL, method: string): URL | undefined {
  const keepsMethod = status === 307 || status === 308;
  if (!keepsMethod && !(method === 'GET' && (status === 301 || status === 302 || status === 303))) return undefined;
  const location = headers.get('location');
  if (location === null || !URL.canParse(location, from.href)) return undefined;
  const target = new URL(location, from);
  const isOwn = target.origin === from.origin && target.username === '' && target.password === '';
  return isOwn ? target : undefined;
}
