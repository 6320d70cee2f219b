/** How a client becomes known to an authorization server. @see 2026-07-28 basic/authorization/client-registration */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';
import type { AuthorizationServer } from 'oauth4webapi';
import { AuthOptionError, ClientMismatchError, RegistrationError } from '../errors.ts';
import { nameUrl, type SafeFetch } from '../safe-fetch.ts';
import type { CredentialVault, Registration } from './credential-vault.ts';
import type { ClientKey, RegisteredClient } from './credentials.ts';
import { toApplicationType } from './sign-in.ts';
import { toSafeText } from './to-safe-text.ts';

/** Who the client is, in the ways that authorization servers ask for it. */
export interface ClientIdentity {
  /** Clients that were registered by hand, each for its issuer. */
  readonly clients: readonly RegisteredClient[];
  /** The https URL of the client's metadata document, which is its id wherever such ids are taken. */
  readonly clientMetadataUrl: string | undefined;
  /** The key whose public half that document publishes. */
  readonly clientMetadataKey: ClientKey | undefined;
  readonly clientName: string;
  /** More members for dynamic registration, `client_uri` and `logo_uri` for instance. */
  readonly clientMetadata: JsonObject;
  readonly applicationType: 'native' | 'web' | undefined;
  readonly askForClient: ((issuer: string) => Promise<RegisteredClient | undefined>) | undefined;
  readonly isDpop: boolean;
}

/** What registration needs beside the client. */
export interface RegistrationCall {
  readonly as: AuthorizationServer;
  readonly vault: CredentialVault;
  readonly fetchPeer: SafeFetch;
  readonly redirectUrl: string;
  readonly nowMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Finds the client to use, in the specification's order: registered by hand, metadata document, dynamic registration, the user's own.
 *
 * @throws {ClientMismatchError} {RegistrationError}
 */
export async function findClient(identity: ClientIdentity, call: RegistrationCall): Promise<RegisteredClient> {
  const { as, vault, redirectUrl, nowMs } = call;
  const { clients, clientMetadataUrl, askForClient } = identity;
  const given = clients.find(({ issuer }) => issuer === as.issuer);
  if (given) return given;
  if (clientMetadataUrl !== undefined && as['client_id_metadata_document_supported'] === true) {
    return documentClient(as, clientMetadataUrl, identity.clientMetadataKey);
  }
  if (clients.length > 0 && clientMetadataUrl === undefined && !askForClient) throw toMismatch(as.issuer, clients);
  if (clients.length === 0 && typeof as.registration_endpoint === 'string') {
    const kept = await vault.registration(as.issuer, nowMs);
    return kept?.redirectUrls.includes(redirectUrl) ? kept : await register(identity, call, as.registration_endpoint);
  }
  return checkAsked(as.issuer, askForClient && (await abortable(askForClient(as.issuer), call.signal)));
}

/** The client that has a token already, to refresh or revoke it with. */
export async function findClientById(
  { clients, clientMetadataUrl, clientMetadataKey, askForClient }: ClientIdentity,
  clientId: string,
  { as, vault, nowMs }: Pick<RegistrationCall, 'as' | 'vault' | 'nowMs'>,
): Promise<RegisteredClient | undefined> {
  const given = clients.find((client) => client.issuer === as.issuer && client.clientId === clientId);
  if (given) return given;
  if (clientId === clientMetadataUrl) return documentClient(as, clientMetadataUrl, clientMetadataKey);
  const kept = await vault.registration(as.issuer, nowMs);
  if (kept?.clientId === clientId) return kept;
  const asked = await askForClient?.(as.issuer);
  return asked?.issuer === as.issuer && asked.clientId === clientId ? asked : undefined;
}

/** The id is the client's own, the same at every authorization server. */
function documentClient(as: AuthorizationServer, clientId: string, privateKey: ClientKey | undefined): RegisteredClient {
  return { issuer: as.issuer, clientId, privateKey, authMethod: privateKey ? 'private_key_jwt' : 'none' };
}

function checkAsked(issuer: string, asked: RegisteredClient | undefined): RegisteredClient {
  if (asked?.issuer === issuer) return asked;
  if (asked) throw toMismatch(issuer, [asked]);
  throw new RegistrationError(
    `The authorization server ${nameUrl(issuer)} knows no client of ours and registers none: register one there and give it in "clients"`,
    {},
  );
}

function toMismatch(issuer: string, clients: readonly RegisteredClient[]): ClientMismatchError {
  const known = clients.map((client) => nameUrl(client.issuer)).join(', ');
  return new ClientMismatchError(
    `The server is protected by ${nameUrl(issuer)}, and the registered clients are for ${known}: register a client there and give it in "clients"`,
  );
}

/** @see RFC 7591; OpenID Connect Dynamic Client Registration for `application_type` */
async function register(identity: ClientIdentity, call: RegistrationCall, endpoint: string): Promise<Registration> {
  const { as, vault, fetchPeer, redirectUrl, signal } = call;
  const body = {
    client_name: identity.clientName,
    ...identity.clientMetadata,
    redirect_uris: [redirectUrl],
    application_type: identity.applicationType ?? toApplicationType(redirectUrl),
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: chooseRegisteredMethod(as),
    ...(identity.isDpop && { dpop_bound_access_tokens: true }),
  };
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await fetchPeer(endpoint, { method: 'POST', headers, body: JSON.stringify(body), signal });
  const document = { token_endpoint_auth_method: body.token_endpoint_auth_method, ...readAnswer(endpoint, answer) };
  const registration = toRegistration(as.issuer, redirectUrl, document);
  await vault.saveRegistration(registration);
  return registration;
}

/** Public where that is taken: what a program carries in itself is no secret. */
function chooseRegisteredMethod(as: AuthorizationServer): string {
  const taken = as.token_endpoint_auth_methods_supported;
  if (!Array.isArray(taken)) return 'client_secret_basic';
  return ['none', 'client_secret_basic', 'client_secret_post'].find((method) => taken.includes(method)) ?? 'none';
}

/** @throws {RegistrationError} */
function readAnswer(
  endpoint: string,
  { status, text }: { readonly status: number; readonly text: string },
): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const document = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  const { client_id: clientId, client_secret: secret, error, error_description: description } = document;
  const isUsable = isCredential(clientId) && (isNoSecret(secret) || isCredential(secret));
  if ((status === 200 || status === 201) && isUsable) return document;
  const what = status < 300 ? 'answered without credentials that can be used' : `refused with ${status}`;
  throw new RegistrationError(`${nameUrl(endpoint)} ${what}; look at the redirect URL and at "clientMetadata"`, {
    status,
    error: toSafeText(error),
    description: toSafeText(description),
  });
}

