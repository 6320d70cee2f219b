/** `SignIn`: the interface through which `oauth` signs a user in. */

import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { isLoopbackHost } from '@mortise/protocol/edge';

/** One sign-in of a user in progress. */
export interface SignInVisit {
  /** The redirect URL: the authorization server sends the user back there. */
  readonly redirectUrl: string;
  /**
   * Sends the user to the sign-in page. `url` has passed the checks of the option `urls`.
   *
   * @returns The URL that the user was redirected to, with its query; undefined if `finishSignIn` will get it later.
   */
  authorize(url: URL, options: { readonly signal?: AbortSignal | undefined }): Promise<URL | undefined>;
  /** Frees what the sign-in uses, such as a listener. Called once, after success or failure. */
  close(): Promise<void>;
}

/** A way to sign a user in: with a local listener, or in a web app. */
export interface SignIn {
  /** Begins a sign-in. @param wish.redirectUrls The redirect URLs already registered: using one of them avoids a new registration. */
  begin(wish: { readonly redirectUrls: readonly string[] }, options: { readonly signal?: AbortSignal | undefined }): Promise<SignInVisit>;
}

/**
 * Creates a sign-in that redirects to a URL of the program, such as a page of a web app.
 *
 * @param options.redirectUrl An https URL, or an http URL on this machine.
 * @param options.authorize Sends the user to `url`. Resolves to the URL that the user was redirected to. If it resolves to undefined,
 * the call that needed a token rejects with `SignInPendingError`, and `finishSignIn` gets the URL later, in this or another process.
 * @throws {TypeError} The redirect URL is not allowed.
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

/**
 * Checks and returns a redirect URL.
 *
 * @throws {TypeError} The URL is neither https nor http on this machine, or has a fragment.
 * @see 2026-07-28 basic/authorization/security-considerations
 */
function checkRedirectUrl(redirectUrl: string): string {
  const url = URL.canParse(redirectUrl) ? new URL(redirectUrl) : undefined;
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (isAllowed && url?.hash === '') return redirectUrl;
  throw new TypeError('redirectSignIn: the redirect URL must be https, or http on this machine (127.0.0.1), without a fragment');
}

/** Gives the `application_type` to register with a redirect URL. @see OpenID Connect Dynamic Client Registration section 2 */
export function toApplicationType(redirectUrl: string): 'native' | 'web' {
  return isLoopbackHost(new URL(redirectUrl).hostname) ? 'native' : 'web';
}
