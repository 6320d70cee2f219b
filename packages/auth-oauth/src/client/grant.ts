/** A way to get tokens: what differs between one flow and another, and the requests to a token endpoint that all of them make. */

import { isMortiseError } from '@mortise/jsonrpc-core';
import type { UrlPolicy } from '@mortise/protocol/edge';
import * as oauth from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { nameUrl, type SafeFetch, toSafeText } from '../safe-fetch.ts';
import { toClientAuth } from './client-auth.ts';
import type { CredentialVault, RegisteredClient, TokenSet } from './credentials.ts';
import type { DpopKey } from './dpop.ts';

/** What a flow works with. */
export interface GrantCall {
  readonly as: oauth.AuthorizationServer;
  /** Exactly as the server spells it: sent with every request. */
  readonly resource: string;
  readonly vault: CredentialVault;
  readonly fetchPeer: SafeFetch;
  /** Judges URLs before a person is sent there. */
  readonly policy: UrlPolicy;
  readonly dpop: DpopKey | undefined;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

/** One flow. */
export interface Grant {
  /** Whether a person signs in. Then a refresh token is wanted, and `offline_access` with it. */
  readonly asksPerson: boolean;
  /** Issuers that the flow has credentials for; empty for any. */
  readonly issuers: readonly string[];
  /** Whether tokens of this client may be used: a store can be shared with another flow. */
  isOurs(issuer: string, clientId: string): boolean;
  /** @param scopes What to ask for; empty for whatever the server gives. */
  obtain(call: GrantCall, scopes: readonly string[]): Promise<TokenSet>;
  /** The client that a token set belongs to. */
  findClient(call: GrantCall, clientId: string): Promise<RegisteredClient | undefined>;
  /** Forgets a client that the authorization server does not know any more. @returns Whether another can be had. */
  forgetClient(call: GrantCall): Promise<boolean>;
}

/** The flow of a program that acts for itself: it has one client, at one issuer, and its credentials go nowhere else. */
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
    `The server is protected by ${nameUrl(as.issuer)}, and the client's credentials are for ${nameUrl(issuer)}: nothing was sent`,
  );
}

/** What the requests of `oauth4webapi` need of a call. */
export type TokenCall = Pick<GrantCall, 'as' | 'fetchPeer' | 'dpop' | 'signal'>;

/** Options for `oauth4webapi`. Our fetch has judged the URL: it lets http through to loopback alone. */
export function toRequestOptions({ fetchPeer, signal }: Pick<TokenCall, 'fetchPeer' | 'signal'>) {
  return { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: fetchPeer, signal };
}

/**
 * Sends a token request, once more if the endpoint wants a DPoP nonce, and reads the answer.
 *
 * @throws {AuthError} `ERR_TOKEN_REQUEST`: the endpoint refused, or its answer is not a token.
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

/** Gets tokens by a grant of the specification or an extension. @param auth How the client authenticates. @default as it is registered */
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
 * Gets new tokens for a refresh token.
 *
 * @returns undefined if the authorization server does not accept it any more: it is of no use to keep.
 * @throws {AuthError} `ERR_TOKEN_REQUEST`: the authorization server is in trouble; the token may be accepted later.
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

/** Revokes tokens if the authorization server offers that. @see RFC 7009 */
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
      // Many revoke no self-contained access token: it ends by itself, and soon.
      if (!(error instanceof oauth.ResponseBodyError && error.error === 'unsupported_token_type')) throw toTokenError(error, as);
    }
  }
}

/** An error of `oauth4webapi` as ours, without the request's parameters, which its causes may hold. */
function toTokenError(error: unknown, as: oauth.AuthorizationServer): unknown {
  if (isMortiseError(error)) return error;
  const endpoint = nameUrl(as.token_endpoint ?? as.issuer);
  if (error instanceof oauth.ResponseBodyError) {
    const { status, error: code, error_description: description } = error;
    const refusal = { status, error: toSafeText(code), description: toSafeText(description) };
    return new AuthError('ERR_TOKEN_REQUEST', `${endpoint} refused`, refusal);
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const code = error.cause.map(({ parameters }) => parameters['error']).find((value) => value !== undefined);
    return new AuthError('ERR_TOKEN_REQUEST', `${endpoint} refused the client`, { status: error.status, error: toSafeText(code) });
  }
  if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
    return new AuthError('ERR_TOKEN_REQUEST', `${endpoint} gave an answer that cannot be used: ${error.message}`);
  return error;
}

/** A token this close to its end is renewed before it is sent. */
const RENEW_BEFORE_MS = 10_000;

/** @throws {AuthError} `ERR_TOKEN_REQUEST`: anyone could use the token, where one bound to our key was asked for; or no header can carry it. */
export function toTokens(
  answer: oauth.TokenEndpointResponse,
  { as, dpop, nowMs, resource }: GrantCall,
  { clientId, requestedScopes }: Pick<TokenSet, 'clientId' | 'requestedScopes'>,
): TokenSet {
  const endpoint = nameUrl(as.token_endpoint ?? as.issuer);
  if ((dpop !== undefined) !== (answer.token_type === 'dpop')) {
    const rule = dpop ? 'one bound to our key was asked for (DPoP)' : 'none bound to a key (DPoP) was asked for';
    throw new AuthError('ERR_TOKEN_REQUEST', `${endpoint} gave a token of type "${toSafeText(answer.token_type)}", and ${rule}`);
  }
  // Whatever else it is made of would be refused by a header, in words that show it.
  if (!/^[\x21-\x7e]{1,16384}$/.test(answer.access_token))
    throw new AuthError('ERR_TOKEN_REQUEST', `${endpoint} gave a token that no header can carry`);
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

/** Nobody who means well asks for more scopes than this. */
export const MAX_SCOPES = 100;

/** The scopes of a parameter, each once; what is not a scope is left out. @see RFC 6749 section 3.3 */
export function splitScopes(scope: string | undefined): readonly string[] {
  const parts = (scope ?? '').split(' ').filter((part) => /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/.test(part));
  return [...new Set(parts)].slice(0, MAX_SCOPES);
}
