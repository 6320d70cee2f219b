/** Finds a server's authorization server and its metadata. @see RFC 9728; RFC 8414; OpenID Connect Discovery 1.0 */

import type { FetchLike } from '../../shared/transport.ts';
import {
  type AuthorizationServerMetadata,
  type OAuthMetadata,
  OAuthMetadataSchema,
  type OAuthProtectedResourceMetadata,
  OAuthProtectedResourceMetadataSchema,
  OpenIdProviderDiscoveryMetadataSchema,
} from '../../shared/auth.ts';
import { LATEST_PROTOCOL_VERSION } from '../../types.ts';
import { fetchWithinOrigin } from './fetch-within-origin.ts';
import type { OAuthServerInfo } from './provider.ts';

const RESOURCE = '/.well-known/oauth-protected-resource';
const OAUTH = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';
const VERSION_HEADER = 'MCP-Protocol-Version';

/**
 * Fetches a server's protected resource metadata, from the URL given or from its well-known paths.
 *
 * @throws {Error} There is none, or it is invalid.
 */
export async function discoverOAuthProtectedResourceMetadata(
  serverUrl: string | URL,
  options: { protocolVersion?: string | undefined; resourceMetadataUrl?: string | URL | undefined } = {},
  fetchFn: FetchLike = fetch,
): Promise<OAuthProtectedResourceMetadata> {
  const { protocolVersion, resourceMetadataUrl } = options;
  const headers = versionHeaders(protocolVersion);
  const response =
    resourceMetadataUrl === undefined
      ? await fetchWellKnown(new URL(serverUrl), RESOURCE, headers, fetchFn)
      : await fetchMetadata(resourceMetadataUrl, headers, fetchFn);
  if (!(await isFound(response, 'OAuth protected resource')))
    throw new Error('Resource server does not implement OAuth 2.0 Protected Resource Metadata.');
  return OAuthProtectedResourceMetadataSchema.parse(await response?.json());
}

/**
 * Fetches OAuth metadata of an authorization server from its well-known paths; undefined if there is none.
 *
 * @deprecated Use `discoverAuthorizationServerMetadata`, which knows OpenID Connect, too.
 */
export async function discoverOAuthMetadata(
  issuer: string | URL,
  options: { authorizationServerUrl?: string | URL | undefined; protocolVersion?: string | undefined } = {},
  fetchFn: FetchLike = fetch,
): Promise<OAuthMetadata | undefined> {
  const server = new URL(options.authorizationServerUrl ?? issuer);
  const response = await fetchWellKnown(server, OAUTH, versionHeaders(options.protocolVersion), fetchFn);
  return (await isFound(response, 'OAuth')) ? OAuthMetadataSchema.parse(await response?.json()) : undefined;
}

/** Returns the URLs at which an authorization server may publish its metadata, in the order to try. */
export function buildDiscoveryUrls(authorizationServerUrl: string | URL): { url: URL; type: 'oauth' | 'oidc' }[] {
  const { origin, pathname } = new URL(authorizationServerUrl);
  const path = pathname.replace(/\/$/, '');
  const urls: { url: URL; type: 'oauth' | 'oidc' }[] = [
    { url: new URL(OAUTH + path, origin), type: 'oauth' },
    { url: new URL(OPENID + path, origin), type: 'oidc' },
  ];
  // OpenID Connect appends its well-known path, where OAuth inserts it.
  if (path !== '') urls.push({ url: new URL(path + OPENID, origin), type: 'oidc' });
  return urls;
}

/**
 * Fetches an authorization server's metadata, as OAuth or OpenID Connect publishes it; undefined if there is none.
 *
 * @throws {Error} The server failed (status 500 and above), or its metadata is invalid.
 */
export async function discoverAuthorizationServerMetadata(
  authorizationServerUrl: string | URL,
  { fetchFn = fetch, protocolVersion }: { fetchFn?: FetchLike | undefined; protocolVersion?: string | undefined } = {},
): Promise<AuthorizationServerMetadata | undefined> {
  const headers = { ...versionHeaders(protocolVersion), Accept: 'application/json' };
  for (const { url, type } of buildDiscoveryUrls(authorizationServerUrl)) {
    const response = await fetchMetadata(url, headers, fetchFn);
    if (response?.ok === true) {
      const schema = type === 'oauth' ? OAuthMetadataSchema : OpenIdProviderDiscoveryMetadataSchema;
      return schema.parse(await response.json());
    }
    await response?.body?.cancel();
    if (response !== undefined && response.status >= 500)
      throw new Error(`HTTP ${response.status} trying to load ${type === 'oauth' ? 'OAuth' : 'OpenID provider'} metadata from ${url}`);
  }
  return undefined;
}

/** Finds a server's authorization server and the metadata of both. Without resource metadata, the server's own origin is taken for it. */
export async function discoverOAuthServerInfo(
  serverUrl: string | URL,
  options: { resourceMetadataUrl?: URL | undefined; fetchFn?: FetchLike | undefined } = {},
): Promise<OAuthServerInfo> {
  const { resourceMetadataUrl, fetchFn } = options;
  const resourceMetadata = await discoverOAuthProtectedResourceMetadata(serverUrl, { resourceMetadataUrl }, fetchFn).catch(() => undefined);
  const authorizationServerUrl = resourceMetadata?.authorization_servers?.[0] ?? String(new URL('/', serverUrl));
  const authorizationServerMetadata = await discoverAuthorizationServerMetadata(authorizationServerUrl, { fetchFn });
  return { authorizationServerUrl, authorizationServerMetadata, resourceMetadata };
}

function versionHeaders(version: string | undefined): Record<string, string> {
  return { [VERSION_HEADER]: version ?? LATEST_PROTOCOL_VERSION };
}

/** Fetches from the well-known path with the server's path behind it, then from the one without. */
async function fetchWellKnown(
  server: URL,
  wellKnown: string,
  headers: Record<string, string>,
  fetchFn: FetchLike,
): Promise<Response | undefined> {
  const { pathname, search } = server;
  const url = new URL(wellKnown + pathname.replace(/\/$/, ''), server);
  url.search = search;
  const response = await fetchMetadata(url, headers, fetchFn);
  const isAbsent = response === undefined || (!response.ok && response.status < 500);
  if (!isAbsent || (response !== undefined && pathname === '/')) return response;
  await response?.body?.cancel();
  return fetchMetadata(new URL(wellKnown, server), headers, fetchFn);
}

/** A browser reports a refusal by CORS as a TypeError: then tries without headers. Undefined if that fails, too. */
async function fetchMetadata(url: string | URL, headers: Record<string, string>, fetchFn: FetchLike): Promise<Response | undefined> {
  for (const init of [{ headers }, {}]) {
    try {
      return await fetchWithinOrigin(fetchFn, url, init);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return undefined;
}

/** @throws {Error} The status is neither success nor 404. */
async function isFound(response: Response | undefined, what: string): Promise<boolean> {
  if (response?.ok === true) return true;
  await response?.body?.cancel();
  if (response === undefined || response.status === 404) return false;
  throw new Error(`HTTP ${response.status} trying to load well-known ${what} metadata.`);
}
