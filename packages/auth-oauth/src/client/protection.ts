/** What protects a server: which resource it is, and which authorization server gives tokens for it. */

import type { Clock } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import type { AuthorizationServer } from 'oauth4webapi';
import { ClientMismatchError, DiscoveryError } from '../errors.ts';
import { nameUrl, type SafeFetch } from '../safe-fetch.ts';
import { discoverAtOrigin, discoverIssuer, discoverResource } from './discover.ts';
import { canonicalUri } from './well-known.ts';

/** What discovery found. */
export interface Protection {
  /** Exactly as the server spells it. */
  readonly resource: string;
  readonly scopesSupported: readonly string[] | undefined;
  /** Validated: `as.issuer` is what the server named. */
  readonly as: AuthorizationServer;
}

/** What decides between authorization servers. */
export interface ProtectionOptions {
  readonly resource: string | undefined;
  readonly chooseIssuer: ((issuers: readonly string[]) => string) | undefined;
  readonly assumesOwnServer: boolean;
  readonly clock: Clock | undefined;
  /** Issuers that there are credentials for, best first. */
  readonly preferred: readonly string[];
}

/** Metadata of an issuer is read again after this. */
const KEEP_METADATA_MS = 10 * 60_000;

/** Discovers from the server on, each time: what a server says of itself may change. Metadata of an issuer is kept for a while. */
export class ProtectionFinder {
  readonly #server: URL;
  readonly #fetchPeer: SafeFetch;
  readonly #options: ProtectionOptions;
  readonly #clock: Clock;
  #as: AuthorizationServer | undefined;
  #readAtMs = 0;

  constructor(server: URL, fetchPeer: SafeFetch, options: ProtectionOptions) {
    this.#server = server;
    this.#fetchPeer = fetchPeer;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /**
   * @param challenged Where the server says that its metadata is.
   * @throws {DiscoveryError} {ResourceMismatchError} {IssuerMismatchError} and what a fetch throws.
   */
  async find(challenged: string | undefined, signal: AbortSignal | undefined): Promise<Protection> {
    const { resource, assumesOwnServer } = this.#options;
    const { found, attempts } = await discoverResource(this.#fetchPeer, { server: this.#server, challenged, resource, signal });
    if (found) {
      const issuer = this.#chooseIssuer(found.authorizationServers);
      return { resource: found.resource, scopesSupported: found.scopesSupported, as: await this.findIssuer(issuer, signal) };
    }
    if (assumesOwnServer) {
      const as = this.#remember(await discoverAtOrigin(this.#fetchPeer, this.#server, signal));
      return { resource: resource ?? canonicalUri(this.#server), scopesSupported: undefined, as };
    }
    throw new DiscoveryError(`${nameUrl(this.#server)} publishes no protected resource metadata; what was tried:`, attempts);
  }

  /** Metadata of an issuer that is known to protect the server. */
  async findIssuer(issuer: string, signal: AbortSignal | undefined): Promise<AuthorizationServer> {
    if (this.#as?.issuer === issuer && this.#clock.now() - this.#readAtMs < KEEP_METADATA_MS) return this.#as;
    const { origin } = this.#server;
    const isOwn = this.#options.assumesOwnServer && (issuer === origin || issuer === `${origin}/`);
    const found = isOwn
      ? await discoverAtOrigin(this.#fetchPeer, this.#server, signal)
      : await discoverIssuer(this.#fetchPeer, issuer, signal);
    return this.#remember(found);
  }

  #remember(as: AuthorizationServer): AuthorizationServer {
    this.#readAtMs = this.#clock.now();
    return (this.#as = as);
  }

  /** @throws {ClientMismatchError} The program chose one that the server does not name. */
  #chooseIssuer(issuers: readonly string[]): string {
    const { chooseIssuer, preferred } = this.#options;
    const chosen = chooseIssuer ? chooseIssuer(issuers) : (preferred.find((issuer) => issuers.includes(issuer)) ?? issuers[0]);
    if (chosen !== undefined && issuers.includes(chosen)) return chosen;
    throw new ClientMismatchError(`chooseIssuer must choose one of the authorization servers that ${nameUrl(this.#server)} names`);
  }
}
