/** `@mortise/auth-proxy`: an authorization server of your own, in front of a provider that registers no clients. */

export { type AuthorizationProxy, createAuthorizationProxy } from './authorization-proxy.ts';
export type { AuthorizationProxyOptions, KnownClient, UpstreamOptions, UpstreamSignIn } from './options.ts';
export { OAuthRefusal, ProxyOptionError } from './errors.ts';

// For a store of your own.
export { type AuthorizationStore, MemoryAuthorizationStore, type MemoryAuthorizationStoreOptions } from './authorization-store.ts';
