/** What can go wrong at an authorization proxy. */

import { MortiseError } from '@mortise/jsonrpc-core';
import type { AuthorizationRequest } from './authorization-request.ts';

/** Where a refusal goes when the client, and not the person, should read it. */
type ClientRedirect = Pick<AuthorizationRequest, 'redirectUri' | 'state'>;

/** What goes with a refusal beside its words. */
interface RefusalDetail extends ErrorOptions {
  /** The HTTP status of endpoints that programs call. @default 400 */
  readonly status?: number;
  /** Sends the refusal to the client through the browser. @default the person, or the program that called, reads it */
  readonly redirect?: ClientRedirect;
}

/**
 * A request that the proxy refuses, with its OAuth error code. `upstreamToken` rejects with it when the sign-in has ended.
 *
 * The caller reads the message: it must hold nothing secret.
 *
 * @see RFC 6749 sections 4.1.2.1 and 5.2; RFC 7591 section 3.2.2
 */
export class OAuthRefusal extends MortiseError {
  override readonly name: string = 'OAuthRefusal';
  override readonly code: 'ERR_OAUTH_REFUSED' = 'ERR_OAUTH_REFUSED';
  /** The OAuth error code: `invalid_grant`, `invalid_client` and so on. */
  readonly error: string;
  /** The HTTP status of endpoints that programs call. */
  readonly status: number;
  /** Present when the refusal goes to the client through the browser. */
  readonly redirect: ClientRedirect | undefined;

  constructor(error: string, description: string, { status = 400, redirect, ...options }: RefusalDetail = {}) {
    super(description, options);
    this.error = error;
    this.status = status;
    this.redirect = redirect;
  }
}
