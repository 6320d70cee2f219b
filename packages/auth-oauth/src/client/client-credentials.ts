/** Authorizers for programs that act without a user: client credentials, and workload identity. */

import { abortable } from '@mortise/jsonrpc-core/connection';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { ClientExtension } from '@mortise/protocol/contracts';
import { AUTHORIZER_OPTIONS, type AuthorizerOptions, type OAuthAuthorizer } from './authorizer-options.ts';
import type { RegisteredClient } from './credentials.ts';
import { createProgramGrant, requestGrant } from './grant.ts';
import { GrantAuthorizer } from './grant-authorizer.ts';

/** Declares support for the client credentials flow. Give it in `extensions` of `McpClient.connect`. */
export const clientCredentialsExtension: ClientExtension = { id: 'io.modelcontextprotocol/oauth-client-credentials' };

/** The options of `clientCredentials`. */
export interface ClientCredentialsOptions extends AuthorizerOptions {
  /** The client that you registered at the authorization server, with its secret or key. These are used only at its `issuer`. */
  readonly client: RegisteredClient;
}

/**
 * Creates an authorizer for a program that acts on its own behalf, with a client that you registered by hand.
 *
 * @param server The URL of the MCP server. Tokens are sent only to its origin.
 * @throws {TypeError} An option is invalid.
 * @see ext-auth oauth-client-credentials
 */
export function clientCredentials(server: string | URL, options: ClientCredentialsOptions): OAuthAuthorizer {
  checkOptions('clientCredentials', options, { ...AUTHORIZER_OPTIONS, client: 'any' });
  const { client } = options;
  const grant = createProgramGrant(client, async (call, scopes) => requestGrant(call, client, { grantType: 'client_credentials', scopes }));
  return new GrantAuthorizer(server, grant, options);
}

/** The options of `workloadIdentity`. */
export interface WorkloadIdentityOptions extends AuthorizerOptions {
  /** The authorization server that trusts the workload's platform. The workload's token is sent only there. */
  readonly issuer: string;
  /** Gets the platform's signed token for the workload, for each token request; not stored. Its audience should be `tokenEndpoint`. */
  readonly assertion: (audience: { issuer: string; tokenEndpoint: string; signal: AbortSignal }) => Promise<string>;
}

/** The `grant_type` of a token request that presents a signed JWT as its grant. @see RFC 7523 */
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/**
 * Creates an authorizer for a workload that gets signed tokens from its platform: a cluster, a cloud, a build system. It needs no
 * registered client and no secret.
 *
 * @param server The URL of the MCP server. Tokens are sent only to its origin.
 * @throws {TypeError} An option is invalid.
 * @see SEP-1933
 */
export function workloadIdentity(server: string | URL, options: WorkloadIdentityOptions): OAuthAuthorizer {
  checkOptions('workloadIdentity', options, { ...AUTHORIZER_OPTIONS, issuer: 'string', assertion: 'function' });
  const { issuer, assertion } = options;
  // The library requires a client. It is not sent.
  const client: RegisteredClient = { issuer, clientId: 'workload' };
  const grant = createProgramGrant(client, async (call, scopes) => {
    const audience = { issuer, tokenEndpoint: call.as.token_endpoint ?? '', signal: call.signal };
    const params = { assertion: await abortable(assertion(audience), call.signal) };
    return await requestGrant(call, client, { grantType: JWT_BEARER, scopes, params, auth: () => undefined });
  });
  return new GrantAuthorizer(server, { ...grant, findClient: async () => undefined }, options);
}
