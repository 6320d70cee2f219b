/** What `oauth4webapi` asks, asked by a fetch of ours, which judges the URL and bounds what comes back. */

import type { CustomFetchOptions } from 'oauth4webapi';
import type { SafeFetch } from './safe-fetch.ts';

/** What `oauth4webapi` takes under `customFetch`. */
export type OAuthFetch = (url: string, init: CustomFetchOptions<string, unknown>) => Promise<Response>;

/** @param signal Ends the wait, beside the time that the fetch itself gives each request. */
export function toOAuthFetch(fetchPeer: SafeFetch, signal?: AbortSignal): OAuthFetch {
  return async (url, { method, headers, body }) => {
    const sent = body === undefined || body === null ? undefined : String(body);
    const answer = await fetchPeer(url, { method: method === 'POST' ? 'POST' : 'GET', headers, body: sent, signal });
    const { status, text } = answer;
    return new Response(text === '' ? null : text, { status, headers: withoutEncoding(answer.headers) });
  };
}

/** The text is already decoded, and as long as it is. */
function withoutEncoding(headers: Headers): Headers {
  const copy = new Headers(headers);
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) copy.delete(name);
  return copy;
}
