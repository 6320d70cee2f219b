/** `/server/auth/handlers/revoke`: revokes tokens. @see RFC 7009 */

import type { RequestHandler } from 'express';
import { OAuthTokenRevocationRequestSchema } from '../../../shared/auth.ts';
import { authenticateClient, clientOf } from '../middleware/clientAuth.ts';
import type { OAuthServerProvider } from '../provider.ts';
import { endpoint, type RateLimit } from '../endpoint.ts';
import { readParams } from '../respond.ts';

export type RevocationHandlerOptions = {
  provider: OAuthServerProvider;
  /** @default 50 in a quarter of an hour */
  rateLimit?: RateLimit;
};

/** @throws {Error} The provider revokes no tokens. */
export function revocationHandler({ provider, rateLimit }: RevocationHandlerOptions): RequestHandler {
  if (!provider.revokeToken) throw new Error('Auth provider does not support revoking tokens');
  const before = authenticateClient({ clientsStore: provider.clientsStore });
  const limits = { what: 'token revocation', rateLimit, windowMinutes: 15, limit: 50 };
  return endpoint({ ...limits, methods: ['POST'], before }, async (request, response) => {
    const revocation = readParams(OAuthTokenRevocationRequestSchema, request.body);
    await provider.revokeToken?.(clientOf(request), revocation);
    response.status(200).json({});
  });
}
