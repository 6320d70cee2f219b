/** `@mortise/auth-oauth/client`: signs a client in to any conforming server. */

export { type OAuthOptions, oauth, type SignInAuthorizer } from './client/oauth.ts';
export { type ClientCredentialsOptions, clientCredentials } from './client/client-credentials.ts';
export {
  type EnterpriseManagedOptions,
  enterpriseManaged,
  type IdentityAssertion,
  type IdentityProvider,
} from './client/enterprise-managed.ts';
export { type WorkloadAudience, workloadIdentity, type WorkloadIdentityOptions } from './client/workload-identity.ts';
export type { AuthorizerOptions, OAuthAuthorizer } from './client/authorizer-options.ts';
export { redirectSignIn, type SignIn, type SignInVisit } from './client/sign-in.ts';
export type { ClientAuthMethod, ClientKey, RegisteredClient } from './client/credentials.ts';
export type { DpopOptions } from './client/dpop.ts';
export { MemoryCredentialStore } from './client/memory-credential-store.ts';
export { clientMetadataDocument } from './client/register.ts';
export { findAuthorization, type FoundAuthorization } from './client/find-authorization.ts';
export { clientCredentialsExtension, enterpriseManagedExtension } from './client/extensions.ts';
export type { FetchLike } from './safe-fetch.ts';
export type { AnyAuthClientError } from './errors.ts';
