/** `@mortise/auth-oauth/node`: signing in on this machine: the loopback listener, the browser, the file store and its lock. */

import { oauth, type OAuthOptions, type SignInAuthorizer } from './client/oauth.ts';
import { checkedFetch } from './node/checked-fetch.ts';
import { FileCredentialStore } from './node/file-credential-store.ts';
import { loopbackSignIn } from './node/loopback-sign-in.ts';

export { checkedFetch } from './node/checked-fetch.ts';
export { FileCredentialStore } from './node/file-credential-store.ts';
export { loopbackSignIn, type LoopbackSignInOptions, openBrowser } from './node/loopback-sign-in.ts';

/** `oauth` on Node. */
export interface NodeOAuthOptions extends OAuthOptions {
  /** Keeps credentials in this file, for its owner alone. @default in memory, until the process ends */
  readonly credentialFile?: string | undefined;
}

/**
 * Makes `oauth` for command lines and desktop programs: signs in with the person's browser and a listener on this machine, judges the
 * addresses that names resolve to, and keeps credentials in a file if one is named.
 *
 * @param server The URL that the transport is given. Tokens go to its origin alone.
 * @throws {TypeError} An option is wrong.
 */
export function nodeOAuth(server: string | URL, { credentialFile, ...options }: NodeOAuthOptions = {}): SignInAuthorizer {
  return oauth(server, {
    ...options,
    signIn: options.signIn ?? loopbackSignIn(),
    fetch: options.fetch ?? checkedFetch(server, options.urls),
    store: options.store ?? (credentialFile === undefined ? undefined : new FileCredentialStore(credentialFile)),
  });
}
