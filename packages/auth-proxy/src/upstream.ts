/** Requests to the provider, at which the proxy is registered as one client. */

import type { Clock } from '@mortise/jsonrpc-core';
import { isLoopbackHost } from '@mortise/protocol/edge';
import * as oauth from 'oauth4webapi';
import { fetchBounded } from './http.ts';
import type { ProxySettings, UpstreamOptions } from './options.ts';

/** The tokens that the provider issued to the proxy for one user. */
export interface UpstreamTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly expiresAtMs: number | undefined;
  readonly idTokenClaims: Readonly<Record<string, unknown>> | undefined;
}

/** The random values that bind the provider's authorization response to the proxy's request. */
export interface UpstreamFlow {
  readonly state: string;
  readonly codeVerifier: string;
  readonly nonce: string;
}

const MAX_BYTES = 1024 * 1024;

export class Upstream {
  readonly #options: UpstreamOptions;
  readonly #clock: Clock;
  readonly #client: oauth.Client;
  readonly #redirectUri: string;
  readonly #customFetch: (url: string, options: oauth.CustomFetchOptions<string, URLSearchParams | undefined>) => Promise<Response>;
  #server: oauth.AuthorizationServer | undefined;

  constructor({ upstream, fetch, clock }: ProxySettings, redirectUri: string) {
    this.#options = upstream;
    this.#clock = clock;
    this.#client = { client_id: upstream.clientId };
    this.#redirectUri = redirectUri;
    this.#customFetch = (url, { method, headers, body }) =>
      fetchBounded(url, { method, headers, body: body ?? null }, { fetch, maxBytes: MAX_BYTES });
    if (upstream.metadata !== undefined) this.#server = { ...upstream.metadata, issuer: upstream.issuer };
  }

  /** Creates the URL at which the user signs in at the provider. */
  async authorizationUrl({ state, codeVerifier, nonce }: UpstreamFlow): Promise<string> {
    const { issuer, authorization_endpoint: endpoint } = await this.#findServer();
    if (endpoint === undefined) throw new Error(`The metadata of ${issuer} has no authorization_endpoint: give it in "upstream.metadata"`);
    const { clientId, scopes, parameters = {} } = this.#options;
    const url = new URL(endpoint);
    const own = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: this.#redirectUri,
      scope: scopes.join(' '),
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
      ...(this.#isOpenId ? { nonce } : {}),
    };
    for (const [name, value] of Object.entries({ ...parameters, ...own })) url.searchParams.set(name, value);
    return url.href;
  }

  /**
   * Checks the provider's authorization response and exchanges its code for tokens.
   *
   * @throws {oauth.AuthorizationResponseError} The provider or the user denied the sign-in. Any other error: the response is invalid or of
   * another issuer.
   */
  async exchange(answer: URLSearchParams, { state, codeVerifier, nonce }: UpstreamFlow): Promise<UpstreamTokens> {
    const server = await this.#findServer();
    const checked = oauth.validateAuthResponse(server, this.#client, answer, state);
    const asker = [server, this.#client, this.#authenticate(server)] as const;
    const options = this.#requestOptions(server.token_endpoint);
    const response = await oauth.authorizationCodeGrantRequest(...asker, checked, this.#redirectUri, codeVerifier, options);
    const expected = this.#isOpenId ? { expectedNonce: nonce, requireIdToken: true } : {};
    return this.#toTokens(await oauth.processAuthorizationCodeResponse(server, this.#client, response, expected));
  }

  /** Renews the provider's tokens. @throws {oauth.ResponseBodyError} The provider refuses the refresh token. */
  async refresh(refreshToken: string): Promise<UpstreamTokens> {
    const server = await this.#findServer();
    const options = this.#requestOptions(server.token_endpoint);
    const response = await oauth.refreshTokenGrantRequest(server, this.#client, this.#authenticate(server), refreshToken, options);
    const tokens = this.#toTokens(await oauth.processRefreshTokenResponse(server, this.#client, response));
    return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
  }

  /** Revokes a token of the provider, if the provider supports revocation. */
  async revoke(token: string): Promise<void> {
    const server = await this.#findServer();
    if (server.revocation_endpoint === undefined) return;
    const options = this.#requestOptions(server.revocation_endpoint);
    await oauth.processRevocationResponse(await oauth.revocationRequest(server, this.#client, this.#authenticate(server), token, options));
  }

  get #isOpenId(): boolean {
    return this.#options.scopes.includes('openid');
  }

  /** Chooses how the proxy authenticates at the provider: Basic, unless only a secret in the body is accepted. @see RFC 8414 section 2 */
  #authenticate({ token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer): oauth.ClientAuth {
    const { clientSecret } = this.#options;
    if (clientSecret === undefined) return oauth.None();
    const isPost = methods?.includes('client_secret_post') === true && !methods.includes('client_secret_basic');
    return isPost ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret);
  }

  /** Creates the request options of `oauth4webapi`. They allow http only for a provider on this machine. */
  #requestOptions(url = '') {
    const isLocal = URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
    return { [oauth.customFetch]: this.#customFetch, [oauth.allowInsecureRequests]: isLocal };
  }

  async #findServer(): Promise<oauth.AuthorizationServer> {
    return (this.#server ??= await this.#discover());
  }

  /** Gets the provider's metadata by RFC 8414, else by OpenID Connect. @throws {AggregateError} None with exactly this issuer was found. */
  async #discover(): Promise<oauth.AuthorizationServer> {
    const { issuer } = this.#options;
    const causes: unknown[] = [];
    for (const algorithm of ['oauth2', 'oidc'] as const) {
      try {
        const url = new URL(issuer);
        const response = await oauth.discoveryRequest(url, { algorithm, ...this.#requestOptions(issuer) });
        const metadata = await oauth.processDiscoveryResponse(url, response);
        if (metadata.issuer === issuer) return metadata;
        causes.push(new Error(`The metadata names another issuer: "${metadata.issuer}"`));
      } catch (error) {
        causes.push(error);
      }
    }
    throw new AggregateError(causes, `The provider ${issuer} publishes no metadata: give it in "upstream.metadata"`);
  }

  #toTokens(result: oauth.TokenEndpointResponse): UpstreamTokens {
    return {
      accessToken: result.access_token,
      refreshToken: result.refresh_token,
      expiresAtMs: result.expires_in === undefined ? undefined : this.#clock.now() + result.expires_in * 1000,
      idTokenClaims: oauth.getValidatedIdTokenClaims(result),
    };
  }
}
