/** Client registration. @see 2026-07-28 basic/authorization/client-registration */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { AuthorizationServer } from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { nameUrl, readObject, toSafeText } from '../safe-fetch.ts';
import type { ClientKey, RegisteredClient, Registration } from './credentials.ts';
import type { GrantCall } from './grant.ts';
import type { OAuthOptions } from './oauth.ts';
import { toApplicationType } from './sign-in.ts';

/** The options of `oauth` that say which client to use. */
export type ClientIdentity = Pick<OAuthOptions, 'clientMetadataUrl' | 'clientMetadataKey' | 'askForClient'> & {
  readonly [Name in 'clients' | 'clientName' | 'clientMetadata']: NonNullable<OAuthOptions[Name]>;
};

/** The input of registration: a `GrantCall`, and the redirect URL to register. */
type RegistrationCall = GrantCall & { readonly redirectUrl: string };

/**
 * Finds the client to use, in the specification's order: registered by hand, metadata document, dynamic registration, `askForClient`.
 *
 * @throws {AuthError} `ERR_CLIENT_MISMATCH`: the given clients are for other issuers. `ERR_REGISTRATION`: there is no way to get a client.
 */
export async function findClient(identity: ClientIdentity, call: RegistrationCall): Promise<RegisteredClient> {
  const { as, vault, redirectUrl, nowMs, signal } = call;
  const { issuer } = as;
  const { clients, clientMetadataUrl, askForClient } = identity;
  const given = clients.find((client) => client.issuer === issuer);
  if (given) return given;
  if (clientMetadataUrl !== undefined && as['client_id_metadata_document_supported'] === true) {
    return documentClient(as, clientMetadataUrl, identity.clientMetadataKey);
  }
  if (clients.length === 0 && typeof as.registration_endpoint === 'string') {
    const kept = await vault.registration(issuer, nowMs);
    return kept?.redirectUrls.includes(redirectUrl) ? kept : await register(identity, call, as.registration_endpoint);
  }
  const asked = askForClient && (await abortable(askForClient(issuer), signal));
  if (asked?.issuer === issuer) return asked;
  const others = [...clients, ...(asked ? [asked] : [])].map((client) => nameUrl(client.issuer)).join(', ');
  const remedy = 'register a client there and give it in "clients"';
  if (others !== '')
    throw new AuthError(
      'ERR_CLIENT_MISMATCH',
      `The server's authorization server is ${nameUrl(issuer)}, but the clients are for ${others}: ${remedy}`,
    );
  throw new AuthError('ERR_REGISTRATION', `The authorization server ${nameUrl(issuer)} does not support dynamic registration: ${remedy}`);
}

/** Finds the client that existing tokens were issued to, to refresh or revoke the tokens. */
export async function findClientById(
  { clients, clientMetadataUrl, clientMetadataKey, askForClient }: ClientIdentity,
  clientId: string,
  { as, vault, nowMs }: GrantCall,
): Promise<RegisteredClient | undefined> {
  const given = clients.find((client) => client.issuer === as.issuer && client.clientId === clientId);
  if (given) return given;
  if (clientId === clientMetadataUrl) return documentClient(as, clientMetadataUrl, clientMetadataKey);
  const kept = await vault.registration(as.issuer, nowMs);
  if (kept?.clientId === clientId) return kept;
  const asked = await askForClient?.(as.issuer);
  return asked?.issuer === as.issuer && asked.clientId === clientId ? asked : undefined;
}

/** Creates the client for a client metadata document. At every authorization server its client id is the document's URL. */
function documentClient(as: AuthorizationServer, clientId: string, privateKey: ClientKey | undefined): RegisteredClient {
  return { issuer: as.issuer, clientId, privateKey, authMethod: privateKey ? 'private_key_jwt' : 'none' };
}

/** Registers the client dynamically. @see RFC 7591; OpenID Connect Dynamic Client Registration for `application_type` */
async function register(identity: ClientIdentity, call: RegistrationCall, endpoint: string): Promise<Registration> {
  const { as, vault, fetchPeer, redirectUrl, signal } = call;
  const body = {
    client_name: identity.clientName,
    application_type: toApplicationType(redirectUrl),
    ...identity.clientMetadata,
    redirect_uris: [redirectUrl],
    grant_types: chooseGrantTypes(as),
    response_types: ['code'],
    token_endpoint_auth_method: chooseRegisteredMethod(as),
    ...(call.dpop && { dpop_bound_access_tokens: true }),
  };
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await fetchPeer(endpoint, { method: 'POST', headers, body: JSON.stringify(body), signal });
  const registration = toRegistration(endpoint, answer.status, {
    token_endpoint_auth_method: body.token_endpoint_auth_method,
    ...(await readObject(answer)),
  });
  const kept = { ...registration, issuer: as.issuer, redirectUrls: [redirectUrl] };
  await vault.saveRegistration(kept);
  return kept;
}

