/** Where metadata may be, in the order in which it is looked for. */

/** One place where protected resource metadata may be, and the resource identifier that the place stands for. */
export interface ResourceCandidate {
  readonly url: string;
  /** The identifier whose well-known place this is; undefined for a place of the server's own choosing. */
  readonly identifier: string | undefined;
}

const RESOURCE = '/.well-known/oauth-protected-resource';

/**
 * Where a server's protected resource metadata may be: where the challenge says, at the server's path, at the root.
 *
 * @see 2026-07-28 basic/authorization/authorization-server-discovery; RFC 9728 section 3.1
 */
export function resourceCandidates(server: URL, challenged: string | undefined): readonly ResourceCandidate[] {
  const path = trimSlash(server.pathname);
  const urls = [
    ...(challenged === undefined ? [] : [challenged]),
    ...(path === '' ? [] : [`${server.origin}${RESOURCE}${path}${server.search}`]),
    `${server.origin}${RESOURCE}`,
  ];
  return [...new Set(urls)].map((url) => ({ url, identifier: toIdentifier(url, server.origin) }));
}

function toIdentifier(url: string, origin: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  if (parsed.origin !== origin || (parsed.pathname !== RESOURCE && !parsed.pathname.startsWith(`${RESOURCE}/`))) return undefined;
  return `${origin}${parsed.pathname.slice(RESOURCE.length)}${parsed.search}`;
}

/**
 * Where an authorization server's metadata may be: RFC 8414, then OpenID Connect with the path inserted, then appended.
 *
 * @see 2026-07-28 basic/authorization/authorization-server-discovery
 */
export function serverCandidates(issuer: string): readonly string[] {
  const { origin, pathname } = new URL(issuer);
  const path = trimSlash(pathname);
  const urls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ];
  return [...new Set(urls)];
}

/** A server's canonical URI: no fragment, no meaningless trailing slash, scheme and host in lower case. */
export function canonicalUri(server: string | URL): string {
  const { origin, pathname, search } = new URL(server);
  return `${origin}${trimSlash(pathname)}${search}`;
}

function trimSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
