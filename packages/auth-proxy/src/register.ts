/** Dynamic client registration. @see RFC 7591 @deprecated since 2026-07-28: use a client metadata document instead. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { ClientTable } from './clients.ts';
import { OAuthRefusal } from './errors.ts';
import type { ProxySettings } from './options.ts';
import { isLocalRedirect, readRedirectUris } from './redirect-uri.ts';
import { digest, randomText } from './secrets.ts';

/** How a client may authenticate at the token endpoint. */
export const AUTH_METHODS: readonly string[] = ['none', 'client_secret_basic', 'client_secret_post'];

/** @returns The body of the answer. @throws {OAuthRefusal} The client cannot be registered. */
export async function registerClient(body: unknown, clients: ClientTable, { privateSchemes, clock }: ProxySettings): Promise<JsonObject> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('The registration must be a JSON object');
  const asked = body as Readonly<Record<string, unknown>>;
  const redirectUris = readRedirectUris(asked['redirect_uris'], 'The registration', privateSchemes);
  if (asked['application_type'] === 'web' && redirectUris.some(isLocalRedirect))
    throw new OAuthRefusal('invalid_redirect_uri', 'A web application has redirect URIs on the web: register this one as "native"');
  const method = asked['token_endpoint_auth_method'] ?? 'client_secret_basic';
  if (typeof method !== 'string' || !AUTH_METHODS.includes(method))
    throw invalid(`The "token_endpoint_auth_method" must be one of ${AUTH_METHODS.join(', ')}`);
  checkOffered(asked, 'grant_types', 'authorization_code');
  checkOffered(asked, 'response_types', 'code');
  const { client_name: name = 'A program without a name' } = asked;
  if (typeof name !== 'string' || name === '' || name.length > 200)
    throw invalid('The "client_name" must be a text of at most 200 characters');
  const secret = method === 'none' ? undefined : randomText();
  const clientId = randomText();
  await clients.add({ clientId, name, redirectUris, secretDigest: secret === undefined ? undefined : await digest(secret) });
  return {
    client_id: clientId,
    client_id_issued_at: Math.floor(clock.now() / 1000),
    ...(secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
    client_name: name,
    redirect_uris: [...redirectUris],
    token_endpoint_auth_method: method,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}

function checkOffered(asked: Readonly<Record<string, unknown>>, member: string, offered: string): void {
  const types = asked[member] ?? [offered];
  if (!Array.isArray(types) || !types.includes(offered)) throw invalid(`The "${member}" must include "${offered}"`);
}

function invalid(description: string): OAuthRefusal {
  return new OAuthRefusal('invalid_client_metadata', description);
}
