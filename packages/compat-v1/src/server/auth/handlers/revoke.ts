/** `/server/auth/handlers/revoke`: revokes tokens. @see RFC 7009 */

import cors from 'cors';
import express, { type RequestHandler } from 'express';
import { OAuthTokenRevocationRequestSchema } from '../../../shared/auth.ts';
import { ServerError } from '../errors.ts';
import { allowedMethods } from '../middleware/allowedMethods.ts';
import { authenticateClient, type ClientRequest } from '../middleware/clientAuth.ts';
import type { OAuthServerProvider } from '../provider.ts';
import { answering, limitRequests, type RateLimit, readParams } from '../respond.ts';

export type RevocationHandlerOptions = {
  provider: OAuthServerProvider;
  /** @default 50 in a quarter of an hour */
  rateLimit?: RateLimit;
};

/** @throws {Error} The provider revokes no tokens. */
export function revocationHandler({ provider, rateLimit }: RevocationHandlerOptions): RequestHandler {
  if (!provider.revokeToken) throw new Error('Auth provider does not support revoking tokens');
  const router = express.Router();
  router.use(cors(), allowedMethods(['POST']), express.urlencoded({ extended: false }));
  router.use(...limitRequests(rateLimit, 15, 50, 'token revocation'), authenticateClient({ clientsStore: provider.clientsStore }));
  router.post(
    '/',
    answering(async (request, response) => {
      const revocation = readParams(OAuthTokenRevocationRequestSchema, request.body);
      const { client } = request as ClientRequest;
      if (!client) throw new ServerError('Internal Server Error');
      await provider.revokeToken?.(client, revocation);
      response.status(200).json({});
    }),
  );
  return router;
}