/** Longer ones are no names: they would not fit in a URL or a header. */
const MAX_CREDENTIAL_LENGTH = 4096;

function isCredential(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_CREDENTIAL_LENGTH;
}

/** Public clients are told so in several ways. */
function isNoSecret(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function toRegistration(issuer: string, redirectUrl: string, document: Readonly<Record<string, unknown>>): Registration {
  const { client_id: clientId, client_secret: secret, token_endpoint_auth_method: method, client_secret_expires_at: expires } = document;
  const clientSecret = isCredential(secret) && method !== 'none' ? secret : undefined;
  const isMethod = method === 'none' || method === 'client_secret_basic' || method === 'client_secret_post';
  return {
    issuer,
    clientId: String(clientId),
    clientSecret,
    authMethod: isMethod && (method === 'none' || clientSecret !== undefined) ? method : undefined,
    redirectUrls: [redirectUrl],
    expiresAtMs: typeof expires === 'number' && expires > 0 && clientSecret !== undefined ? expires * 1000 : undefined,
  };
}

/**
 * Writes the document that a client publishes at `url`, and whose address is then its id.
 *
 * @param options.url https, with a path: the `clientMetadataUrl` that `oauth` is given.
 * @param options.more Members beside and in place of the usual ones: `jwks_uri` and `token_endpoint_auth_method` for a client with a key.
 * @throws {AuthOptionError} The URL is not such a one.
 * @see OAuth Client ID Metadata Document
 */
export function clientMetadataDocument(options: {
  readonly url: string;
  readonly clientName: string;
  readonly redirectUrls: readonly string[];
  readonly more?: JsonObject;
}): JsonObject {
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

/** @throws {AuthOptionError} It is not https, or has no path, or more than a path. */
export function checkClientMetadataUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isWhole = parsed?.protocol === 'https:' && parsed.pathname !== '/' && parsed.hash === '' && parsed.username === '';
  if (isWhole) return url;
  throw new AuthOptionError('clientMetadataUrl must be an https URL with a path, as https://example.com/client.json');
}
