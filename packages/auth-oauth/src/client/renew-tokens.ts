/** Uses what came with a token: a refresh token to get the next, the revocation endpoint to end both. */

import * as oauth from 'oauth4webapi';
import { TokenRequestError } from '../errors.ts';
import { toClientAuth } from './client-auth.ts';
import type { RegisteredClient, TokenSet } from './credentials.ts';
import type { Grant, GrantCall } from './grant.ts';
import { requestToken, toRequestOptions, toTokenError, toTokens } from './token-request.ts';

/**
 * Gets new tokens for a refresh token.
 *
 * @returns undefined where the authorization server does not take it any more: it is of no use to keep.
 * @throws {TokenRequestError} The authorization server is in trouble: the token may be taken later.
 */
export async function refreshTokens(grant: Grant, call: GrantCall, tokens: TokenSet): Promise<TokenSet | undefined> {
  const { refreshToken, clientId } = tokens;
  const client = refreshToken === undefined ? undefined : await grant.findClient(call, clientId);
  if (refreshToken === undefined || !client) return undefined;
  try {
    return await refreshWith(call, client, { ...tokens, refreshToken });
  } catch (error) {
    if (!(error instanceof TokenRequestError) || error.status === undefined || error.status >= 500) throw error;
    if (error.error === 'invalid_client') await grant.forgetClient(call);
    return undefined;
  }
}

async function refreshWith(
  call: GrantCall,
  client: RegisteredClient,
  tokens: TokenSet & { readonly refreshToken: string },
): Promise<TokenSet> {
  const { as, resource, dpop, nowMs } = call;
  const oauthClient: oauth.Client = { client_id: client.clientId };
  const answer = await requestToken(
    call,
    async (options) =>
      await oauth.refreshTokenGrantRequest(as, oauthClient, toClientAuth(client, as), tokens.refreshToken, {
        ...options,
        additionalParameters: { resource },
      }),
    async (response) => await oauth.processRefreshTokenResponse(as, oauthClient, response),
  );
  const { clientId, requestedScopes } = tokens;
  const renewed = toTokens(answer, { requestedScopes, clientId, resource, dpop: dpop !== undefined, nowMs });
  return {
    ...renewed,
    refreshToken: renewed.refreshToken ?? tokens.refreshToken,
    scopes: answer.scope === undefined ? tokens.scopes : renewed.scopes,
  };
}

/** Revokes tokens where the authorization server offers that. @see RFC 7009 */
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
      if (!(error instanceof oauth.ResponseBodyError && error.error === 'unsupported_token_type')) throw toTokenError(error);
    }
  }
}
