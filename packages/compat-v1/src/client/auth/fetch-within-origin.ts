/** Follows redirects within the origin only: requests to authorization servers carry secrets. */

import type { FetchLike } from '../../shared/transport.ts';

const MAX_REDIRECTS = 5;

/** Sends a request, and follows redirects that keep its method and origin. Any other redirect is returned as the response. */
export async function fetchWithinOrigin(fetchFn: FetchLike, url: string | URL, init: RequestInit): Promise<Response> {
  let at = new URL(url);
  for (let redirects = 0; ; redirects++) {
    const response = await fetchFn(at, { ...init, redirect: 'manual' });
    const target = redirects < MAX_REDIRECTS ? findTarget(response, at, init.method ?? 'GET') : undefined;
    if (target === undefined) return response;
    await response.body?.cancel();
    at = target;
  }
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
