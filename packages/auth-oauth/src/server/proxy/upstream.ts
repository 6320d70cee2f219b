/** The provider behind the proxy, which knows it as one client. */

import type { Clock } from '@mortise/jsonrpc-core';
import * as oauth from 'oauth4webapi';
import { fetchIssuerMetadata, toRequestOptions } from '../issuer-metadata.ts';
import type { ProxySettings, UpstreamOptions } from './options.ts';

/** What the provider gave. */
export interface UpstreamTokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  readonly expiresAtMs: number | undefined;
  readonly idTokenClaims: Readonly<Record<string, unknown>> | undefined;
}

/** What ties the provider's answer to our question. */
export interface UpstreamFlow {
  readonly state: string;
  readonly codeVerifier: string;
  readonly nonce: string;
}

/** The provider refused: what the user or the provider decided, and no fault of ours. */
export { AuthorizationResponseError, ResponseBodyError } from 'oauth4webapi';

export class Upstream {
  readonly #options: UpstreamOptions;
  readonly #fetching: { readonly fetch: typeof globalThis.fetch; readonly timeoutMs: number };
  readonly #clock: Clock;
  readonly #client: oauth.Client;
  readonly #redirectUri: string;
  #server: oauth.AuthorizationServer | undefined;

  constructor({ upstream, fetch, timeoutMs, clock }: ProxySettings, redirectUri: string) {
    this.#options = upstream;
    this.#fetching = { fetch, timeoutMs };
    this.#clock = clock;
    this.#client = { client_id: upstream.clientId };
    this.#redirectUri = redirectUri;
  }

  /** Where the browser goes to sign in. */
  async authorizationUrl({ state, codeVerifier, nonce }: UpstreamFlow): Promise<string> {
    const { authorization_endpoint: endpoint } = await this.#findServer();
    if (endpoint === undefined) throw new Error('The provider has no authorization endpoint');
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
   * Exchanges the code of an answer.
   *
   * @throws {AuthorizationResponseError} The provider, or its user, said no. Any other error: the answer does not hold, or is another issuer's.
   */
  async exchange(answer: URLSearchParams, { state, codeVerifier, nonce }: UpstreamFlow): Promise<UpstreamTokens> {
    const server = await this.#findServer();
    const checked = oauth.validateAuthResponse(server, this.#client, answer, state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      this.#client,
      this.#authentication,
      checked,
      this.#redirectUri,
      codeVerifier,
      this.#requestOptions(server),
    );
    const expected = this.#isOpenId ? { expectedNonce: nonce, requireIdToken: true } : {};
    return this.#toTokens(await oauth.processAuthorizationCodeResponse(server, this.#client, response, expected));
  }

  /** @throws {ResponseBodyError} The provider will not: what it gave is over. */
  async refresh(refreshToken: string): Promise<UpstreamTokens> {
    const server = await this.#findServer();
    const response = await oauth.refreshTokenGrantRequest(
      server,
      this.#client,
      this.#authentication,
      refreshToken,
      this.#requestOptions(server),
    );
    const tokens = this.#toTokens(await oauth.processRefreshTokenResponse(server, this.#client, response));
    return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
  }

  /** Ends what the provider gave, where it can be asked to. */
  async revoke(token: string): Promise<void> {
    const server = await this.#findServer();
    const { revocation_endpoint: endpoint } = server;
    if (endpoint === undefined) return;
    const options = toRequestOptions(endpoint, this.#fetching);
    await oauth.processRevocationResponse(await oauth.revocationRequest(server, this.#client, this.#authentication, token, options));
  }

  get #isOpenId(): boolean {
    return this.#options.scopes.includes('openid');
  }

  get #authentication(): oauth.ClientAuth {
    const { clientSecret, clientAuthentication } = this.#options;
    if (clientSecret === undefined) return oauth.None();
    return clientAuthentication === 'client_secret_post' ? oauth.ClientSecretPost(clientSecret) : oauth.ClientSecretBasic(clientSecret);
  }

  #requestOptions(server: oauth.AuthorizationServer): ReturnType<typeof toRequestOptions> {
    return toRequestOptions(server.token_endpoint ?? '', this.#fetching);
  }

  async #findServer(): Promise<oauth.AuthorizationServer> {
    const { issuer, authorizationEndpoint, tokenEndpoint, revocationEndpoint } = this.#options;
    this.#server ??=
      authorizationEndpoint === undefined || tokenEndpoint === undefined
        ? await fetchIssuerMetadata(issuer, this.#fetching)
        : {
            issuer,
            authorization_endpoint: authorizationEndpoint,
            token_endpoint: tokenEndpoint,
            ...(revocationEndpoint === undefined ? {} : { revocation_endpoint: revocationEndpoint }),
          };
    return this.#server;
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
