/** How a person is asked to sign in. */

import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { isLoopbackHost } from '@mortise/protocol/edge';

/** One sign-in under way. */
export interface SignInVisit {
  /** Where the authorization server sends the person back to: registered, and sent with the request. */
  readonly redirectUrl: string;
  /**
   * Takes the person to a URL, which has been checked.
   *
   * @returns The URL that they came back to, with its query; undefined if `finishSignIn` will get it later.
   */
  authorize(url: URL, options: { readonly signal?: AbortSignal | undefined }): Promise<URL | undefined>;
  /** Lets go of what waits for the person. Called once, whatever happened. */
  close(): Promise<void>;
}

/** A way to ask a person to sign in: a listener on this machine, a page of a web app, a test. */
export interface SignIn {
  /** @param wish.redirectUrls What is registered already: one of these, if it can be had, spares a new registration. */
  begin(wish: { readonly redirectUrls: readonly string[] }, options: { readonly signal?: AbortSignal | undefined }): Promise<SignInVisit>;
}

/**
 * A sign-in whose redirects come back to an address of the program's own, a page of a web app for one.
 *
 * @param options.redirectUrl https, or http on this machine.
 * @param options.authorize Takes the person to the URL. What it resolves with is the URL that they came back to; with nothing, the call
 * that wanted a token rejects with `SignInPendingError`, and `finishSignIn` takes the URL later, in this process or another.
 * @throws {TypeError} The redirect URL is neither.
 */
export function redirectSignIn(options: {
  readonly redirectUrl: string | URL;
  readonly authorize: (url: URL, options: { readonly signal?: AbortSignal | undefined }) => Promise<URL | string | undefined | void>;
}): SignIn {
  checkOptions('redirectSignIn', options, { redirectUrl: 'any', authorize: 'function' });
  const redirectUrl = checkRedirectUrl(String(options.redirectUrl));
  return {
    begin: async () => ({
      redirectUrl,
      authorize: async (url, call) => {
        const back = await options.authorize(url, call);
        return back === undefined ? undefined : new URL(back);
      },
      close: async () => undefined,
    }),
  };
}

/** @throws {TypeError} It is neither https nor on this machine, or has a fragment. @see 2026-07-28 basic/authorization/security-considerations */
function checkRedirectUrl(redirectUrl: string): string {
  const url = URL.canParse(redirectUrl) ? new URL(redirectUrl) : undefined;
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (isAllowed && url?.hash === '') return redirectUrl;
  throw new TypeError('redirectSignIn: the redirect URL must be https, or http on this machine (127.0.0.1), without a fragment');
}

/** What kind of client registers such a redirect URL. @see OpenID Connect Dynamic Client Registration section 2 */
export function toApplicationType(redirectUrl: string): 'native' | 'web' {
  return isLoopbackHost(new URL(redirectUrl).hostname) ? 'native' : 'web';
}
