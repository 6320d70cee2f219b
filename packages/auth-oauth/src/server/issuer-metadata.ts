/** What an issuer says of itself. @see RFC 8414; OpenID Connect Discovery 1.0 */

import { isLoopbackHost } from '@mortise/protocol/edge';
import * as oauth from 'oauth4webapi';
import { TokenSourceError } from './errors.ts';

/** How requests to an authorization server are made. */
export interface IssuerFetchOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
}

/** The options that `oauth4webapi` takes with each request: plain http only to this machine. */
export interface OAuthRequestOptions {
  readonly [oauth.customFetch]: (url: string, options: object) => Promise<Response>;
  readonly [oauth.allowInsecureRequests]: boolean;
  readonly signal: () => AbortSignal;
}

/** @param url Where the request goes, or the issuer whose endpoints are asked. */
export function toRequestOptions(url: string, { fetch, timeoutMs }: IssuerFetchOptions): OAuthRequestOptions {
  return {
    [oauth.customFetch]: (target, init) => fetch(target, init),
    [oauth.allowInsecureRequests]: URL.canParse(url) && isLoopbackHost(new URL(url).hostname),
    signal: () => AbortSignal.timeout(timeoutMs),
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
