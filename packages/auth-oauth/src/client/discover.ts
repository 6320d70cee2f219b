/** Finds and checks the metadata of MCP servers and authorization servers. @see RFC 9728; RFC 8414 */

import { ASSUMED_WITHOUT_HEADER } from '@mortise/protocol/revisions';
import type { AuthorizationServer } from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { nameUrl, readObject, type SafeFetch } from '../safe-fetch.ts';
import { splitScopes } from './grant.ts';

/** The protected resource metadata of an MCP server. @see RFC 9728 section 2 */
export interface ResourceMetadata {
  /** The MCP server's resource identifier, exactly as its metadata writes it. Sent unchanged with every token request. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
}

/** The input of `discoverResource`: which MCP server, and what is already known about its metadata. */
export interface DiscoveryInput {
  readonly server: URL;
  /** The `resource_metadata` URL of the server's `WWW-Authenticate` challenge, if any. */
  readonly challenged: string | undefined;
  /** The resource identifier that the metadata must have, if the option `resource` is set. */
  readonly resource: string | undefined;
  readonly signal: AbortSignal | undefined;
}

const RESOURCE_PATH = '/.well-known/oauth-protected-resource';

/**
 * Finds an MCP server's protected resource metadata: at the URL in the server's challenge, then at the well-known URL for the server's
 * path, then at the well-known URL for its root.
 *
 * @returns `found` is undefined if there is no metadata. `attempts` lists each URL that was tried, one per line.
 * @throws {AuthError} `ERR_RESOURCE_MISMATCH`: the metadata is for another resource. `ERR_DISCOVERY`: a URL returned a 5xx status.
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
      return '200, but without valid "resource" and "authorization_servers"';
    const isMeant = expected === undefined ? speaksOf(resource, server, url) : resource === expected;
    const scopesSupported = isStrings(scopes) ? splitScopes(scopes.join(' ')) : undefined;
    if (isMeant) return { resource, authorizationServers: servers, scopesSupported };
    mismatch ??= resource;
    return '200, but for another resource';
  });
  if (outcome.found !== undefined || mismatch === undefined) return outcome;
  const remedy = `set the option "resource" if you trust it. Tried:${outcome.attempts}`;
  const what = `The protected resource metadata is for ${nameUrl(mismatch)} and not for ${nameUrl(server)}`;
  throw new AuthError('ERR_RESOURCE_MISMATCH', `${what}: ${remedy}`);
}

/** Tells whether `resource` is the server's URL, or a parent URL of it whose well-known metadata URL is `place`. */
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
 * Finds an authorization server's metadata: at the URL of RFC 8414, then at that of OpenID Connect with the path inserted, then appended.
 *
 * @param issuer The issuer, exactly as the protected resource metadata writes it.
 * @throws {AuthError} `ERR_ISSUER_MISMATCH`: the metadata names another issuer. `ERR_DISCOVERY`: there is no metadata.
 * @see 2026-07-28 basic/authorization/authorization-server-discovery; RFC 8414 section 3.3
 */
export async function discoverIssuer(fetchPeer: SafeFetch, issuer: string, signal: AbortSignal | undefined): Promise<AuthorizationServer> {
  if (!URL.canParse(issuer)) throw new AuthError('ERR_DISCOVERY', 'The server names an authorization server that is not a valid URL');
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
  throw new AuthError('ERR_DISCOVERY', `The authorization server ${nameUrl(issuer)} publishes no metadata. Tried:${attempts}`);
}

/**
 * Gives the authorization server of an MCP server of revision 2025-03-26: the MCP server's own origin. If it publishes no metadata,
 * the default endpoints of that revision are used.
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
    // That revision requires PKCE without metadata that declares it.
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_post', 'client_secret_basic'],
  };
}

function toServer(document: Document, issuers: readonly string[], url: string): AuthorizationServer {
  if (issuers.includes(String(document['issuer']))) return document as unknown as AuthorizationServer;
  throw new AuthError(
    'ERR_ISSUER_MISMATCH',
    `The metadata at ${nameUrl(url)} is ignored: its "issuer" is not ${nameUrl(issuers[0] ?? '')}`,
  );
}

type Document = Readonly<Record<string, unknown>>;

/**
 * Fetches the `candidates` in order until a document is usable. After a 4xx status or a 200 without a JSON object, tries the next URL.
 *
 * @param read Converts a document to the result, or returns a text that says why the document is not usable.
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
    if (status >= 500 || status < 200) throw new AuthError('ERR_DISCOVERY', `${what} is not available at present. Tried:${attempts}`);
  }
  return { found: undefined, attempts };
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Gives the canonical URI of an MCP server: without fragment and trailing slash, with scheme and host in lower case. */
export function canonicalUri(server: string | URL): string {
  const { origin, pathname, search } = new URL(server);
  return `${origin}${trimSlash(pathname)}${search}`;
}

function trimSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
