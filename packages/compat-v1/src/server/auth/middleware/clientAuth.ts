/** `/server/auth/middleware/clientAuth`: finds and authenticates the client of a token request. */

import { timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import * as z from 'zod/v4';
import type { OAuthClientInformationFull } from '../../../shared/auth.ts';
import type { OAuthRegisteredClientsStore } from '../clients.ts';
import { InvalidClientError, ServerError } from '../errors.ts';
import { readParams, refuse } from '../respond.ts';

export type ClientAuthenticationMiddlewareOptions = { clientsStore: OAuthRegisteredClientsStore };

const Credentials = z.object({ client_id: z.string(), client_secret: z.string().optional() });

interface ClientRequest {
  client?: OAuthClientInformationFull | undefined;
}

/** Returns the client that `authenticateClient` has put into a request. @throws {ServerError} It did not run. */
export function clientOf(request: object): OAuthClientInformationFull {
  const { client } = request as ClientRequest;
  if (!client) throw new ServerError('Internal Server Error');
  return client;
}

/** Puts the client into `request.client`, if its secret is right. */
export function authenticateClient({ clientsStore }: ClientAuthenticationMiddlewareOptions): RequestHandler {
  return async (request, response, next) => {
    try {
      const { client_id, client_secret } = readParams(Credentials, request.body);
      const client = await clientsStore.getClient(client_id);
      if (!client) throw new InvalidClientError('Invalid client_id');
      if (client.client_secret) checkSecret(client, client.client_secret, client_secret);
      (request as ClientRequest).client = client;
    } catch (error) {
      return refuse(response, error);
    }
    next();
  };
}

function checkSecret(client: OAuthClientInformationFull, expected: string, given: string | undefined): void {
  if (!given) throw new InvalidClientError('Client secret is required');
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  if (a.length !== b.length || !timingSafeEqual(a, b)) throw new InvalidClientError('Invalid client_secret');
  const expiresAt = client.client_secret_expires_at;
  if (expiresAt && expiresAt < Math.floor(Date.now() / 1000)) throw new InvalidClientError('Client secret has expired');
}
