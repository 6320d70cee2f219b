/** `/server/auth/handlers/authorize`: begins an authorization. @see RFC 6749 section 4.1.1; RFC 8252 section 7.3 */

import type { RequestHandler } from 'express';
import * as z from 'zod/v4';
import type { OAuthClientInformationFull } from '../../../shared/auth.ts';
import { InvalidClientError, InvalidRequestError, type OAuthError } from '../errors.ts';
import type { OAuthServerProvider } from '../provider.ts';
import { endpoint, type RateLimit } from '../endpoint.ts';
import { readParams, toOAuthError, toUrl } from '../respond.ts';

export type AuthorizationHandlerOptions = {
  provider: OAuthServerProvider;
  /** @default 100 in a quarter of an hour */
  rateLimit?: RateLimit;
};

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const ClientParams = z.object({
  client_id: z.string(),
  redirect_uri: z
    .string()
    .optional()
    .refine((value) => value === undefined || URL.canParse(value), { message: 'redirect_uri must be a valid URL' }),
});
const RequestParams = z.object({
  response_type: z.literal('code'),
  code_challenge: z.string(),
  code_challenge_method: z.literal('S256'),
  scope: z.string().optional(),
  state: z.string().optional(),
  resource: z.url().optional(),
});

/** Whether a redirect URI is the registered one. On loopback hosts the port may differ, because native apps choose it when they start. */
export function redirectUriMatches(requested: string, registered: string): boolean {
  if (requested === registered) return true;
  if (!URL.canParse(requested) || !URL.canParse(registered)) return false;
  const [a, b] = [new URL(requested), new URL(registered)];
  if (!LOOPBACK.has(a.hostname) || a.username !== b.username || a.password !== b.password || a.hash !== b.hash) return false;
  return a.protocol === b.protocol && a.hostname === b.hostname && a.pathname === b.pathname && a.search === b.search;
}

/** Errors before the client and its redirect URI are known to be right are sent to the user; later ones to the client, by redirect. */
export function authorizationHandler({ provider, rateLimit }: AuthorizationHandlerOptions): RequestHandler {
  const limits = { what: 'authorization', rateLimit, windowMinutes: 15, limit: 100 };
  return endpoint({ ...limits, methods: ['GET', 'POST'], isForPages: false }, async (request, response) => {
    const given: unknown = request.method === 'POST' ? request.body : request.query;
    const { client_id, redirect_uri } = readParams(ClientParams, given);
    const client = await provider.clientsStore.getClient(client_id);
    if (!client) throw new InvalidClientError('Invalid client_id');
    const redirectUri = chooseRedirect(client, redirect_uri);
    const { state: givenState } = (given ?? {}) as { state?: unknown };
    const state = typeof givenState === 'string' ? givenState : undefined;
    try {
      const { scope, code_challenge, resource } = readParams(RequestParams, given);
      const params = { state, scopes: scope?.split(' ') ?? [], redirectUri, codeChallenge: code_challenge, resource: toUrl(resource) };
      await provider.authorize(client, params, response);
    } catch (error) {
      response.redirect(302, toErrorUrl(redirectUri, toOAuthError(error), state));
    }
  });
}

function chooseRedirect({ redirect_uris }: OAuthClientInformationFull, requested: string | undefined): string {
  if (requested !== undefined) {
    if (redirect_uris.some((registered) => redirectUriMatches(requested, registered))) return requested;
    throw new InvalidRequestError('Unregistered redirect_uri');
  }
  const [only, ...others] = redirect_uris;
  if (only !== undefined && others.length === 0) return only;
  throw new InvalidRequestError('redirect_uri must be specified when client has multiple registered URIs');
}

function toErrorUrl(redirectUri: string, { errorCode, message, errorUri }: OAuthError, state: string | undefined): string {
  const url = new URL(redirectUri);
  url.searchParams.set('error', errorCode);
  url.searchParams.set('error_description', message);
  if (errorUri) url.searchParams.set('error_uri', errorUri);
  if (state) url.searchParams.set('state', state);
  return url.href;
}
