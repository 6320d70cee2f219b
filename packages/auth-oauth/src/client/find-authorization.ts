/** Discovery on its own: for programs that want to know an issuer before they choose credentials. */

import { createSafeFetch } from '../safe-fetch.ts';
import { type AuthorizerOptions, toServerUrl, toUrlPolicy } from './authorizer-options.ts';
import { ProtectionFinder } from './protection.ts';

/** What protects a server. */
export interface FoundAuthorization {
  /** The validated issuer, to register with and to keep credentials by. */
  readonly issuer: string;
  /** The resource identifier, exactly as the server spells it. */
  readonly resource: string;
  readonly scopesSupported: readonly string[] | undefined;
  /** Whether the authorization server says that it takes an enterprise's word for a person: then `enterpriseManaged` may be used. */
  readonly takesEnterpriseAssertions: boolean;
}

const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag';

/**
 * Finds out which authorization server protects a server. Sends no credentials.
 *
 * @throws {DiscoveryError} {ResourceMismatchError} {IssuerMismatchError} {UnsafeUrlError} and what else a fetch throws.
 */
export async function findAuthorization(
  server: string | URL,
  options: Pick<AuthorizerOptions, 'urls' | 'fetch' | 'timeoutMs' | 'resource' | 'chooseIssuer' | 'assumesOwnServer' | 'clock'> & {
    readonly signal?: AbortSignal;
  } = {},
): Promise<FoundAuthorization> {
  const { resource, chooseIssuer, assumesOwnServer = false, signal, fetch, timeoutMs, clock } = options;
  const url = toServerUrl(server);
  const fetchPeer = createSafeFetch({ urls: toUrlPolicy(url, options.urls), fetch, timeoutMs, clock });
  const finder = new ProtectionFinder(url, fetchPeer, { resource, chooseIssuer, assumesOwnServer, clock, preferred: [] });
  const found = await finder.find(undefined, signal);
  const profiles: unknown = found.as['authorization_grant_profiles_supported'];
  return {
    issuer: found.as.issuer,
    resource: found.resource,
    scopesSupported: found.scopesSupported,
    takesEnterpriseAssertions: Array.isArray(profiles) && profiles.includes(ID_JAG_PROFILE),
  };
}
