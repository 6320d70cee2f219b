/** Metadata of servers and of authorization servers: where it may be, and whether it may be believed. @see RFC 9728; RFC 8414 */

import { ASSUMED_WITHOUT_HEADER } from '@mortise/protocol/revisions';
import type { AuthorizationServer } from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { nameUrl, readObject, type SafeFetch } from '../safe-fetch.ts';
import { splitScopes } from './grant.ts';

/** What a server says of its protection. @see RFC 9728 section 2 */
export interface ResourceMetadata {
  /** Exactly as the server wrote it: sent as it is with every request for a token. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
}

/** What discovery looks for. */
export interface DiscoveryInput {
  readonly server: URL;
  /** `resource_metadata` of the challenge, if it had one. */
  readonly challenged: string | undefined;
  /** The identifier that the metadata must name, if the program knows it. */
  readonly resource: string | undefined;
  readonly signal: AbortSignal | undefined;
}

const RESOURCE_PATH = '/.well-known/oauth-protected-resource';

/**
 * Finds a server's protected resource metadata: where the challenge says, at the server's path, at the root.
 *
 * @returns undefined for a server that has none anywhere, with what was tried, a line each.
 * @throws {AuthError} `ERR_RESOURCE_MISMATCH`: it is for another resource. `ERR_DISCOVERY`: a candidate failed with 5xx.
 * @see 2026-07-28 basic/authorization/authorization-server-discovery; RFC 9728 section 3.1
 */
export async function discoverResource(
  fetchPeer: SafeFetch,
  { server, challenged, resource: expected, signal }: DiscoveryInput,
): Promise<{ readonly found: ResourceMetadata | undefined; readonly attempts: string }> {
  const path = trimSlash(server.pathname);
  const candidates = [
    ...(challenged === undefined ? [] : [challenged]),
    ...(path === '' ? [] : [`${server.origin}${RESOURCE_PATH}${path}${server.search}`]),
    `${server.origin}${RESOURCE_PATH}`,
  ];
  let mismatch: string | undefined;
  const outcome = await firstDocument(fetchPeer, candidates, { what: 'Protected resource metadata', signal }, (document, url) => {
    const { resource, authorization_servers: servers, scopes_supported: scopes } = document;
    if (typeof resource !== 'string' || !isStrings(servers) || servers.length === 0)
      return '200, but without "resource" and "authorization_servers"';
    const isMeant = expected === undefined ? speaksOf(resource, server, url) : resource === expected;
    const scopesSupported = isStrings(scopes) ? splitScopes(scopes.join(' ')) : undefined;
    if (isMeant) return { resource, authorizationServers: servers, scopesSupported };
    mismatch ??= resource;
    return '200, but for another resource';
  });
  if (outcome.found !== undefined || mismatch === undefined) return outcome;
  const remedy = `give "resource" if you trust it; what was tried:${outcome.attempts}`;
  const what = `The protected resource metadata is for ${nameUrl(mismatch)} and not for ${nameUrl(server)}`;
  throw new AuthError('ERR_RESOURCE_MISMATCH', `${what}: ${remedy}`);
}

/** Whether a resource is the server itself; or, at a well-known place, the identifier that the place stands for, if that holds the server. */
function speaksOf(resource: string, server: URL, place: string): boolean {
  if (!URL.canParse(resource) || resource.includes('#')) return false;
  const theirs = canonicalUri(resource);
  const ours = canonicalUri(server);
  if (theirs === ours) return true;
  const { origin, pathname, search } = new URL(place);
  if (origin !== server.origin || (pathname !== RESOURCE_PATH && !pathname.startsWith(`${RESOURCE_PATH}/`))) return false;
  if (theirs !== canonicalUri(`${origin}${pathname.slice(RESOURCE_PATH.length)}${search}`)) return false;
  return ours.startsWith(`${theirs}/`) || ours.startsWith(`${theirs}?`);
}

/**
 * Finds an authorization server's metadata: RFC 8414, then OpenID Connect with the path inserted, then appended.
 *
 * @param issuer Exactly as the protected resource metadata has it.
 * @throws {AuthError} `ERR_ISSUER_MISMATCH`: the document names another issuer. `ERR_DISCOVERY`: there is no document.
 * @see 2026-07-28 basic/authorization/authorization-server-discovery; RFC 8414 section 3.3
 */
export async function discoverIssuer(fetchPeer: SafeFetch, issuer: string, signal: AbortSignal | undefined): Promise<AuthorizationServer> {
  if (!URL.canParse(issuer)) throw new AuthError('ERR_DISCOVERY', 'The server names an authorization server that is not a URL');
  const { origin, pathname } = new URL(issuer);
  const path = trimSlash(pathname);
  const candidates = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  const { found, attempts } = await firstDocument(
    fetchPeer,
    candidates,
    { what: 'Authorization server metadata', signal },
    (document, url) => toServer(document, [issuer], url),
  );
  if (found) return found;
  throw new AuthError('ERR_DISCOVERY', `The authorization server ${nameUrl(issuer)} publishes no metadata; what was tried:${attempts}`);
}

/**
 * The authorization server of a server of the first revision with authorization: the server's own origin, with or without metadata.
 *
 * @see 2025-03-26 basic/authorization#server-metadata-discovery
 */
export async function discoverAtOrigin(
  fetchPeer: SafeFetch,
  { origin }: URL,
  signal: AbortSignal | undefined,
): Promise<AuthorizationServer> {
  const headers = { 'mcp-protocol-version': ASSUMED_WITHOUT_HEADER.version };
  const candidates = [`${origin}/.well-known/oauth-authorization-server`];
  const options = { what: 'Authorization server metadata', signal, headers };
  const { found } = await firstDocument(fetchPeer, candidates, options, (document, url) => toServer(document, [origin, `${origin}/`], url));
  if (found) return found;
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    // That revision demands PKCE of everyone, and has no metadata to say so in.
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_post', 'client_secret_basic'],
  };
}

