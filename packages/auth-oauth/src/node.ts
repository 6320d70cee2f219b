/** `@mortise/auth-oauth/node`: the parts that need a machine: the loopback listener, the file store and its lock, the browser. */

export { type CheckedFetchOptions, checkedFetch } from './node/checked-fetch.ts';
export { FileCredentialStore, type FileCredentialStoreOptions } from './node/file-credential-store.ts';
export { loopbackSignIn, type LoopbackSignInOptions } from './node/loopback-sign-in.ts';
export { openBrowser } from './node/open-browser.ts';
export { nodeOAuth, type NodeOAuthOptions } from './node/node-oauth.ts';
