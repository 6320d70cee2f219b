/** What a client asks for by way of a browser. @see RFC 6749 section 4.1.1; RFC 7636; RFC 8707 */

import type { ClientTable, ProxyClient } from './clients.ts';
import { OAuthRefusal } from './errors.ts';
import type { ProxySettings } from './options.ts';
import { isRegisteredRedirect } from './registration.ts';

/** A request that may be shown to a person. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string | undefined;
  readonly codeChallenge: string;
}

const MAX_STATE_LENGTH = 4_096;

/**
 * Reads a request.
 *
 * @throws {OAuthRefusal} With `redirect` it goes to the client; without, only the person sees it, as the client or its redirect is not known.
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
  if (repeated !== undefined) throw refuse('invalid_request', 'A parameter comes more than once');
  if (state !== undefined && state.length > MAX_STATE_LENGTH) throw refuse('invalid_request', 'The state is too long');
  if (params.get('response_type') !== 'code') throw refuse('unsupported_response_type', 'The response type must be "code"');
  if (params.get('code_challenge_method') !== 'S256') throw refuse('invalid_request', 'PKCE is required, with the method S256');
  const codeChallenge = params.get('code_challenge') ?? '';
  if (!/^[\w-]{43}$/.test(codeChallenge)) throw refuse('invalid_request', 'The code challenge is not a SHA-256 in base64url');
  const asked = params.get('resource');
  if (asked !== null && !isSameResource(asked, resource)) throw refuse('invalid_target', 'Tokens for this resource are not issued here');
  const scopes = readScopes(params.get('scope'), offered);
  if (scopes === undefined) throw refuse('invalid_scope', `A scope is not offered here: ask for some of "${offered.join(' ')}"`);
  return { client, request: { clientId: client.clientId, redirectUri, scopes, state, codeChallenge } };
}

/** @returns undefined where one is not offered. */
export function readScopes(text: string | null, offered: readonly string[]): readonly string[] | undefined {
  const asked = (text ?? '').split(' ').filter((scope) => scope !== '' && scope !== 'offline_access');
  if (asked.length === 0) return offered;
  return asked.every((scope) => offered.includes(scope)) ? [...new Set(asked)] : undefined;
}

/** Exactly, but for the slash of an empty path, which clients cannot agree on. */
export function isSameResource(asked: string, resource: string): boolean {
  return asked === resource || (new URL(resource).pathname === '/' && asked.replace(/\/$/, '') === resource.replace(/\/$/, ''));
}

async function readClient(params: URLSearchParams, clients: ClientTable): Promise<ProxyClient> {
  const clientId = single(params, 'client_id');
  const client = clientId === undefined ? undefined : await clients.find(clientId);
  if (client === undefined) throw new OAuthRefusal('invalid_client', 'The program that asks is not registered here');
  return client;
}

function readRedirectUri(params: URLSearchParams, client: ProxyClient): string {
  const redirectUri = single(params, 'redirect_uri');
  if (redirectUri !== undefined && isRegisteredRedirect(redirectUri, client.redirectUris)) return redirectUri;
  throw new OAuthRefusal('invalid_request', 'The program has not registered the address that the answer would go to');
}

function single(params: URLSearchParams, name: string): string | undefined {
  const [value, ...more] = params.getAll(name);
  return more.length === 0 ? value : undefined;
}
