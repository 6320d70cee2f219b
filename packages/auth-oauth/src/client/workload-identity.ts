/** Workloads that their platform vouches for: no client, no secret, no registration. @see SEP-1933; RFC 7523 */

import { abortable } from '@mortise/jsonrpc-core/connection';
import * as oauth from 'oauth4webapi';
import { ClientMismatchError } from '../errors.ts';
import { nameUrl } from '../safe-fetch.ts';
import type { AuthorizerOptions, OAuthAuthorizer } from './authorizer-options.ts';
import type { RegisteredClient, TokenSet } from './credentials.ts';
import type { Grant, GrantCall } from './grant.ts';
import { GrantAuthorizer } from './grant-authorizer.ts';
import { requestToken, toTokens } from './token-request.ts';

/** Whom a workload's word is for. */
export interface WorkloadAudience {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly signal: AbortSignal | undefined;
}

/** How a workload says who it is. */
export interface WorkloadIdentityOptions extends AuthorizerOptions {
  /** The authorization server that trusts the platform. The workload's token goes nowhere else. */
  readonly issuer: string;
  /** Gives the workload's signed token, asked each time. Its audience should be the token endpoint. Kept nowhere. */
  readonly assertion: (audience: WorkloadAudience) => Promise<string>;
}

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/**
 * Makes an authorizer for a workload whose platform gives it signed tokens: a cluster, a cloud, a build.
 *
 * @param server The URL that the transport is given. Tokens go to its origin alone.
 * @throws {AuthOptionError} An option cannot hold.
 */
export function workloadIdentity(server: string | URL, options: WorkloadIdentityOptions): OAuthAuthorizer {
  return new GrantAuthorizer(server, new WorkloadGrant(options), options);
}

class WorkloadGrant implements Grant {
  readonly isSilent = true;
  readonly wantsRefresh = false;
  readonly issuers: readonly string[];
  readonly #options: WorkloadIdentityOptions;

  constructor(options: WorkloadIdentityOptions) {
    this.#options = options;
    this.issuers = [options.issuer];
  }

  isOurs(issuer: string, clientId: string): boolean {
    return issuer === this.#options.issuer && clientId === NO_CLIENT.client_id;
  }

  async obtain(call: GrantCall, scopes: readonly string[]): Promise<TokenSet> {
    const { as, resource, nowMs, dpop, signal } = call;
    const { issuer } = this.#options;
    if (as.issuer !== issuer) {
      throw new ClientMismatchError(
        `The server is protected by ${nameUrl(as.issuer)}, and the workload is known to ${nameUrl(issuer)}: its token was not sent`,
      );
    }
    const assertion = await abortable(this.#options.assertion({ issuer, tokenEndpoint: as.token_endpoint ?? '', signal }), signal);
    const params = { assertion, resource, ...(scopes.length > 0 && { scope: scopes.join(' ') }) };
    const answer = await requestToken(
      call,
      async (options) => await oauth.genericTokenEndpointRequest(as, NO_CLIENT, noAuth, JWT_BEARER, params, options),
      async (response) => await oauth.processGenericTokenEndpointResponse(as, NO_CLIENT, response),
    );
    return toTokens(answer, { requestedScopes: scopes, clientId: NO_CLIENT.client_id, resource, dpop: dpop !== undefined, nowMs });
  }

  async findClient(): Promise<RegisteredClient | undefined> {
    return undefined;
  }

  async forgetClient(): Promise<boolean> {
    return false;
  }
}

/** The library wants a client; nothing of it is sent. */
const NO_CLIENT: oauth.Client = { client_id: 'workload' };
const noAuth: oauth.ClientAuth = () => undefined;
