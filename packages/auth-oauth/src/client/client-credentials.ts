/** Programs that act for themselves: with credentials of their own, or with their platform's word. */

import { abortable } from '@mortise/jsonrpc-core/connection';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { ClientExtension } from '@mortise/protocol/contracts';
import { AUTHORIZER_OPTIONS, type AuthorizerOptions, type OAuthAuthorizer } from './authorizer-options.ts';
import type { RegisteredClient } from './credentials.ts';
import { createProgramGrant, requestGrant } from './grant.ts';
import { GrantAuthorizer } from './grant-authorizer.ts';

/** For `extensions` of `McpClient.connect`: says that the client can act for itself. */
export const clientCredentialsExtension: ClientExtension = { id: 'io.modelcontextprotocol/oauth-client-credentials' };

/** Who the program is. */
export interface ClientCredentialsOptions extends AuthorizerOptions {
  /** Registered by hand, with a secret or a key. Used at its issuer alone. */
  readonly client: RegisteredClient;
}

/**
 * Makes an authorizer for a program that acts for itself, with credentials that were registered by hand.
 *
 * @param server The URL that the transport is given. Tokens go to its origin alone.
 * @throws {TypeError} An option is wrong.
 * @see ext-auth oauth-client-credentials
 */
export function clientCredentials(server: string | URL, options: ClientCredentialsOptions): OAuthAuthorizer {
  checkOptions('clientCredentials', options, { ...AUTHORIZER_OPTIONS, client: 'any' });
  const { client } = options;
  const grant = createProgramGrant(client, async (call, scopes) => requestGrant(call, client, { grantType: 'client_credentials', scopes }));
  return new GrantAuthorizer(server, grant, options);
}

/** How a workload says who it is. */
export interface WorkloadIdentityOptions extends AuthorizerOptions {
  /** The authorization server that trusts the platform. The workload's token goes nowhere else. */
  readonly issuer: string;
  /** Gives the workload's signed token, asked each time. Its audience should be the token endpoint. Kept nowhere. */
  readonly assertion: (audience: { issuer: string; tokenEndpoint: string; signal: AbortSignal }) => Promise<string>;
}

/** The grant that takes a signed assertion. @see RFC 7523 */
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/**
 * Makes an authorizer for a workload whose platform gives it signed tokens: a cluster, a cloud, a build. It needs no client and no secret.
 *
 * @param server The URL that the transport is given. Tokens go to its origin alone.
 * @throws {TypeError} An option is wrong.
 * @see SEP-1933
 */
export function workloadIdentity(server: string | URL, options: WorkloadIdentityOptions): OAuthAuthorizer {
  checkOptions('workloadIdentity', options, { ...AUTHORIZER_OPTIONS, issuer: 'string', assertion: 'function' });
  const { issuer, assertion } = options;
  // The library wants a client: nothing of it is sent.
  const client: RegisteredClient = { issuer, clientId: 'workload' };
  const grant = createProgramGrant(client, async (call, scopes) => {
    const audience = { issuer, tokenEndpoint: call.as.token_endpoint ?? '', signal: call.signal };
    const params = { assertion: await abortable(assertion(audience), call.signal) };
    return await requestGrant(call, client, { grantType: JWT_BEARER, scopes, params, auth: () => undefined });
  });
  return new GrantAuthorizer(server, { ...grant, findClient: async () => undefined }, options);
}
