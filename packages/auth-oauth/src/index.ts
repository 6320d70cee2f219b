/** Authorization of MCP over HTTP: OAuth for clients (`/client`) and for servers (`/server`). */

// Clients. More at `@mortise/auth-oauth/client`, and for what needs a machine at `/node`.
export { oauth } from './client/oauth.ts';
export { clientCredentials } from './client/client-credentials.ts';
export { enterpriseManaged } from './client/enterprise-managed.ts';
export { workloadIdentity } from './client/workload-identity.ts';
export { redirectSignIn } from './client/sign-in.ts';
export type { OAuthAuthorizer } from './client/authorizer-options.ts';
export type { RegisteredClient } from './client/credentials.ts';
export type { AnyAuthClientError } from './errors.ts';
export { AuthOptionError } from './errors.ts';
export { type AnyAuthServerError, InvalidTokenError, TokenExchangeError, TokenSourceError } from './server/errors.ts';