/** Chooses the grant types to register: refresh tokens unless the metadata lists the grant types without them. @see RFC 8414 section 2 */
function chooseGrantTypes({ grant_types_supported: supported }: AuthorizationServer): readonly string[] {
  const canRefresh = !Array.isArray(supported) || supported.includes('refresh_token');
  return canRefresh ? ['authorization_code', 'refresh_token'] : ['authorization_code'];
}

/** Chooses the authentication method to register: `none` if accepted, because an installed program cannot keep a secret. */
function chooseRegisteredMethod(as: AuthorizationServer): string {
  const accepted = as.token_endpoint_auth_methods_supported;
  if (!Array.isArray(accepted)) return 'client_secret_basic';
  return ['none', 'client_secret_basic', 'client_secret_post'].find((method) => accepted.includes(method)) ?? 'none';
}

/** Reads a registration response. Unlike `oauth4webapi` allows status 200 and a secret of `null`. @throws {AuthError} `ERR_REGISTRATION` */
function toRegistration(
  endpoint: string,
  status: number,
  document: Readonly<Record<string, unknown>>,
): Omit<Registration, 'issuer' | 'redirectUrls'> {
  const { client_id: clientId, client_secret: secret, client_secret_expires_at: expires, error, error_description: words } = document;
  const method = document['token_endpoint_auth_method'];
  const isPublic = secret === undefined || secret === null || secret === '';
  if ((status === 200 || status === 201) && isCredential(clientId) && (isPublic || isCredential(secret))) {
    if (isPublic || method === 'none') return { clientId, authMethod: method === 'none' ? method : undefined, expiresAtMs: undefined };
    const isMethod = method === 'client_secret_basic' || method === 'client_secret_post';
    const expiresAtMs = typeof expires === 'number' && expires > 0 ? expires * 1000 : undefined;
    return { clientId, clientSecret: secret, authMethod: isMethod ? method : undefined, expiresAtMs };
  }
  const what = status < 300 ? 'sent a registration response without valid credentials' : `refused the registration with ${status}`;
  const refusal = { status, error: toSafeText(error), description: toSafeText(words) };
  throw new AuthError('ERR_REGISTRATION', `${nameUrl(endpoint)} ${what}: check the redirect URL and "clientMetadata"`, refusal);
}

/** The maximum length of a client id or secret, which must fit in a URL or header. */
const MAX_CREDENTIAL_LENGTH = 4096;

function isCredential(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_CREDENTIAL_LENGTH;
}

/**
 * Creates a client metadata document. Publish it at `url`, which is then the client id.
 *
 * @param options.url An https URL with a path; the `clientMetadataUrl` of `oauth`.
 * @param options.more Members to add or replace: `jwks_uri` and `token_endpoint_auth_method` for a client with a key, `grant_types` for
 * authorization servers without refresh tokens.
 * @throws {TypeError} The URL is not https with a path.
 * @see OAuth Client ID Metadata Document
 */
export function clientMetadataDocument(options: {
  readonly url: string;
  readonly clientName: string;
  readonly redirectUrls: readonly string[];
  readonly more?: JsonObject;
}): JsonObject {
  const table = { url: 'string', clientName: 'string', redirectUrls: 'array', more: 'any' } as const;
  checkOptions('clientMetadataDocument', options, table);
  return {
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    ...options.more,
    client_id: checkClientMetadataUrl(options.url),
    client_name: options.clientName,
    redirect_uris: [...options.redirectUrls],
  };
}

/** Checks and returns a client metadata URL. @throws {TypeError} It is not https, has no path, or has a user name or a fragment. */
export function checkClientMetadataUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isWhole = parsed?.protocol === 'https:' && parsed.pathname !== '/' && parsed.hash === '' && parsed.username === '';
  if (isWhole) return url;
  throw new TypeError('clientMetadataUrl must be an https URL with a path, such as https://example.com/client.json');
}
