/** `/server/auth/handlers/token`: exchanges codes and refresh tokens for tokens. @see RFC 6749 section 4.1.3; RFC 7636 */

import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import * as z from 'zod/v4';
import type { OAuthClientInformationFull, OAuthTokens } from '../../../shared/auth.ts';
import { InvalidGrantError, UnsupportedGrantTypeError } from '../errors.ts';
import { authenticateClient, clientOf } from '../middleware/clientAuth.ts';
import type { OAuthServerProvider } from '../provider.ts';
import { endpoint, type RateLimit } from '../endpoint.ts';
import { readParams, toUrl } from '../respond.ts';

export type TokenHandlerOptions = {
  provider: OAuthServerProvider;
  /** @default 50 in a quarter of an hour */
  rateLimit?: RateLimit;
};

const Grant = z.object({ grant_type: z.string() });
const CodeGrant = z.object({
  code: z.string(),
  code_verifier: z.string(),
  redirect_uri: z.string().optional(),
  resource: z.url().optional(),
});
const RefreshGrant = z.object({ refresh_token: z.string(), scope: z.string().optional(), resource: z.url().optional() });

export function tokenHandler({ provider, rateLimit }: TokenHandlerOptions): RequestHandler {
  const before = authenticateClient({ clientsStore: provider.clientsStore });
  const limits = { what: 'token', rateLimit, windowMinutes: 15, limit: 50 };
  return endpoint({ ...limits, methods: ['POST'], before }, async (request, response) => {
    const { grant_type } = readParams(Grant, request.body);
    response.status(200).json(await exchange(provider, clientOf(request), grant_type, request.body));
  });
}

function exchange(provider: OAuthServerProvider, client: OAuthClientInformationFull, grant: string, body: unknown): Promise<OAuthTokens> {
  if (grant === 'authorization_code') return exchangeCode(provider, client, body);
  if (grant !== 'refresh_token') throw new UnsupportedGrantTypeError('The grant type is not supported by this authorization server.');
  const { refresh_token, scope, resource } = readParams(RefreshGrant, body);
  return provider.exchangeRefreshToken(client, refresh_token, scope?.split(' '), toUrl(resource));
}

async function exchangeCode(provider: OAuthServerProvider, client: OAuthClientInformationFull, body: unknown): Promise<OAuthTokens> {
  const { code, code_verifier, redirect_uri, resource } = readParams(CodeGrant, body);
  const isUpstream = provider.skipLocalPkceValidation === true;
  if (!isUpstream) {
    const challenge = await provider.challengeForAuthorizationCode(client, code);
    if (createHash('sha256').update(code_verifier).digest('base64url') !== challenge)
      throw new InvalidGrantError('code_verifier does not match the challenge');
  }
  return provider.exchangeAuthorizationCode(client, code, isUpstream ? code_verifier : undefined, redirect_uri, toUrl(resource));
}
