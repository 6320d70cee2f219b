/** `/client/auth`: OAuth for clients. */

export { auth, type AuthResult, isHttpsUrl, selectResourceURL } from './auth/authorize.ts';
export { extractResourceMetadataUrl, extractWWWAuthenticateParams } from './auth/challenge.ts';
export {
  buildDiscoveryUrls,
  discoverAuthorizationServerMetadata,
  discoverOAuthMetadata,
  discoverOAuthProtectedResourceMetadata,
  discoverOAuthServerInfo,
} from './auth/discovery.ts';
export {
  type AddClientAuthentication,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthServerInfo,
  UnauthorizedError,
} from './auth/provider.ts';
export {
  exchangeAuthorization,
  fetchToken,
  parseErrorResponse,
  prepareAuthorizationCodeRequest,
  refreshAuthorization,
  registerClient,
  selectClientAuthMethod,
  startAuthorization,
} from './auth/token-requests.ts';
