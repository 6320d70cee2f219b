/** `/server/auth/handlers/register`: registers clients. @see RFC 7591 */

import { randomBytes, randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import { type OAuthClientInformationFull, type OAuthClientMetadata, OAuthClientMetadataSchema } from '../../../shared/auth.ts';
import type { OAuthRegisteredClientsStore } from '../clients.ts';
import { InvalidClientMetadataError } from '../errors.ts';
import { endpoint, type RateLimit } from '../endpoint.ts';

const SECRET_LIFETIME_SECONDS = 30 * 24 * 60 * 60;

export type ClientRegistrationHandlerOptions = {
  clientsStore: OAuthRegisteredClientsStore;
  /** How long a client's secret is valid; 0 or less for ever. @default 30 days */
  clientSecretExpirySeconds?: number | undefined;
  /** @default 20 an hour */
  rateLimit?: RateLimit;
  /** Whether the handler makes the client's id; otherwise the store does. @default true */
  clientIdGeneration?: boolean | undefined;
};

/** @throws {Error} The store registers no clients. */
export function clientRegistrationHandler(options: ClientRegistrationHandlerOptions): RequestHandler {
  const { clientsStore, rateLimit, clientSecretExpirySeconds = SECRET_LIFETIME_SECONDS, clientIdGeneration = true } = options;
  if (!clientsStore.registerClient) throw new Error('Client registration store does not support registering clients');
  const limits = { what: 'client registration', rateLimit, windowMinutes: 60, limit: 20 };
  return endpoint({ ...limits, methods: ['POST'], body: 'json' }, async (request, response) => {
    const { success, data, error } = OAuthClientMetadataSchema.safeParse(request.body);
    if (!success) throw new InvalidClientMetadataError(error.message);
    const client = toClient(data, clientSecretExpirySeconds, clientIdGeneration);
    response.status(201).json(await clientsStore.registerClient?.(client));
  });
}

/** Gives a client its id and, unless it can keep none, its secret. */
function toClient(metadata: OAuthClientMetadata, lifetimeSeconds: number, makesId: boolean): OAuthClientInformationFull {
  const now = Math.floor(Date.now() / 1000);
  const isPublic = metadata.token_endpoint_auth_method === 'none';
  return {
    ...metadata,
    client_secret: isPublic ? undefined : randomBytes(32).toString('hex'),
    client_secret_expires_at: isPublic ? undefined : lifetimeSeconds > 0 ? now + lifetimeSeconds : 0,
    ...(makesId ? { client_id: randomUUID(), client_id_issued_at: now } : {}),
  } as OAuthClientInformationFull;
}
