/** `/shared/auth-utils`: resource indicators. @see RFC 8707 */

/** Returns the resource indicator of a server: its URL without fragment. */
export function resourceUrlFromServerUrl(url: URL | string): URL {
  const resource = new URL(url);
  resource.hash = '';
  return resource;
}

/** Whether a requested resource lies at or below a configured one: the same origin, and its path or one below. */
export function checkResourceAllowed({
  requestedResource,
  configuredResource,
}: {
  requestedResource: URL | string;
  configuredResource: URL | string;
}): boolean {
  const requested = new URL(requestedResource);
  const configured = new URL(configuredResource);
  if (requested.origin !== configured.origin) return false;
  // `/api` holds `/api/users` and not `/api2`; `/api/` does not hold `/api`.
  if (requested.pathname.length < configured.pathname.length) return false;
  return withSlash(requested.pathname).startsWith(withSlash(configured.pathname));
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}
