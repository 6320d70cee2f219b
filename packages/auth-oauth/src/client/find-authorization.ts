/** Finds the resource identifier and the authorization server of an MCP server. */

import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthorizationServer } from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { createSafeFetch, nameUrl, type SafeFetch } from '../safe-fetch.ts';
import { type AuthorizerOptions, DISCOVERY_OPTIONS, toServerUrl, toUrlPolicy } from './authorizer-options.ts';
import { canonicalUri, discoverAtOrigin, discoverIssuer, discoverResource } from './discover.ts';

/** The result of discovery: the resource identifier of an MCP server, and its authorization server. */
export interface Protection {
  /** The MCP server's resource identifier, exactly as its metadata writes it. */
  readonly resource: string;
  readonly scopesSupported: readonly string[] | undefined;
  /** The validated metadata of the authorization server. Its `issuer` is the issuer that the MCP server named. */
  readonly as: AuthorizationServer;
}

/** The options of `ProtectionFinder`. */
type ProtectionRules = Pick<AuthorizerOptions, 'resource' | 'chooseIssuer' | 'assumesOwnServer' | 'clock'>;

/** How long the metadata of an authorization server is cached. */
const KEEP_METADATA_MS = 10 * 60_000;

/**
 * Finds the authorization server of an MCP server. Fetches the MCP server's metadata each time, because it may change. Caches the
 * metadata of the authorization server.
 */
export class ProtectionFinder {
  readonly #server: URL;
  readonly #fetchPeer: SafeFetch;
  readonly #rules: ProtectionRules;
  readonly #preferred: readonly string[];
  #as: AuthorizationServer | undefined;
  #readAtMs = 0;

  /** @param preferred The authorization servers for which there are credentials, best first. */
  constructor(server: URL, fetchPeer: SafeFetch, rules: ProtectionRules, preferred: readonly string[] = []) {
    this.#server = server;
    this.#fetchPeer = fetchPeer;
    this.#rules = rules;
    this.#preferred = preferred;
  }

  /**
   * Finds the MCP server's resource identifier and authorization server.
   *
   * @param challenged The metadata URL from the server's challenge.
   * @throws {AuthError} `ERR_DISCOVERY`: there is no metadata. `ERR_RESOURCE_MISMATCH`, `ERR_ISSUER_MISMATCH`, and errors of `SafeFetch`.
   */
  async find(challenged: string | undefined, signal: AbortSignal | undefined): Promise<Protection> {
    const { resource, assumesOwnServer = false } = this.#rules;
    const { found, attempts } = await discoverResource(this.#fetchPeer, { server: this.#server, challenged, resource, signal });
    if (found) {
      const issuer = this.#chooseIssuer(found.authorizationServers);
      return { resource: found.resource, scopesSupported: found.scopesSupported, as: await this.findIssuer(issuer, signal) };
    }
    if (assumesOwnServer) {
      const as = this.#remember(await discoverAtOrigin(this.#fetchPeer, this.#server, signal));
      return { resource: resource ?? canonicalUri(this.#server), scopesSupported: undefined, as };
    }
    throw new AuthError('ERR_DISCOVERY', `${nameUrl(this.#server)} publishes no protected resource metadata. Tried:${attempts}`);
  }

  /** Gets the metadata of an authorization server that is already known to issue tokens for the MCP server. */
  async findIssuer(issuer: string, signal: AbortSignal | undefined): Promise<AuthorizationServer> {
    if (this.#as?.issuer === issuer && this.#nowMs - this.#readAtMs < KEEP_METADATA_MS) return this.#as;
    const { origin } = this.#server;
    const isOwn = this.#rules.assumesOwnServer === true && (issuer === origin || issuer === `${origin}/`);
    const found = isOwn
      ? await discoverAtOrigin(this.#fetchPeer, this.#server, signal)
      : await discoverIssuer(this.#fetchPeer, issuer, signal);
    return this.#remember(found);
  }

  #remember(as: AuthorizationServer): AuthorizationServer {
    this.#readAtMs = this.#nowMs;
    return (this.#as = as);
  }

  get #nowMs(): number {
    return (this.#rules.clock ?? systemClock).now();
  }

  /** Chooses one of `issuers`. @throws {AuthError} `ERR_CLIENT_MISMATCH`: the option `chooseIssuer` returned another. */
  #chooseIssuer(issuers: readonly string[]): string {
    const { chooseIssuer } = this.#rules;
    const chosen = chooseIssuer ? chooseIssuer(issuers) : (this.#preferred.find((issuer) => issuers.includes(issuer)) ?? issuers[0]);
    if (chosen !== undefined && issuers.includes(chosen)) return chosen;
    throw new AuthError(
      'ERR_CLIENT_MISMATCH',
      `chooseIssuer must return one of the authorization servers that ${nameUrl(this.#server)} names`,
    );
  }
}

/** The result of `findAuthorization`: the resource identifier of an MCP server, and its authorization server. */
export interface FoundAuthorization extends Omit<Protection, 'as'> {
  /** The validated issuer of the authorization server. Register a client there, and store credentials under this issuer. */
  readonly issuer: string;
  /** Whether the authorization server accepts assertions of an enterprise's identity provider (`enterpriseManaged`). */
  readonly takesEnterpriseAssertions: boolean;
}

const ID_JAG_PROFILE = 'urn:ietf:params:oauth:grant-profile:id-jag';

/**
 * Finds the authorization server of an MCP server, so that you can choose or register credentials for it. Sends no credentials.
 *
 * @throws {AuthError} `ERR_DISCOVERY`: there is no metadata. `ERR_RESOURCE_MISMATCH`, `ERR_ISSUER_MISMATCH`, and errors of requests.
 */
export async function findAuthorization(
  server: string | URL,
  options: Pick<AuthorizerOptions, keyof typeof DISCOVERY_OPTIONS> & { readonly signal?: AbortSignal } = {},
): Promise<FoundAuthorization> {
  checkOptions('findAuthorization', options, { ...DISCOVERY_OPTIONS, signal: 'any' });
  const url = toServerUrl(server);
  const { fetch, timeoutMs, clock, signal } = options;
  const fetchPeer = createSafeFetch({ urls: toUrlPolicy(url, options.urls), fetch, timeoutMs, clock });
  const { as, resource, scopesSupported } = await new ProtectionFinder(url, fetchPeer, options).find(undefined, signal);
  const profiles: unknown = as['authorization_grant_profiles_supported'];
  const takesEnterpriseAssertions = Array.isArray(profiles) && profiles.includes(ID_JAG_PROFILE);
  return { issuer: as.issuer, resource, scopesSupported, takesEnterpriseAssertions };
}
