/** Exchanges the caller's token for a token of an upstream service, which never gets the caller's own token. @see RFC 8693 */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionTable, systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo } from '@mortise/protocol/contracts';
import * as oauth from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { AnswerCache, authenticate, Issuer, type IssuerMetadata, type IssuerOptions } from './issuer.ts';
import { digest } from './token-reader.ts';

/** The options of `createTokenExchange`. */
export interface TokenExchangeOptions extends IssuerOptions {
  /** The authorization server that knows the caller's token and issues tokens for the upstream service. */
  readonly issuer: string;
  /** The client id of this server at the authorization server. */
  readonly clientId: string;
  /** The secret of this server at the authorization server. */
  readonly clientSecret: string;
  /** The URL of the upstream service. `resource` or `audience` is required. @default none */
  readonly resource?: string | undefined;
  /** The name of the upstream service at the authorization server. @default none */
  readonly audience?: string | undefined;
  /** The scopes to request. @default the authorization server decides */
  readonly scopes?: readonly string[] | undefined;
  /** The issuer's metadata, with `token_endpoint`, if the issuer publishes none. @default the published metadata */
  readonly metadata?: IssuerMetadata | undefined;
}

const OPTIONS: OptionTable<TokenExchangeOptions> = {
  issuer: 'string',
  clientId: 'string',
  clientSecret: 'string',
  resource: 'string',
  audience: 'string',
  scopes: 'array',
  metadata: 'object',
  fetch: 'function',
  clock: 'object',
};

/** A token for an upstream service. */
export interface UpstreamToken {
  /** The token. Send it to the upstream service only. */
  readonly accessToken: string;
  /** How to send the token: `Bearer` or `DPoP`. */
  readonly tokenType: string;
  /** When the token expires, in milliseconds since the epoch; undefined if the authorization server did not say. */
  readonly expiresAtMs: number | undefined;
}

/**
 * Gets a token for an upstream service on behalf of the caller.
 *
 * @param auth The `ctx.auth` of a handler.
 * @throws {AuthError} `ERR_TOKEN_EXCHANGE`: the caller has no token, or the authorization server refused the exchange (see `error`).
 */
export type TokenExchange = (auth: AuthInfo | undefined) => Promise<UpstreamToken>;

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** A cached token that expires within this time is not used. */
const MARGIN_MS = 30_000;

/**
 * Creates a function that exchanges callers' tokens for tokens of an upstream service, and caches these until they expire.
 *
 * @throws {TypeError} An option is invalid, or neither `resource` nor `audience` is given.
 * @see 2026-07-28 basic/authorization/security-considerations
 */
export function createTokenExchange(options: TokenExchangeOptions): TokenExchange {
  checkOptions('createTokenExchange', options, OPTIONS);
  const { issuer, resource, audience, fetch, metadata, clock = systemClock } = options;
  if (resource === undefined && audience === undefined)
    throw new TypeError('createTokenExchange: give "resource" or "audience" to name the upstream service');
  const kept = new AnswerCache<UpstreamToken>(clock);
  const source = new Issuer(issuer, fetch, metadata);
  return async (auth) => {
    if (auth?.token === undefined) throw new AuthError('ERR_TOKEN_EXCHANGE', 'The caller sent no access token to exchange');
    const key = await digest(auth.token);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const fresh = await exchange(auth.token, source, { ...options, clock });
    const lifeMs = (fresh.expiresAtMs ?? 0) - clock.now() - MARGIN_MS;
    // The token is not cached longer than the caller's own token is valid.
    if (lifeMs > 0) kept.set(key, fresh, Math.min(lifeMs, (auth.expiresAtMs ?? Infinity) - clock.now()));
    return fresh;
  };
}

async function exchange(
  token: string,
  source: Issuer,
  { issuer, clientId, clientSecret, resource, audience, scopes, clock }: TokenExchangeOptions & { readonly clock: Clock },
): Promise<UpstreamToken> {
  const client = { client_id: clientId };
  const parameters = {
    subject_token: token,
    subject_token_type: ACCESS_TOKEN,
    requested_token_type: ACCESS_TOKEN,
    ...(resource === undefined ? {} : { resource }),
    ...(audience === undefined ? {} : { audience }),
    ...(scopes === undefined ? {} : { scope: scopes.join(' ') }),
  };
  try {
    const server = await source.metadata();
    const auth = authenticate(clientSecret, server.token_endpoint_auth_methods_supported);
    const options = source.requestOptions(server.token_endpoint);
    const response = await oauth.genericTokenEndpointRequest(server, client, auth, TOKEN_EXCHANGE, parameters, options);
    const result = await oauth.processGenericTokenEndpointResponse(server, client, response);
    const expiresAtMs = result.expires_in === undefined ? undefined : clock.now() + result.expires_in * 1000;
    return { accessToken: result.access_token, tokenType: result.token_type === 'dpop' ? 'DPoP' : 'Bearer', expiresAtMs };
  } catch (cause) {
    const error = cause instanceof oauth.ResponseBodyError ? cause.error : undefined;
    throw new AuthError('ERR_TOKEN_EXCHANGE', `${issuer} issued no token for the upstream service`, { error, cause });
  }
}
