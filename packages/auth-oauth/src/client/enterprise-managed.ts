/** Sign-in through an enterprise's identity provider. @see ext-auth enterprise-managed-authorization */

import { abortable } from '@mortise/jsonrpc-core/connection';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { ClientExtension } from '@mortise/protocol/contracts';
import * as oauth from 'oauth4webapi';
import { AuthError } from '../errors.ts';
import { assertSafeUrl, nameUrl } from '../safe-fetch.ts';
import { AUTHORIZER_OPTIONS, type AuthorizerOptions, type OAuthAuthorizer } from './authorizer-options.ts';
import { toClientAuth } from './client-auth.ts';
import { JWT_BEARER } from './client-credentials.ts';
import type { RegisteredClient } from './credentials.ts';
import { createProgramGrant, type GrantCall, requestGrant, requestToken } from './grant.ts';
import { GrantAuthorizer } from './grant-authorizer.ts';

/** Declares support for enterprise-managed authorization. Give it in `extensions` of `McpClient.connect`. */
export const enterpriseManagedExtension: ClientExtension = { id: 'io.modelcontextprotocol/enterprise-managed-authorization' };

/** The enterprise's identity provider, and the client's credentials there. */
export interface IdentityProvider extends Omit<RegisteredClient, 'issuer'> {
  /** The identity provider's token endpoint, from the organization's settings. Never take it from what an MCP server sends. */
  readonly tokenEndpoint: string;
}

/** A token that proves the user's identity, from single sign-on. */
export interface IdentityAssertion {
  /** The token. */
  readonly token: string;
  /** The type of the identity token. @default id_token */
  readonly type?: 'id_token' | 'saml2' | 'refresh_token' | undefined;
}

/** The options of `enterpriseManaged`. */
export interface EnterpriseManagedOptions extends AuthorizerOptions {
  /** The client that you registered at the MCP server's authorization server. Its credentials are used only at its `issuer`. */
  readonly client: RegisteredClient;
  /** The identity provider of the user's single sign-on. */
  readonly identityProvider: IdentityProvider;
  /** Gets the user's identity assertion, for each token request, so that it can be a new one. The assertion is not stored. */
  readonly identity: (options: { readonly signal?: AbortSignal | undefined }) => Promise<IdentityAssertion>;
}

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:';
const ID_JAG = `${TOKEN_TYPE}id-jag`;

/**
 * Creates an authorizer that exchanges the user's single sign-on for tokens, without asking the user again.
 *
 * @param server The URL of the MCP server. Tokens are sent only to its origin.
 * @throws {TypeError} An option is invalid.
 * @throws {AuthError} `ERR_UNSAFE_URL`: the identity provider's endpoint is not an https URL.
 */
export function enterpriseManaged(server: string | URL, options: EnterpriseManagedOptions): OAuthAuthorizer {
  const table = { ...AUTHORIZER_OPTIONS, client: 'any', identityProvider: 'any', identity: 'function' } as const;
  checkOptions('enterpriseManaged', options, table);
  const { client, identityProvider } = options;
  const endpoint = identityProvider.tokenEndpoint;
  const host = URL.canParse(endpoint) ? new URL(endpoint).hostname : '';
  assertSafeUrl(endpoint, { allowedHosts: [host] }, 'identityProvider.tokenEndpoint');
  const urls = { ...options.urls, allowedHosts: [host, ...(options.urls?.allowedHosts ?? [])] };
  const grant = createProgramGrant(client, async (call, scopes) => {
    const params = { assertion: await getAssertion(call, scopes, options) };
    return await requestGrant(call, client, { grantType: JWT_BEARER, scopes, params });
  });
  return new GrantAuthorizer(server, grant, { ...options, urls });
}

/** Gets an assertion (ID-JAG) from the identity provider, with which the authorization server then issues tokens. */
async function getAssertion(
  { as, resource, fetchPeer, signal }: GrantCall,
  scopes: readonly string[],
  { identityProvider, identity }: EnterpriseManagedOptions,
): Promise<string> {
  const { token, type = 'id_token' } = await abortable(identity({ signal }), signal);
  const { tokenEndpoint, clientId } = identityProvider;
  const provider: oauth.AuthorizationServer = { issuer: new URL(tokenEndpoint).origin, token_endpoint: tokenEndpoint };
  const oauthClient: oauth.Client = { client_id: clientId };
  const auth = toClientAuth({ ...identityProvider, issuer: provider.issuer }, provider);
  const params = {
    requested_token_type: ID_JAG,
    audience: as.issuer,
    resource,
    subject_token: token,
    subject_token_type: `${TOKEN_TYPE}${type}`,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  };
  // The identity provider returns the assertion with the token type "N_A" (RFC 8693 section 2.2.1).
  const recognizedTokenTypes = { n_a: () => undefined };
  const answer = await requestToken(
    { as: provider, fetchPeer, dpop: undefined, signal },
    async (options) => await oauth.genericTokenEndpointRequest(provider, oauthClient, auth, TOKEN_EXCHANGE, params, options),
    async (response) => await oauth.processGenericTokenEndpointResponse(provider, oauthClient, response, { recognizedTokenTypes }),
  );
  if (answer['issued_token_type'] === ID_JAG) return answer.access_token;
  throw new AuthError('ERR_TOKEN_REQUEST', `${nameUrl(tokenEndpoint)} did not issue the requested assertion (token type id-jag)`);
}
