/** What a client may register, and the addresses that a browser may be sent to with a code. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isLoopbackHost } from '@mortise/protocol/edge';
import type { ClientTable } from './clients.ts';
import { OAuthRefusal } from './errors.ts';
import type { ProxySettings } from './options.ts';
import { digest, randomText } from './secrets.ts';

/** How a client may authenticate at the token endpoint. */
export const AUTH_METHODS: readonly string[] = ['none', 'client_secret_basic', 'client_secret_post'];

/**
 * Dynamic client registration.
 *
 * @returns The body of the answer.
 * @throws {OAuthRefusal} The client cannot be registered.
 * @see RFC 7591
 * @deprecated since 2026-07-28: use a client metadata document instead.
 */
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

const MAX_URIS = 20;
/** Of all redirect URIs of one client: anyone may register, and ten thousand of them must stay small. */
const MAX_CHARACTERS = 4_096;

/**
 * Reads the redirect URIs that a client wants.
 *
 * @param what Names the document that lists them, in errors.
 * @throws {OAuthRefusal} `invalid_redirect_uri`: none, too many, or one that is not allowed.
 * @see 2026-07-28 basic/authorization/security-considerations#open-redirection; RFC 9700 section 2.1
 */
export function readRedirectUris(value: unknown, what: string, privateSchemes: readonly string[]): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_URIS)
    throw new OAuthRefusal('invalid_redirect_uri', `${what} must list 1 to ${MAX_URIS} redirect URIs`);
  const uris = value.map((uri: unknown) => {
    const why = typeof uri === 'string' ? judgeRedirectUri(uri, privateSchemes) : 'is not a string';
    if (typeof uri === 'string' && why === undefined) return uri;
    throw new OAuthRefusal('invalid_redirect_uri', `${what} has a redirect URI that ${why}`);
  });
  if (uris.join('').length <= MAX_CHARACTERS) return uris;
  throw new OAuthRefusal('invalid_redirect_uri', `${what} lists redirect URIs of more than ${MAX_CHARACTERS} characters`);
}

/** @returns Why a client may not use a redirect URI; undefined for one that it may. */
function judgeRedirectUri(uri: string, privateSchemes: readonly string[]): string | undefined {
  if (!URL.canParse(uri)) return 'is not an absolute URL';
  const { protocol, username, password, hostname } = new URL(uri);
  if (uri.includes('#')) return 'has a fragment';
  if (username !== '' || password !== '') return 'holds a user name or password';
  if (/[*\\\s]/.test(uri)) return 'holds a wildcard, a backslash or a space';
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:') return isLoopbackHost(hostname) ? undefined : 'is http to another machine: use https';
  return privateSchemes.includes(protocol.slice(0, -1)) ? undefined : 'is neither https nor http on this machine';
}

/** Whether a redirect ends in some program on the user's machine, which cannot be distinguished from another. */
export function isLocalRedirect(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol !== 'https:' || isLoopbackHost(hostname);
}

const LOOPBACK_PORT = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?]|$)/;

/**
 * Whether a redirect URI is one that the client has registered: character by character, since any leniency here sends codes to
 * strangers. A loopback one that was registered without a port stands for every port of that host.
 *
 * @see RFC 8252 section 7.3
 */
export function isRegisteredRedirect(uri: string, registered: readonly string[]): boolean {
  return registered.includes(uri) || (LOOPBACK_PORT.test(uri) && registered.includes(uri.replace(LOOPBACK_PORT, '$1')));
}
