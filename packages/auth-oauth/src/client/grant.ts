/** The interface of a flow (a way to get tokens), and the token endpoint requests that flows share. */

import { isMortiseError } from '@mortise/jsonrpc-core';
import type { UrlPolicy } from '@mortise/protocol/edge';
import * as oauth from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { nameUrl, type SafeFetch, toSafeText } from '../safe-fetch.ts';
import { toClientAuth } from './client-auth.ts';
import type { CredentialVault, RegisteredClient, TokenSet } from './credentials.ts';
import type { DpopKey } from './dpop.ts';

/** The input of a flow: for which MCP server to get tokens, from which authorization server, and how. */
export interface GrantCall {
  readonly as: oauth.AuthorizationServer;
  /** The MCP server's resource identifier, exactly as its metadata writes it. Sent with every token request. */
  readonly resource: string;
  readonly vault: CredentialVault;
  readonly fetchPeer: SafeFetch;
  /** Decides which URLs the user may be sent to. */
  readonly policy: UrlPolicy;
  readonly dpop: DpopKey | undefined;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** A flow: one way to get tokens, such as client credentials. */
export interface Grant {
  /** Whether a user signs in during this flow. If so, `offline_access` is requested to get a refresh token. */
  readonly asksPerson: boolean;
  /** The authorization servers that the flow has credentials for; empty means any authorization server. */
  readonly issuers: readonly string[];
  /** Tells whether stored tokens of a client belong to this flow; another flow may share the store. */
  isOurs(issuer: string, clientId: string): boolean;
  /** Gets new tokens. @param scopes The scopes to request; empty lets the authorization server choose. */
  obtain(call: GrantCall, scopes: readonly string[]): Promise<TokenSet>;
  /** Finds the client that existing tokens were issued to. */
  findClient(call: GrantCall, clientId: string): Promise<RegisteredClient | undefined>;
  /** Deletes a client that the authorization server no longer knows. @returns Whether to try again with a new client. */
  forgetClient(call: GrantCall): Promise<boolean>;
}

/** Creates a flow that needs no user. It has one client at one authorization server; the client's credentials are sent only there. */
export function createProgramGrant(client: RegisteredClient, obtain: Grant['obtain']): Grant {
  const { issuer, clientId } = client;
  return {
    asksPerson: false,
    issuers: [issuer],
    isOurs: (theirs, id) => theirs === issuer && id === clientId,
    obtain: async (call, scopes) => await obtain({ ...call, as: checkIssuer(call.as, issuer) }, scopes),
    findClient: async ({ as }) => checkIssuer(as, issuer) && client,
    forgetClient: async () => false,
  };
}

function checkIssuer(as: oauth.AuthorizationServer, issuer: string): oauth.AuthorizationServer {
  if (as.issuer === issuer) return as;
  throw new AuthError(
    'ERR_CLIENT_MISMATCH',
    `The server's authorization server is ${nameUrl(as.issuer)}, but the client's credentials are for ${nameUrl(issuer)}: nothing was sent`,
  );
}

/** The members of `GrantCall` that token requests need. */
export type TokenCall = Pick<GrantCall, 'as' | 'fetchPeer' | 'dpop' | 'signal'>;

/** Creates the request options of `oauth4webapi`. These allow http, because `fetchPeer` checks every URL. */
export function toRequestOptions({ fetchPeer, signal }: Pick<TokenCall, 'fetchPeer' | 'signal'>) {
  return { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: fetchPeer, signal };
}

/**
 * Sends a token request and reads the response. Sends it again if the endpoint requires a DPoP nonce.
 *
 * @throws {AuthError} `ERR_TOKEN_REQUEST`: the endpoint refused, or its response is invalid.
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
    throw toTokenError(error, call.as);
  }
}

/** Gets tokens by any grant type. @param auth How the client authenticates. @default as registered */
export async function requestGrant(
  call: GrantCall,
  client: RegisteredClient,
  {
    grantType,
    scopes,
    params,
    auth,
  }: {
    readonly grantType: string;
    readonly scopes: readonly string[];
    readonly params?: Readonly<Record<string, string>>;
    readonly auth?: oauth.ClientAuth;
  },
): Promise<TokenSet> {
  const { as, resource } = call;
  const oauthClient: oauth.Client = { client_id: client.clientId };
  const body = { ...params, resource, ...(scopes.length > 0 && { scope: scopes.join(' ') }) };
  const answer = await requestToken(
    call,
    async (options) => await oauth.genericTokenEndpointRequest(as, oauthClient, auth ?? toClientAuth(client, as), grantType, body, options),
    async (response) => await oauth.processGenericTokenEndpointResponse(as, oauthClient, response),
  );
  return toTokens(answer, call, { clientId: client.clientId, requestedScopes: scopes });
}

/**
 * Gets new tokens with a refresh token.
 *
 * @returns undefined if the authorization server no longer accepts the refresh token.
 * @throws {AuthError} `ERR_TOKEN_REQUEST`: the authorization server failed; the refresh token may work later.
 */
export async function refreshTokens(grant: Grant, call: GrantCall, tokens: TokenSet): Promise<TokenSet | undefined> {
  const { refreshToken, clientId, requestedScopes } = tokens;
  const client = refreshToken === undefined ? undefined : await grant.findClient(call, clientId);
  if (refreshToken === undefined || !client) return undefined;
  const { as, resource } = call;
  const oauthClient: oauth.Client = { client_id: clientId };
  try {
    const answer = await requestToken(
      call,
      async (options) =>
        await oauth.refreshTokenGrantRequest(as, oauthClient, toClientAuth(client, as), refreshToken, {
          ...options,
          additionalParameters: { resource },
        }),
      async (response) => await oauth.processRefreshTokenResponse(as, oauthClient, response),
    );
    const renewed = toTokens(answer, call, { clientId, requestedScopes });
    const scopes = answer.scope === undefined ? tokens.scopes : renewed.scopes;
    return { ...renewed, refreshToken: renewed.refreshToken ?? refreshToken, scopes };
  } catch (error) {
    if (!(error instanceof AuthError) || error.status === undefined || error.status >= 500) throw error;
    if (error.error === 'invalid_client') await grant.forgetClient(call);
    return undefined;
  }
}

/** Revokes tokens if the authorization server supports revocation. @see RFC 7009 */
export async function revokeTokens(grant: Grant, call: GrantCall, tokens: TokenSet): Promise<void> {
  const { as } = call;
  const client = await grant.findClient(call, tokens.clientId);
  if (typeof as.revocation_endpoint !== 'string' || !client) return;
  const oauthClient: oauth.Client = { client_id: client.clientId };
  const kinds = { refresh_token: tokens.refreshToken, access_token: tokens.accessToken };
  for (const [kind, token] of Object.entries(kinds)) {
    if (token === undefined) continue;
    const options = { ...toRequestOptions(call), additionalParameters: { token_type_hint: kind } };
    try {
      await oauth.processRevocationResponse(await oauth.revocationRequest(as, oauthClient, toClientAuth(client, as), token, options));
    } catch (error) {
      // Many servers cannot revoke self-contained access tokens, which expire soon anyway.
      if (!(error instanceof oauth.ResponseBodyError && error.error === 'unsupported_token_type')) throw toTokenError(error, as);
    }
  }
}

/** Converts an error of `oauth4webapi` to an `AuthError`, without its causes, which may contain request parameters. */
function toTokenError(error: unknown, as: oauth.AuthorizationServer): unknown {
  if (isMortiseError(error)) return error;
  const endpoint = nameUrl(as.token_endpoint ?? as.issuer);
  if (error instanceof oauth.ResponseBodyError) {
    const { status, error: code, error_description: description } = error;
    const refusal = { status, error: toSafeText(code), description: toSafeText(description) };
    return new AuthError('ERR_TOKEN_REQUEST', `${endpoint} refused the token request`, refusal);
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const code = error.cause.map(({ parameters }) => parameters['error']).find((value) => value !== undefined);
    return new AuthError('ERR_TOKEN_REQUEST', `${endpoint} refused the client`, { status: error.status, error: toSafeText(code) });
  }
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
    return new AuthError('ERR_TOKEN_REQUEST', `${endpoint} sent an invalid response: ${error.message}`);
  return error;
}

/** An access token that expires within this time is renewed before it is sent. */
const RENEW_BEFORE_MS = 10_000;

/** Reads a token response. @throws {AuthError} `ERR_TOKEN_REQUEST`: the token is not for DPoP as requested, or not valid in a header. */
export function toTokens(
  answer: oauth.TokenEndpointResponse,
  { as, dpop, nowMs, resource }: GrantCall,
  { clientId, requestedScopes }: Pick<TokenSet, 'clientId' | 'requestedScopes'>,
): TokenSet {
  const endpoint = nameUrl(as.token_endpoint ?? as.issuer);
  if ((dpop !== undefined) !== (answer.token_type === 'dpop')) {
    const rule = dpop ? 'but a DPoP token was requested' : 'but DPoP was not requested';
    throw new AuthError('ERR_TOKEN_REQUEST', `${endpoint} issued a token of type "${toSafeText(answer.token_type)}", ${rule}`);
  }
  // Checked here, because the error of `Headers` would show the token.
  if (!/^[\x21-\x7e]{1,16384}$/.test(answer.access_token))
    throw new AuthError(
      'ERR_TOKEN_REQUEST',
      `${endpoint} issued a token that is too long or has characters that are not allowed in a header`,
    );
  const lifetimeMs = (answer.expires_in ?? Infinity) * 1000;
  const isForEver = lifetimeMs === Infinity;
  return {
    issuer: as.issuer,
    accessToken: answer.access_token,
    scheme: dpop ? 'DPoP' : 'Bearer',
    refreshToken: answer.refresh_token,
    expiresAtMs: isForEver ? undefined : nowMs + lifetimeMs,
    renewAtMs: isForEver ? undefined : nowMs + Math.max(lifetimeMs - RENEW_BEFORE_MS, lifetimeMs / 2),
    scopes: answer.scope === undefined ? requestedScopes : splitScopes(answer.scope),
    requestedScopes,
    clientId,
    resource,
  };
}

/** The maximum number of scopes in a request; further scopes are ignored. */
export const MAX_SCOPES = 100;

/** Splits a `scope` parameter into scopes. Leaves out duplicates and invalid scopes. @see RFC 6749 section 3.3 */
export function splitScopes(scope: string | undefined): readonly string[] {
  const parts = (scope ?? '').split(' ').filter((part) => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(part));
  return [...new Set(parts)].slice(0, MAX_SCOPES);
}
