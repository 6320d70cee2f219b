/** Signing in on this machine, with all that a machine has. */

import { oauth, type OAuthOptions, type SignInAuthorizer } from '../client/oauth.ts';
import { checkedFetch } from './checked-fetch.ts';
import { FileCredentialStore } from './file-credential-store.ts';
import { loopbackSignIn } from './loopback-sign-in.ts';

/** `oauth` on Node. */
export interface NodeOAuthOptions extends OAuthOptions {
  /** Keeps credentials in this file, for its owner alone. @default in memory, until the process ends */
  readonly credentialFile?: string | undefined;
}

/**
 * Makes `oauth` for command lines and desktop programs: signs in with the person's browser and a listener on this machine, judges the
 * addresses that names resolve to, and keeps credentials in a file where one is named.
 *
 * @param server The URL that the transport is given. Tokens go to its origin alone.
 * @throws {AuthOptionError} An option cannot hold.
 */
export function nodeOAuth(server: string | URL, options: NodeOAuthOptions = {}): SignInAuthorizer {
  const { credentialFile, urls } = options;
  const { signIn = loopbackSignIn(), fetch = checkedFetch(server, { urls }) } = options;
  const { store = credentialFile === undefined ? undefined : new FileCredentialStore({ path: credentialFile }) } = options;
  return oauth(server, { ...options, signIn, fetch, store });
}
