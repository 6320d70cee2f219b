/** What a v1 program implements to sign its client in. */

import type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthProtectedResourceMetadata,
  OAuthTokens,
} from '../../shared/auth.ts';

/** Adds the client's credentials to a token request: to its headers or its parameters. */
export type AddClientAuthentication = (
  headers: Headers,
  params: URLSearchParams,
  url: string | URL,
  metadata?: AuthorizationServerMetadata,
) => void | Promise<void>;

/** What discovery found out about a server. */
export interface OAuthServerInfo {
  authorizationServerUrl: string;
  authorizationServerMetadata?: AuthorizationServerMetadata | undefined;
  resourceMetadata?: OAuthProtectedResourceMetadata | undefined;
}

/** What a provider may keep, so that discovery need not run again after the redirect. */
export interface OAuthDiscoveryState extends OAuthServerInfo {
  resourceMetadataUrl?: string | undefined;
}

/** Stores credentials, and sends the user to the authorization server. */
export interface OAuthClientProvider {
  /** Where the authorization server sends the user back to. Undefined: the client signs in without a user. */
  get redirectUrl(): string | URL | undefined;
  /** The `https:` URL of the client's metadata document, used as its id where the server supports that. */
  clientMetadataUrl?: string | undefined;
  get clientMetadata(): OAuthClientMetadata;
  state?(): string | Promise<string>;
  clientInformation(): OAuthClientInformationMixed | undefined | Promise<OAuthClientInformationMixed | undefined>;
  /** Stores what a registration returned, with its member `issuer`. Needed for dynamic registration. */
  saveClientInformation?(clientInformation: OAuthClientInformationMixed): void | Promise<void>;
  tokens(): OAuthTokens | undefined | Promise<OAuthTokens | undefined>;
  /** Stores tokens, with their member `issuer`. */
  saveTokens(tokens: OAuthTokens): void | Promise<void>;
  redirectToAuthorization(authorizationUrl: URL): void | Promise<void>;
  saveCodeVerifier(codeVerifier: string): void | Promise<void>;
  codeVerifier(): string | Promise<string>;
  addClientAuthentication?: AddClientAuthentication | undefined;
  /** Chooses the resource to ask tokens for; undefined for none. */
  validateResourceURL?(serverUrl: string | URL, resource?: string): Promise<URL | undefined>;
  /** Forgets credentials that the authorization server has refused. */
  invalidateCredentials?(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void | Promise<void>;
  /** Makes the token request of another grant than the authorization code. */
  prepareTokenRequest?(scope?: string): URLSearchParams | Promise<URLSearchParams | undefined> | undefined;
  saveDiscoveryState?(state: OAuthDiscoveryState): void | Promise<void>;
  discoveryState?(): OAuthDiscoveryState | undefined | Promise<OAuthDiscoveryState | undefined>;
}

/** The server wants a sign-in that needs the user, or the sign-in failed. */
export class UnauthorizedError extends Error {
  constructor(message = 'Unauthorized') {
    super(message);
  }
}
