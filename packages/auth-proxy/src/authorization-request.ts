/** Authorization requests of clients. @see RFC 6749 section 4.1.1; RFC 7636; RFC 8707 */

import type { ClientTable, ProxyClient } from './clients.ts';
import { OAuthRefusal } from './errors.ts';
import type { ProxySettings } from './options.ts';
import { isRegisteredRedirect } from './registration.ts';

/** A valid authorization request of a client. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string | undefined;
  readonly codeChallenge: string;
}

/** The maximum length of `state`: a cookie holds it during the sign-in. */
const MAX_STATE_LENGTH = 1_024;

/**
 * Reads and checks an authorization request.
 *
 * @throws {OAuthRefusal} The request is invalid. If the error has `redirect`, it is sent to the client. If not, the client or its redirect
 * URI is unknown, and only the user sees the error.
 */
export async function readAuthorizationRequest(
  params: URLSearchParams,
  clients: ClientTable,
  { scopes: offered, resource }: ProxySettings,
): Promise<{ readonly client: ProxyClient; readonly request: AuthorizationRequest }> {
  const client = await readClient(params, clients);
  const redirectUri = readRedirectUri(params, client);
  const state = single(params, 'state');
  const refuse = (error: string, description: string): OAuthRefusal =>
    new OAuthRefusal(error, description, { redirect: { redirectUri, state } });
  const repeated = [...new Set(params.keys())].find((name) => params.getAll(name).length > 1);
  if (repeated !== undefined) throw refuse('invalid_request', 'A parameter of the request occurs more than once');
  if (state !== undefined && state.length > MAX_STATE_LENGTH) throw refuse('invalid_request', 'The parameter "state" is too long');
  if (params.get('response_type') !== 'code') throw refuse('unsupported_response_type', 'The response type must be "code"');
  if (params.get('code_challenge_method') !== 'S256') throw refuse('invalid_request', 'PKCE is required, with the method S256');
  const codeChallenge = params.get('code_challenge') ?? '';
  if (!/^[\w-]{43}$/.test(codeChallenge)) throw refuse('invalid_request', 'The "code_challenge" must be a SHA-256 in base64url');
  const asked = params.get('resource');
  if (asked !== null && !isSameResource(asked, resource))
    throw refuse('invalid_target', 'This server does not issue tokens for the requested "resource"');
  const scopes = readScopes(params.get('scope'), offered);
  if (scopes === undefined) throw refuse('invalid_scope', `A requested scope is not supported: use some of "${offered.join(' ')}"`);
  return { client, request: { clientId: client.clientId, redirectUri, scopes, state, codeChallenge } };
}

/** Reads the `scope` parameter; without scopes, gives all offered scopes. @returns undefined if a requested scope is not offered. */
export function readScopes(text: string | null, offered: readonly string[]): readonly string[] | undefined {
  const asked = (text ?? '').split(' ').filter((scope) => scope !== '' && scope !== 'offline_access');
  if (asked.length === 0) return offered;
  return asked.every((scope) => offered.includes(scope)) ? [...new Set(asked)] : undefined;
}

/** Tells whether two resource URLs are equal. One without a path may end in a slash or not, because clients differ in this. */
export function isSameResource(asked: string, resource: string): boolean {
  return asked === resource || (new URL(resource).pathname === '/' && asked.replace(/\/$/, '') === resource.replace(/\/$/, ''));
}

async function readClient(params: URLSearchParams, clients: ClientTable): Promise<ProxyClient> {
  const clientId = single(params, 'client_id');
  const client = clientId === undefined ? undefined : await clients.find(clientId);
  if (client === undefined) throw new OAuthRefusal('invalid_client', 'The client is not registered');
  return client;
}

function readRedirectUri(params: URLSearchParams, client: ProxyClient): string {
  const redirectUri = single(params, 'redirect_uri');
  if (redirectUri !== undefined && isRegisteredRedirect(redirectUri, client.redirectUris)) return redirectUri;
  throw new OAuthRefusal('invalid_request', 'The client has not registered the redirect URI of the request');
}

function single(params: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = params.getAll(name);
  return more.length === 0 ? value : undefined;
}
