/** Signing in through an enterprise's identity provider, which decides who may use which server. @see ext-auth enterprise-managed-authorization */

import { abortable } from '@mortise/jsonrpc-core/connection';
import * as oauth from 'oauth4webapi';
import { TokenRequestError } from '../errors.ts';
import { assertSafeUrl } from '../safe-fetch.ts';
import type { AuthorizerOptions, OAuthAuthorizer } from './authorizer-options.ts';
import { checkIssuer, toClientAuth } from './client-auth.ts';
import type { ClientAuthMethod, ClientKey, RegisteredClient, TokenSet } from './credentials.ts';
import type { Grant, GrantCall } from './grant.ts';
import { GrantAuthorizer } from './grant-authorizer.ts';
import { requestToken, toTokens } from './token-request.ts';

/** The enterprise's identity provider, and who the client is there. */
export interface IdentityProvider {
  /** From the organization's settings, never from a server. */
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly privateKey?: ClientKey | undefined;
  /** How the client shows at the token endpoint who it is. @default `client_secret_basic` with a secret, `private_key_jwt` with a key */
  readonly authMethod?: ClientAuthMethod | undefined;
}

/** Proof of who the person is, from their single sign-on. */
export interface IdentityAssertion {
  readonly token: string;
  /** What kind of token it is. @default id_token */
  readonly type?: 'id_token' | 'saml2' | 'refresh_token' | undefined;
}

/** How an enterprise's people get to its servers. */
export interface EnterpriseManagedOptions extends AuthorizerOptions {
  /** The client at the authorization server of the MCP server. Used at its issuer alone. */
  readonly client: RegisteredClient;
  readonly identityProvider: IdentityProvider;
  /** Asked each time, so that it can be a fresh one. Kept nowhere. */
  readonly identity: (options: { readonly signal?: AbortSignal | undefined }) => Promise<IdentityAssertion>;
}

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:';
const ID_JAG = `${TOKEN_TYPE}id-jag`;

/**
 * Makes an authorizer that turns a person's single sign-on into tokens, without asking the person again.
 *
 * @param server The URL that the transport is given. Tokens go to its origin alone.
 * @throws {AuthOptionError} {UnsafeUrlError} An option cannot hold.
 */
export function enterpriseManaged(server: string | URL, options: EnterpriseManagedOptions): OAuthAuthorizer {
  const endpoint = options.identityProvider.tokenEndpoint;
  const host = URL.canParse(endpoint) ? new URL(endpoint).hostname : '';
  assertSafeUrl(endpoint, { allowedHosts: [host] }, 'identityProvider.tokenEndpoint');
  const urls = { ...options.urls, allowedHosts: [host, ...(options.urls?.allowedHosts ?? [])] };
  return new GrantAuthorizer(server, new EnterpriseGrant(options), { ...options, urls });
}

class EnterpriseGrant implements Grant {
  readonly isSilent = true;
  readonly wantsRefresh = false;
  readonly issuers: readonly string[];
  readonly #options: EnterpriseManagedOptions;

  constructor(options: EnterpriseManagedOptions) {
    this.#options = options;
    this.issuers = [options.client.issuer];
  }

  isOurs(issuer: string, clientId: string): boolean {
    return issuer === this.#options.client.issuer && clientId === this.#options.client.clientId;
  }

  async obtain(call: GrantCall, scopes: readonly string[]): Promise<TokenSet> {
    const { as, resource, nowMs, dpop } = call;
    const client = checkIssuer(this.#options.client, as);
    const assertion = await this.#exchange(call, scopes);
    const oauthClient: oauth.Client = { client_id: client.clientId };
    const params = { assertion, resource, ...(scopes.length > 0 && { scope: scopes.join(' ') }) };
    const answer = await requestToken(
      call,
      async (options) => await oauth.genericTokenEndpointRequest(as, oauthClient, toClientAuth(client, as), JWT_BEARER, params, options),
      async (response) => await oauth.processGenericTokenEndpointResponse(as, oauthClient, response),
    );
    return toTokens(answer, { requestedScopes: scopes, clientId: client.clientId, resource, dpop: dpop !== undefined, nowMs });
  }

  async findClient(call: GrantCall): Promise<RegisteredClient> {
    return checkIssuer(this.#options.client, call.as);
  }

  async forgetClient(): Promise<boolean> {
    return false;
  }

  /** The identity provider's word for the authorization server: an assertion, and no access token. */
  async #exchange({ as, resource, fetchPeer, signal }: GrantCall, scopes: readonly string[]): Promise<string> {
    const { identityProvider, identity } = this.#options;
    const { token, type = 'id_token' } = await abortable(identity({ signal }), signal);
    const { tokenEndpoint } = identityProvider;
    const provider: oauth.AuthorizationServer = { issuer: new URL(tokenEndpoint).origin, token_endpoint: tokenEndpoint };
    const oauthClient: oauth.Client = { client_id: identityProvider.clientId };
    const auth = toClientAuth({ ...identityProvider, issuer: provider.issuer }, provider);
    const params = {
      requested_token_type: ID_JAG,
      audience: as.issuer,
      resource,
      subject_token: token,
      subject_token_type: `${TOKEN_TYPE}${type}`,
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    };
    const answer = await requestToken(
      { as: provider, fetchPeer, dpop: undefined, signal },
      async (options) => await oauth.genericTokenEndpointRequest(provider, oauthClient, auth, TOKEN_EXCHANGE, params, options),
      async (response) =>
        await oauth.processGenericTokenEndpointResponse(provider, oauthClient, response, {
          recognizedTokenTypes: { n_a: () => undefined },
        }),
    );
    if (answer['issued_token_type'] === ID_JAG) return answer.access_token;
    throw new TokenRequestError('The identity provider issued something else than the assertion that was asked for (id-jag)', {});
  }
}