function toServer(document: Document, issuers: readonly string[], url: string): AuthorizationServer {
  if (issuers.includes(String(document['issuer']))) return document as unknown as AuthorizationServer;
  throw new AuthError(
    'ERR_ISSUER_MISMATCH',
    `${nameUrl(url)} names another issuer than ${nameUrl(issuers[0] ?? '')}: nothing of it is used`,
  );
}

type Document = Readonly<Record<string, unknown>>;

/**
 * Reads documents until one can be used. Any 4xx, and any 200 that is not a JSON object, is a miss.
 *
 * @param read Gives what was looked for, or says why the document does not have it.
 */
async function firstDocument<T extends object>(
  fetchPeer: SafeFetch,
  candidates: readonly string[],
  { what, signal, headers }: { what: string; signal: AbortSignal | undefined; headers?: Readonly<Record<string, string>> },
  read: (document: Document, url: string) => T | string,
): Promise<{ readonly found: T | undefined; readonly attempts: string }> {
  let attempts = '';
  for (const url of new Set(candidates)) {
    const answer = await fetchPeer(url, { headers: { accept: 'application/json', ...headers }, signal });
    const { status } = answer;
    const document = status === 200 ? await readObject(answer) : undefined;
    const found = document === undefined ? `${status}${status === 200 ? ', but not a JSON object' : ''}` : read(document, url);
    if (typeof found !== 'string') return { found, attempts };
    attempts += `\n  ${nameUrl(url)}: ${found}`;
    if (status >= 500 || status < 200) throw new AuthError('ERR_DISCOVERY', `${what} cannot be had at present; what was tried:${attempts}`);
  }
  return { found: undefined, attempts };
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** A server's canonical URI: no fragment, no meaningless trailing slash, scheme and host in lower case. */
export function canonicalUri(server: string | URL): string {
  const { origin, pathname, search } = new URL(server);
  return `${origin}${trimSlash(pathname)}${search}`;
}

function trimSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
