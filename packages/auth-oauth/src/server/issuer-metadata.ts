/** What an issuer says of itself. @see RFC 8414; OpenID Connect Discovery 1.0 */

import { isLoopbackHost } from '@mortise/protocol/edge';
import * as oauth from 'oauth4webapi';
import { createSafeFetch } from '../safe-fetch.ts';
import { type OAuthFetch, toOAuthFetch } from '../to-oauth-fetch.ts';
import { TokenSourceError } from './errors.ts';

/** How requests to an authorization server are made. */
export interface IssuerFetchOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
}

/** The options that `oauth4webapi` takes with each request: plain http only to this machine. */
export interface OAuthRequestOptions {
  readonly [oauth.customFetch]: OAuthFetch;
  readonly [oauth.allowInsecureRequests]: boolean;
}

/** @param url Where the request goes, or the issuer whose endpoints are asked. */
export function toRequestOptions(url: string, { fetch, timeoutMs }: IssuerFetchOptions): OAuthRequestOptions {
  const allowLoopback = URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
  // The program named the issuer, so its host may be private; what it answers is bounded all the same, in time too.
  const safeFetch = createSafeFetch({ urls: { allowPrivate: true, allowLoopback }, fetch, timeoutMs, maxRedirects: 0 });
  return {
    [oauth.customFetch]: toOAuthFetch(safeFetch),
    [oauth.allowInsecureRequests]: allowLoopback,
  };
}

/**
 * Fetches an issuer's metadata: OAuth's first, then OpenID Connect's. The `issuer` in the document must be the very one that was asked for.
 *
 * @throws {TokenSourceError} `ERR_TOKEN_SOURCE`: neither document was there and held.
 */
export async function fetchIssuerMetadata(issuer: string, options: IssuerFetchOptions): Promise<oauth.AuthorizationServer> {
  const causes: unknown[] = [];
  for (const algorithm of ['oauth2', 'oidc'] as const) {
    try {
      const url = new URL(issuer);
      const response = await oauth.discoveryRequest(url, { algorithm, ...toRequestOptions(issuer, options) });
      const metadata = await oauth.processDiscoveryResponse(url, response);
      if (metadata.issuer === issuer) return metadata;
      causes.push(new Error('The document names another issuer'));
    } catch (error) {
      causes.push(error);
    }
  }
  throw new TokenSourceError(`The issuer ${issuer} gave no metadata that holds`, { cause: new AggregateError(causes) });
}
