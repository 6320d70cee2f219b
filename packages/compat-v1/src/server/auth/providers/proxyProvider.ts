/** `/server/auth/providers/proxyProvider`: an authorization server that passes each step on to another one. */

import type { Response as ExpressResponse } from 'express';
import {
  type OAuthClientInformationFull,
  OAuthClientInformationFullSchema,
  type OAuthTokenRevocationRequest,
  type OAuthTokens,
  OAuthTokensSchema,
} from '../../../shared/auth.ts';
import type { FetchLike } from '../../../shared/transport.ts';
import type { OAuthRegisteredClientsStore } from '../clients.ts';
import { ServerError } from '../errors.ts';
import type { AuthorizationParams, OAuthServerProvider } from '../provider.ts';
import type { AuthInfo } from '../types.ts';

/** The endpoints of the server behind the proxy. */
export type ProxyEndpoints = {
  authorizationUrl: string;
  tokenUrl: string;
  revocationUrl?: string | undefined;
  registrationUrl?: string | undefined;
};

export type ProxyOptions = {
  endpoints: ProxyEndpoints;
  verifyAccessToken: (token: string) => Promise<AuthInfo>;
  getClient: (clientId: string) => Promise<OAuthClientInformationFull | undefined>;
  fetch?: FetchLike | undefined;
};

const TokenResponse = OAuthTokensSchema.omit({ issuer: true });
const RegistrationResponse = OAuthClientInformationFullSchema.omit({ issuer: true });

/** Passes authorizations, token requests, registrations and revocations on to the server behind it, which checks PKCE, too. */
export class ProxyOAuthServerProvider implements OAuthServerProvider {
  readonly skipLocalPkceValidation: boolean = true;
  readonly revokeToken: OAuthServerProvider['revokeToken'];
  protected readonly endpoints: ProxyEndpoints;
  readonly #options: ProxyOptions;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.endpoints = options.endpoints;
    const { revocationUrl } = options.endpoints;
    if (revocationUrl) this.revokeToken = (client, request) => this.#revoke(revocationUrl, client, request);
  }

  get clientsStore(): OAuthRegisteredClientsStore {
    const { registrationUrl } = this.endpoints;
    const { getClient } = this.#options;
    if (!registrationUrl) return { getClient };
    return {
      getClient,
      registerClient: async (client) => {
        const body = JSON.stringify(client);
        const response = await this.#post(registrationUrl, 'application/json', body, 'Client registration');
        return RegistrationResponse.parse(await response.json());
      },
    };
  }

  async authorize(client: OAuthClientInformationFull, params: AuthorizationParams, res: ExpressResponse): Promise<void> {
    const { redirectUri, codeChallenge, state, scopes = [], resource } = params;
    const url = new URL(this.endpoints.authorizationUrl);
    const query = new URLSearchParams({
      client_id: client.client_id,
      response_type: 'code',
      redirect_uri: redirectUri,
      code_challenge: codeChallenge,
      code_challenge_method: 'S256',
    });
    if (state) query.set('state', state);
    if (scopes.length > 0) query.set('scope', scopes.join(' '));
    if (resource) query.set('resource', resource.href);
    url.search = query.toString();
    res.redirect(url.href);
  }

  /** Never needed: the server behind the proxy checks the verifier. */
  async challengeForAuthorizationCode(_client: OAuthClientInformationFull, _authorizationCode: string): Promise<string> {
    return '';
  }

  exchangeAuthorizationCode(
    client: OAuthClientInformationFull,
    authorizationCode: string,
    codeVerifier?: string,
    redirectUri?: string,
    resource?: URL,
  ): Promise<OAuthTokens> {
    const grant = { grant_type: 'authorization_code', code: authorizationCode, code_verifier: codeVerifier, redirect_uri: redirectUri };
    return this.#requestTokens(client, { ...grant, resource: resource?.href }, 'Token exchange');
  }

  exchangeRefreshToken(client: OAuthClientInformationFull, refreshToken: string, scopes?: string[], resource?: URL): Promise<OAuthTokens> {
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken, scope: scopes?.join(' ') };
    return this.#requestTokens(client, { ...grant, resource: resource?.href }, 'Token refresh');
  }

  verifyAccessToken(token: string): Promise<AuthInfo> {
    return this.#options.verifyAccessToken(token);
  }

  async #requestTokens(client: OAuthClientInformationFull, params: Params, what: string): Promise<OAuthTokens> {
    const response = await this.#post(this.endpoints.tokenUrl, FORM, toForm(client, params), what);
    return TokenResponse.parse(await response.json());
  }

  async #revoke(url: string, client: OAuthClientInformationFull, { token, token_type_hint }: OAuthTokenRevocationRequest): Promise<void> {
    const response = await this.#post(url, FORM, toForm(client, { token, token_type_hint }), 'Token revocation');
    await response.body?.cancel();
  }

  /** @throws {ServerError} The server behind the proxy refused. */
  async #post(url: string, type: string, body: string, what: string): Promise<Response> {
    const send = this.#options.fetch ?? fetch;
    const response = await send(url, { method: 'POST', headers: { 'Content-Type': type }, body });
    if (response.ok) return response;
    await response.body?.cancel();
    throw new ServerError(`${what} failed: ${response.status}`);
  }
}

const FORM = 'application/x-www-form-urlencoded';

type Params = Readonly<Record<string, string | undefined>>;

function toForm({ client_id, client_secret }: OAuthClientInformationFull, params: Params): string {
  const given = Object.entries({ ...params, client_id, client_secret }).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return new URLSearchParams(given).toString();
}
