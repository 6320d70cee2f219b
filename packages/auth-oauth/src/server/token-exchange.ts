/** A token for an upstream service in exchange for the caller's, which itself is never passed on. @see RFC 8693 */

import type { Clock } from '@mortise/jsonrpc-core';
import { checkOptionRules, type OptionRules, systemClock } from '@mortise/jsonrpc-core/transport';
import { AuthOptionError } from '../errors.ts';
import type { AuthInfo } from '@mortise/protocol/contracts';
import * as oauth from 'oauth4webapi';
import { BoundedCache } from './bounded-cache.ts';
import { digest } from './digest.ts';
import { TokenExchangeError } from './errors.ts';
import { fetchIssuerMetadata, toRequestOptions } from './issuer-metadata.ts';

/** The options of `createTokenExchange`. */
export interface TokenExchangeOptions {
  /** The authorization server that knows the caller's token and issues tokens for the upstream service. */
  readonly issuer: string;
  /** Who this server is there. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** How the secret is sent. @default 'client_secret_basic' */
  readonly clientAuthentication?: 'client_secret_basic' | 'client_secret_post' | undefined;
  /** The upstream service, by URL. One of `resource` and `audience` is needed. @default none */
  readonly resource?: string | undefined;
  /** The upstream service, by a name that the authorization server knows. @default none */
  readonly audience?: string | undefined;
  /** What is asked for. @default what the authorization server thinks fit */
  readonly scopes?: readonly string[] | undefined;
  /** Where tokens are exchanged. @default what the issuer's metadata says */
  readonly tokenEndpoint?: string | undefined;
  /** How many tokens are kept until they end. @default 1_000 */
  readonly maxCached?: number | undefined;
  /** How long the issuer may take to answer, in milliseconds. @default 5_000 */
  readonly timeoutMs?: number | undefined;
  /** What the issuer is asked by. @default globalThis.fetch */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Tells whether kept tokens have ended. @default systemClock */
  readonly clock?: Clock | undefined;
}

/** A token for an upstream service. */
export interface UpstreamToken {
  readonly accessToken: string;
  /** `Bearer` or `DPoP`. */
  readonly tokenType: string;
  /** In milliseconds since the epoch; undefined where the authorization server did not say. */
  readonly expiresAtMs: number | undefined;
}

/**
 * Gets a token for an upstream service on behalf of whoever calls.
 *
 * @param auth `ctx.auth` of a handler.
 * @throws {TokenExchangeError} `ERR_TOKEN_EXCHANGE`: there is no token to exchange, or the authorization server gave none for it.
 */
export type TokenExchange = (auth: AuthInfo | undefined) => Promise<UpstreamToken>;

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** A token this near to its end is not given out again. */
const MARGIN_MS = 30_000;

const RULES: OptionRules<TokenExchangeOptions> = {
  issuer: 'no number',
  clientId: 'no number',
  clientSecret: 'no number',
  clientAuthentication: 'no number',
  resource: 'no number',
  audience: 'no number',
  scopes: 'no number',
  tokenEndpoint: 'no number',
  maxCached: 0,
  timeoutMs: 0,
  fetch: 'no number',
  clock: 'no number',
};

/**
 * Creates a function that exchanges callers' tokens for ones of an upstream service, and keeps them until they end.
 *
 * @throws {TokenExchangeError} `ERR_TOKEN_EXCHANGE`: neither `resource` nor `audience` is given.
 * @throws {AuthOptionError} `ERR_AUTH_OPTION`: an option that cannot hold.
 * @see 2026-07-28 basic/authorization/security-considerations
 */
export function createTokenExchange(options: TokenExchangeOptions): TokenExchange {
  checkOptionRules('createTokenExchange', options, RULES, AuthOptionError);
  if (options.resource === undefined && options.audience === undefined)
    throw new TokenExchangeError('Neither "resource" nor "audience" is given: name the upstream service');
  const { clock = systemClock, maxCached = 1_000 } = options;
  const kept = new BoundedCache<UpstreamToken>(maxCached, clock);
  const findServer = createServerFinder(options);
  return async (auth) => {
    if (auth?.token === undefined) throw new TokenExchangeError('There is no token to exchange: the caller has not presented one');
    const key = await digest(auth.token);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const fresh = await exchange(auth.token, await findServer(), options);
    const lifeMs = (fresh.expiresAtMs ?? 0) - clock.now() - MARGIN_MS;
    // Never longer than the caller's own token would be accepted.
    if (lifeMs > 0) kept.set(key, fresh, Math.min(lifeMs, (auth.expiresAtMs ?? Infinity) - clock.now()));
    return fresh;
  };
}

function createServerFinder(options: TokenExchangeOptions): () => Promise<oauth.AuthorizationServer> {
  const { issuer, tokenEndpoint } = options;
  let server: oauth.AuthorizationServer | undefined = tokenEndpoint === undefined ? undefined : { issuer, token_endpoint: tokenEndpoint };
  return async () => (server ??= await fetchIssuerMetadata(issuer, toFetchOptions(options)));
}

async function exchange(token: string, server: oauth.AuthorizationServer, options: TokenExchangeOptions): Promise<UpstreamToken> {
  const { clientId, clientSecret, clientAuthentication, clock = systemClock } = options;
  const client = { client_id: clientId };
  const authenticate = clientAuthentication === 'client_secret_post' ? oauth.ClientSecretPost : oauth.ClientSecretBasic;
  try {
    const requestOptions = toRequestOptions(server.token_endpoint ?? '', toFetchOptions(options));
    const response = await oauth.genericTokenEndpointRequest(
      server,
      client,
      authenticate(clientSecret),
      TOKEN_EXCHANGE,
      toParameters(token, options),
      requestOptions,
    );
    const result = await oauth.processGenericTokenEndpointResponse(server, client, response);
    const { access_token: accessToken, token_type: tokenType, expires_in: expiresIn } = result;
    const expiresAtMs = expiresIn === undefined ? undefined : clock.now() + expiresIn * 1000;
    return { accessToken, tokenType: tokenType === 'dpop' ? 'DPoP' : 'Bearer', expiresAtMs };
  } catch (error) {
    const oauthError = error instanceof oauth.ResponseBodyError ? error.error : undefined;
    throw new TokenExchangeError('The authorization server gave no token for the upstream service', oauthError, { cause: error });
  }
}

function toParameters(token: string, { resource, audience, scopes }: TokenExchangeOptions): Record<string, string> {
  return {
    subject_token: token,
    subject_token_type: ACCESS_TOKEN,
    requested_token_type: ACCESS_TOKEN,
    ...(resource === undefined ? {} : { resource }),
    ...(audience === undefined ? {} : { audience }),
    ...(scopes === undefined ? {} : { scope: scopes.join(' ') }),
  };
}

function toFetchOptions({ fetch, timeoutMs = 5_000 }: TokenExchangeOptions): {
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
} {
  return { fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)), timeoutMs };
}
