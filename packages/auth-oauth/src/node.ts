/** `@mortise/auth-oauth/node`: sign-in for local programs on Node: a loopback listener, the browser, a credential file with a lock. */

import type { CredentialStore } from '@mortise/protocol/contracts';
import { oauth, type OAuthOptions, type SignInAuthorizer } from './client/oauth.ts';
import type { SignIn } from './client/sign-in.ts';
import { checkedFetch } from './node/checked-fetch.ts';
import { FileCredentialStore } from './node/file-credential-store.ts';
import { loopbackSignIn } from './node/loopback-sign-in.ts';
import type { FetchLike } from './safe-fetch.ts';

export { checkedFetch } from './node/checked-fetch.ts';
export { FileCredentialStore } from './node/file-credential-store.ts';
export { loopbackSignIn, type LoopbackSignInOptions, openBrowser } from './node/loopback-sign-in.ts';

/** The options of `nodeOAuth`. */
export interface NodeOAuthOptions extends OAuthOptions {
  /** The file for credentials; only its owner may read it. @default credentials are kept in memory */
  readonly credentialFile?: string | undefined;
  /** Stores the credentials and tokens of one user. Do not share a store between users. @default `credentialFile`, else in memory */
  readonly store?: CredentialStore | undefined;
  /** How the user signs in. @default loopbackSignIn(): opens the user's browser and waits on 127.0.0.1 */
  readonly signIn?: SignIn | undefined;
  /** Sends the metadata and token requests. @default checkedFetch(server, urls): also checks the IP addresses of host names */
  readonly fetch?: FetchLike | undefined;
}

/**
 * Creates an `oauth` authorizer for command line and desktop programs. It signs in with the user's browser and a local listener, checks
 * the addresses that host names resolve to, and stores credentials in a file if one is given.
 *
 * @param server The URL of the MCP server. Tokens are sent only to its origin.
 * @throws {TypeError} An option is invalid.
 */
export function nodeOAuth(server: string | URL, { credentialFile, ...options }: NodeOAuthOptions = {}): SignInAuthorizer {
  return oauth(server, {
    ...options,
    signIn: options.signIn ?? loopbackSignIn(),
    fetch: options.fetch ?? checkedFetch(server, options.urls),
    store: options.store ?? (credentialFile === undefined ? undefined : new FileCredentialStore(credentialFile)),
  });
}
