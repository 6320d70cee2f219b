/** Dynamic registration of clients at the proxy, and the check of their redirect URIs. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isLoopbackHost } from '@mortise/protocol/edge';
import type { ClientTable } from './clients.ts';
import { OAuthRefusal } from './errors.ts';
import type { ProxySettings } from './options.ts';
import { digest, randomText } from './secrets.ts';

/** The supported client authentication methods of the token endpoint. */
export const AUTH_METHODS: readonly string[] = ['none', 'client_secret_basic', 'client_secret_post'];

/**
 * Registers a client (dynamic client registration).
 *
 * @returns The body of the registration response.
 * @throws {OAuthRefusal} The registration is invalid.
 * @see RFC 7591
 * @deprecated since 2026-07-28: use a client metadata document instead.
 */
export async function registerClient(body: unknown, clients: ClientTable, { privateSchemes, clock }: ProxySettings): Promise<JsonObject> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('The registration must be a JSON object');
  const asked = body as Readonly<Record<string, unknown>>;
  const redirectUris = readRedirectUris(asked['redirect_uris'], 'The registration', privateSchemes);
  if (asked['application_type'] === 'web' && redirectUris.some(isLocalRedirect))
    throw new OAuthRefusal(
      'invalid_redirect_uri',
      'A client of type "web" must not have redirect URIs on the user\'s machine: register it as "native"',
    );
  const method = asked['token_endpoint_auth_method'] ?? 'client_secret_basic';
  if (typeof method !== 'string' || !AUTH_METHODS.includes(method))
    throw invalid(`The "token_endpoint_auth_method" must be one of ${AUTH_METHODS.join(', ')}`);
  checkOffered(asked, 'grant_types', 'authorization_code');
  checkOffered(asked, 'response_types', 'code');
  const { client_name: name = 'A program without a name' } = asked;
  if (typeof name !== 'string' || name === '' || name.length > 200)
    throw invalid('The "client_name" must be a string of 1 to 200 characters');
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
/** The maximum length of all redirect URIs of a client together. It limits memory, because anyone may register. */
const MAX_CHARACTERS = 4_096;

/**
 * Reads and checks the redirect URIs of a client.
 *
 * @param what What contains the URIs, to begin error messages with: `The registration`.
 * @throws {OAuthRefusal} `invalid_redirect_uri`: there are none or too many, or one is not allowed.
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

/** Checks one redirect URI. @returns The reason to refuse it; undefined if it is allowed. */
function judgeRedirectUri(uri: string, privateSchemes: readonly string[]): string | undefined {
  if (!URL.canParse(uri)) return 'is not an absolute URL';
  const { protocol, username, password, hostname } = new URL(uri);
  if (uri.includes('#')) return 'has a fragment';
  if (username !== '' || password !== '') return 'has a user name or password';
  if (/[*\\\s]/.test(uri)) return 'has a wildcard, a backslash or a space';
  if (protocol === 'https:') return undefined;
  if (protocol === 'http:') return isLoopbackHost(hostname) ? undefined : 'is http to another machine: use https';
  return privateSchemes.includes(protocol.slice(0, -1)) ? undefined : 'is neither https nor http on this machine';
}

/** Tells whether a redirect URI leads to a program on the user's machine. The proxy cannot verify which program that is. */
export function isLocalRedirect(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol !== 'https:' || isLoopbackHost(hostname);
}

const LOOPBACK_PORT = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?]|$)/;

/**
 * Tells whether the client has registered a redirect URI. Compares character by character, so that codes cannot be sent elsewhere. A
 * loopback URI that was registered without a port allows every port of that host.
 *
 * @see RFC 8252 section 7.3
 */
export function isRegisteredRedirect(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true;
  // The pattern also matches ports over 65535.
  return LOOPBACK_PORT.test(uri) && URL.canParse(uri) && registered.includes(uri.replace(LOOPBACK_PORT, '$1'));
}
