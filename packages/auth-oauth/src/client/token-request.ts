/** Asks a token endpoint, and says in our words what it answered. */

import { isMortiseError } from '@mortise/jsonrpc-core';
import * as oauth from 'oauth4webapi';
import { TokenRequestError } from '../errors.ts';
import type { SafeFetch } from '../safe-fetch.ts';
import { type OAuthFetch, toOAuthFetch } from '../to-oauth-fetch.ts';
import type { TokenSet } from './credentials.ts';
import type { DpopKey } from './dpop.ts';
import { toSafeText } from './to-safe-text.ts';

/** What every request to a token endpoint needs. */
export interface TokenCall {
  readonly as: oauth.AuthorizationServer;
  readonly fetchPeer: SafeFetch;
  readonly dpop: DpopKey | undefined;
  readonly signal: AbortSignal | undefined;
}

/** oauth4webapi's options for a request through our fetch, which has already judged the URL: http is only let through to loopback. */
export function toRequestOptions({ fetchPeer, signal }: Pick<TokenCall, 'fetchPeer' | 'signal'>): {
  [oauth.allowInsecureRequests]: true;
  [oauth.customFetch]: OAuthFetch;
} {
  return { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: toOAuthFetch(fetchPeer, signal) };
}

/**
 * Sends a token request, once more where the endpoint wants a DPoP nonce, and reads the answer.
 *
 * @throws {TokenRequestError} The endpoint refused, or what it sent is no token.
 */
export async function requestToken(
  call: TokenCall,
  send: (options: oauth.TokenEndpointRequestOptions) => Promise<Response>,
  read: (response: Response) => Promise<oauth.TokenEndpointResponse>,
): Promise<oauth.TokenEndpointResponse> {
  const DPoP = call.dpop?.toHandle(call.as);
  const options: oauth.TokenEndpointRequestOptions = { ...toRequestOptions(call), ...(DPoP && { DPoP }) };
  try {
    try {
      return await read(await send(options));
    } catch (error) {
      if (DPoP === undefined || !oauth.isDPoPNonceError(error)) throw error;
      return await read(await send(options));
    }
  } catch (error) {
    throw toTokenError(error);
  }
}

/** Whatever an OAuth call threw, without the request's parameters, which its causes may hold. */
export function toTokenError(error: unknown): unknown {
  if (isMortiseError(error)) return error;
  if (error instanceof oauth.ResponseBodyError) {
    const { status, error: code, error_description: description } = error;
    return new TokenRequestError('The token endpoint refused', { status, error: toSafeText(code), description: toSafeText(description) });
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const code = error.cause.map(({ parameters }) => parameters['error']).find((value) => value !== undefined);
    return new TokenRequestError('The token endpoint refused the client', { status: error.status, error: toSafeText(code) });
  }
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError) {
    return new TokenRequestError(`The token endpoint's answer does not count: ${error.message}`, {});
  }
  return error;
}

/** A token this close to its end is renewed before it is sent. */
const RENEW_BEFORE_MS = 10_000;

/**
 * @throws {TokenRequestError} A token that anyone could use, where one bound to our key was asked for.
 */
export function toTokens(
  answer: oauth.TokenEndpointResponse,
  about: {
    readonly requestedScopes: readonly string[];
    readonly clientId: string;
    readonly resource: string;
    readonly dpop: boolean;
    readonly nowMs: number;
  },
): TokenSet {
  const { requestedScopes, clientId, resource, dpop, nowMs } = about;
  if (dpop !== (answer.token_type === 'dpop')) {
    const rule = dpop ? 'one bound to our key was asked for (DPoP)' : 'none bound to a key (DPoP) was asked for';
    throw new TokenRequestError(`The token endpoint gave a token of type "${toSafeText(answer.token_type)}", and ${rule}`, {});
  }
  // Whatever else it is made of would be refused by a header, in words that show it.
  if (!/^[\x21-\x7e]{1,16384}$/.test(answer.access_token))
    throw new TokenRequestError('The token endpoint gave a token that no header can carry', {});
  const lifetimeMs = answer.expires_in === undefined ? undefined : answer.expires_in * 1000;
  return {
    accessToken: answer.access_token,
    scheme: dpop ? 'DPoP' : 'Bearer',
    refreshToken: answer.refresh_token,
    expiresAtMs: lifetimeMs === undefined ? undefined : nowMs + lifetimeMs,
    renewAtMs: lifetimeMs === undefined ? undefined : nowMs + Math.max(lifetimeMs - RENEW_BEFORE_MS, lifetimeMs / 2),
    scopes: answer.scope === undefined ? requestedScopes : splitScopes(answer.scope),
    requestedScopes,
    clientId,
    resource,
  };
}

/** More scopes than this are asked for by nobody who means well. */
export const MAX_SCOPES = 100;

/** The scopes of a parameter, each once; what is no scope is left out. @see RFC 6749 section 3.3 */
export function splitScopes(scope: string | undefined): readonly string[] {
  const parts = (scope ?? '').split(' ').filter((part) => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(part));
  return [...new Set(parts)].slice(0, MAX_SCOPES);
}
