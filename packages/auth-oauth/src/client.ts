/** `@mortise/auth-oauth/client`: gets access tokens for an MCP client: by a user's sign-in, by client credentials, and in other ways. */

export { oauth, type OAuthOptions, type SignInAuthorizer } from './client/oauth.ts';
export {
  clientCredentials,
  clientCredentialsExtension,
  type ClientCredentialsOptions,
  workloadIdentity,
  type WorkloadIdentityOptions,
} from './client/client-credentials.ts';
export {
  enterpriseManaged,
  enterpriseManagedExtension,
  type EnterpriseManagedOptions,
  type IdentityAssertion,
} from './client/enterprise-managed.ts';
export type { AuthorizerOptions, OAuthAuthorizer } from './client/authorizer-options.ts';
export { redirectSignIn, type SignIn, type SignInVisit } from './client/sign-in.ts';
export type { ClientKey, RegisteredClient } from './client/credentials.ts';
export { MemoryCredentialStore } from './client/memory-credential-store.ts';
export { clientMetadataDocument } from './client/register.ts';
export { findAuthorization, type FoundAuthorization } from './client/find-authorization.ts';
export type { FetchLike } from './safe-fetch.ts';
