/** `/server/auth/handlers/token`: exchanges codes and refresh tokens for tokens. @see RFC 6749 section 4.1.3; RFC 7636 */

import { createHash } from 'node:crypto';
import cors from 'cors';
import express, { type RequestHandler } from 'express';
import * as z from 'zod/v4';
import type { OAuthClientInformationFull, OAuthTokens } from '../../../shared/auth.ts';
import { InvalidGrantError, ServerError, UnsupportedGrantTypeError } from '../errors.ts';
import { allowedMethods } from '../middleware/allowedMethods.ts';
import { authenticateClient, type ClientRequest } from '../middleware/clientAuth.ts';
import type { OAuthServerProvider } from '../provider.ts';
import { answering, limitRequests, type RateLimit, readParams } from '../respond.ts';

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
  const router = express.Router();
  router.use(cors(), allowedMethods(['POST']), express.urlencoded({ extended: false }));
  router.use(...limitRequests(rateLimit, 15, 50, 'token'), authenticateClient({ clientsStore: provider.clientsStore }));
  router.post(
    '/',
    answering(async (request, response) => {
      const { grant_type } = readParams(Grant, request.body);
      const { client } = request as ClientRequest;
      if (!client) throw new ServerError('Internal Server Error');
      response.status(200).json(await exchange(provider, client, grant_type, request.body));
    }),
  );
  return router;
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

function toUrl(resource: string | undefined): URL | undefined {
  return resource === undefined ? undefined : new URL(resource);
}
