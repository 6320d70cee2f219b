/** Dynamic client registration. @see RFC 7591 @deprecated since 2026-07-28: use a client metadata document instead. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { digest, randomText } from '../digest.ts';
import { OAuthRefusal } from './oauth-refusal.ts';
import { type ClientTable, type ProxyClient, readRedirectUris } from './proxy-client.ts';
import { isLocalRedirect } from './redirect-uri.ts';

/** The ways in which a client may show who it is at the token endpoint. */
export const AUTH_METHODS: readonly string[] = ['none', 'client_secret_basic', 'client_secret_post'];

/** Of all redirect URIs of a client that registers itself: anyone may, and what is kept of ten thousand of them must stay small. */
const MAX_URIS_LENGTH = 4_096;

/** Where a registration goes, and what may be in it. */
export interface RegistrationContext {
  readonly clients: ClientTable;
  readonly privateSchemes: readonly string[];
  readonly nowMs: number;
}

/** @returns What the client is told. @throws {OAuthRefusal} What cannot be registered. */
export async function registerClient(body: unknown, { clients, privateSchemes, nowMs }: RegistrationContext): Promise<JsonObject> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('The registration is no JSON object');
  const asked = body as Readonly<Record<string, unknown>>;
  const redirectUris = readUris(asked, privateSchemes);
  const method = readMethod(asked);
  checkGrants(asked);
  const secret = method === 'none' ? undefined : randomText();
  const client: ProxyClient = {
    clientId: randomText(),
    name: readName(asked),
    redirectUris,
    secretDigest: secret === undefined ? undefined : await digest(secret),
    documentHost: undefined,
  };
  await clients.add(client);
  return {
    client_id: client.clientId,
    client_id_issued_at: Math.floor(nowMs / 1000),
    ...(secret === undefined ? {} : { client_secret: secret, client_secret_expires_at: 0 }),
    client_name: client.name,
    redirect_uris: [...redirectUris],
    token_endpoint_auth_method: method,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
}

function readUris(asked: Readonly<Record<string, unknown>>, privateSchemes: readonly string[]): readonly string[] {
  try {
    const uris = readRedirectUris(asked['redirect_uris'], privateSchemes);
    if (uris.join('').length > MAX_URIS_LENGTH)
      throw new OAuthRefusal('invalid_redirect_uri', `lists redirect URIs of more than ${MAX_URIS_LENGTH} characters`);
    if (asked['application_type'] !== 'web' || !uris.some(isLocalRedirect)) return uris;
  } catch (error) {
    throw error instanceof OAuthRefusal ? new OAuthRefusal('invalid_redirect_uri', `The registration ${error.message}`) : error;
  }
  throw new OAuthRefusal('invalid_redirect_uri', 'A web application has redirect URIs on the web: register this one as "native"');
}

function readMethod(asked: Readonly<Record<string, unknown>>): string {
  const method = asked['token_endpoint_auth_method'] ?? 'client_secret_basic';
  if (typeof method === 'string' && AUTH_METHODS.includes(method)) return method;
  throw invalid(`The authentication method is not offered: use one of ${AUTH_METHODS.join(', ')}`);
}

function checkGrants(asked: Readonly<Record<string, unknown>>): void {
  const grants = asked['grant_types'] ?? ['authorization_code'];
  if (!Array.isArray(grants) || !grants.includes('authorization_code'))
    throw invalid('The grant type "authorization_code" is the one offered');
  const responses = asked['response_types'] ?? ['code'];
  if (!Array.isArray(responses) || !responses.includes('code')) throw invalid('The response type "code" is the one offered');
}

function readName(asked: Readonly<Record<string, unknown>>): string {
  const name = asked['client_name'];
  if (name === undefined) return 'A program without a name';
  if (typeof name === 'string' && name !== '' && name.length <= 200) return name;
  throw invalid('The "client_name" must be a text of at most 200 characters');
}

function invalid(description: string): OAuthRefusal {
  return new OAuthRefusal('invalid_client_metadata', description);
}
