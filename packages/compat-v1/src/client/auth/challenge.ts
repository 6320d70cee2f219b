/** Reads what a server's challenge asks for. @see RFC 6750 section 3; RFC 9728 section 5.1 */

export interface ChallengeParams {
  resourceMetadataUrl?: URL | undefined;
  scope?: string | undefined;
  error?: string | undefined;
}

/** Reads the `WWW-Authenticate` header of a response. Empty if there is none, or it is of another scheme than Bearer. */
export function extractWWWAuthenticateParams(response: { readonly headers: { get(name: string): string | null } }): ChallengeParams {
  const header = response.headers.get('WWW-Authenticate') ?? '';
  if (!/^bearer +\S/i.test(header)) return {};
  const url = readParam(header, 'resource_metadata');
  return {
    resourceMetadataUrl: url !== undefined && URL.canParse(url) ? new URL(url) : undefined,
    scope: readParam(header, 'scope'),
    error: readParam(header, 'error'),
  };
}

/** Returns where a challenge says that the resource metadata is. @deprecated Use `extractWWWAuthenticateParams`. */
export function extractResourceMetadataUrl(response: Response): URL | undefined {
  return extractWWWAuthenticateParams(response).resourceMetadataUrl;
}

function readParam(header: string, name: string): string | undefined {
  const [, quoted, bare] = new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"([^"]+)"|([^\\s,"]+))`, 'i').exec(header) ?? [];
  return quoted ?? bare;
}
