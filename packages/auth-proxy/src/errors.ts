/** The errors of the authorization proxy. */

import { MortiseError } from '@mortise/jsonrpc-core';
import type { AuthorizationRequest } from './authorization-request.ts';

/** The redirect that carries an error to the client. */
type ClientRedirect = Pick<AuthorizationRequest, 'redirectUri' | 'state'>;

/** The options of `OAuthRefusal`. */
interface RefusalDetail extends ErrorOptions {
  /** The HTTP status of the error response, at endpoints that programs call. @default 400 */
  readonly status?: number;
  /** Sends the error to the client by redirecting the browser. @default the response itself contains the error */
  readonly redirect?: ClientRedirect;
}

/**
 * The proxy refuses a request with an OAuth error code. `upstreamToken` rejects with it if the sign-in has ended.
 *
 * The caller sees the message: it must contain no secrets.
 *
 * @see RFC 6749 sections 4.1.2.1 and 5.2; RFC 7591 section 3.2.2
 */
export class OAuthRefusal extends MortiseError {
  override readonly name: string = 'OAuthRefusal';
  override readonly code: 'ERR_OAUTH_REFUSED' = 'ERR_OAUTH_REFUSED';
  /** The OAuth error code, such as `invalid_grant` or `invalid_client`. */
  readonly error: string;
  /** The HTTP status of the error response, at endpoints that programs call. */
  readonly status: number;
  /** Where to redirect the browser, if the error is sent to the client that way. */
  readonly redirect: ClientRedirect | undefined;

  constructor(error: string, description: string, { status = 400, redirect, ...options }: RefusalDetail = {}) {
    super(description, options);
    this.error = error;
    this.status = status;
    this.redirect = redirect;
  }
}
