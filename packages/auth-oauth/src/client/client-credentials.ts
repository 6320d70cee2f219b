/** Programs that act for themselves. @see ext-auth oauth-client-credentials */

import * as oauth from 'oauth4webapi';
import type { AuthorizerOptions, OAuthAuthorizer } from './authorizer-options.ts';
import { checkIssuer, toClientAuth } from './client-auth.ts';
import type { RegisteredClient, TokenSet } from './credentials.ts';
import type { Grant, GrantCall } from './grant.ts';
import { GrantAuthorizer } from './grant-authorizer.ts';
import { requestToken, toTokens } from './token-request.ts';

/** Who the program is. */
export interface ClientCredentialsOptions extends AuthorizerOptions {
  /** Registered by hand, with a secret or a key. Used at its issuer alone. */
  readonly client: RegisteredClient;
}

/**
 * Makes an authorizer for a program that acts for itself, with credentials that were registered by hand.
 *
 * @param server The URL that the transport is given. Tokens go to its origin alone.
 * @throws {AuthOptionError} An option cannot hold.
 */
export function clientCredentials(server: string | URL, options: ClientCredentialsOptions): OAuthAuthorizer {
  return new GrantAuthorizer(server, new ClientCredentialsGrant(options.client), options);
}

class ClientCredentialsGrant implements Grant {
  readonly isSilent = true;
  readonly wantsRefresh = false;
  readonly issuers: readonly string[];
  readonly #client: RegisteredClient;

  constructor(client: RegisteredClient) {
    this.#client = client;
    this.issuers = [client.issuer];
  }

  isOurs(issuer: string, clientId: string): boolean {
    return issuer === this.#client.issuer && clientId === this.#client.clientId;
  }

  async obtain(call: GrantCall, scopes: readonly string[]): Promise<TokenSet> {
    const { as, resource, nowMs, dpop } = call;
    const client = checkIssuer(this.#client, as);
    const oauthClient: oauth.Client = { client_id: client.clientId };
    const params = { resource, ...(scopes.length > 0 && { scope: scopes.join(' ') }) };
    const answer = await requestToken(
      call,
      async (options) => await oauth.clientCredentialsGrantRequest(as, oauthClient, toClientAuth(client, as), params, options),
      async (response) => await oauth.processClientCredentialsResponse(as, oauthClient, response),
    );
    return toTokens(answer, { requestedScopes: scopes, clientId: client.clientId, resource, dpop: dpop !== undefined, nowMs });
  }

  async findClient(call: GrantCall): Promise<RegisteredClient> {
    return checkIssuer(this.#client, call.as);
  }

  async forgetClient(): Promise<boolean> {
    return false;
  }
}
