/** `@mortise/auth-proxy`: an authorization server of your own, in front of a provider that does not register clients. */

export { type AuthorizationProxy, createAuthorizationProxy } from './authorization-proxy.ts';
export type { AuthorizationProxyOptions, KnownClient, UpstreamOptions, UpstreamSignIn } from './options.ts';
export { OAuthRefusal } from './errors.ts';
export type { AuthorizationStore } from './authorization-store.ts';
