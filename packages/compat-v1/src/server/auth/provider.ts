/** `/server/auth/provider`: what an authorization server does. */

import type { Response } from 'express';
import type { OAuthClientInformationFull, OAuthTokenRevocationRequest, OAuthTokens } from '../../shared/auth.ts';
import type { OAuthRegisteredClientsStore } from './clients.ts';
import type { AuthInfo } from './types.ts';

/** An authorization request that has been checked. */
export type AuthorizationParams = {
  state?: string | undefined;
  scopes?: string[] | undefined;
  /** By S256. */
  codeChallenge: string;
  redirectUri: string;
  resource?: URL | undefined;
};

/** Verifies access tokens. */
export interface OAuthTokenVerifier {
  /** @throws {InvalidTokenError} The token is not valid. */
  verifyAccessToken(token: string): Promise<AuthInfo>;
}

export interface OAuthServerProvider extends OAuthTokenVerifier {
  get clientsStore(): OAuthRegisteredClientsStore;
  /** Asks the user, then redirects with a code, or with an error. */
  authorize(client: OAuthClientInformationFull, params: AuthorizationParams, res: Response): Promise<void>;
  /** Returns the `codeChallenge` of the request that a code was issued for. */
  challengeForAuthorizationCode(client: OAuthClientInformationFull, authorizationCode: string): Promise<string>;
  /** @param codeVerifier Given only with `skipLocalPkceValidation`. */
  exchangeAuthorizationCode(
    client: OAuthClientInformationFull,
    authorizationCode: string,
    codeVerifier?: string,
    redirectUri?: string,
    resource?: URL,
  ): Promise<OAuthTokens>;
  exchangeRefreshToken(client: OAuthClientInformationFull, refreshToken: string, scopes?: string[], resource?: URL): Promise<OAuthTokens>;
  revokeToken?: ((client: OAuthClientInformationFull, request: OAuthTokenRevocationRequest) => Promise<void>) | undefined;
  /** Whether an upstream server checks the code verifier. */
  skipLocalPkceValidation?: boolean | undefined;
}
