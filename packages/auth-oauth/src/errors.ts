/** What can go wrong with authorization. A class where a program acts differently; `code` says the rest. None holds a token, a code or a secret. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** The codes of `AuthError`: what went wrong, in the order in which a sign-in happens. */
export type AuthErrorCode =
  // A peer, or the network.
  | 'ERR_AUTH_NETWORK'
  | 'ERR_AUTH_TIMEOUT'
  | 'ERR_UNSAFE_URL'
  | 'ERR_REDIRECT_REFUSED'
  | 'ERR_DOCUMENT_TOO_LARGE'
  // No candidate had the metadata that was looked for. The message lists every URL that was tried and its answer.
  | 'ERR_DISCOVERY'
  // Somebody is not who they should be: nothing was sent to them.
  | 'ERR_RESOURCE_MISMATCH'
  | 'ERR_ISSUER_MISMATCH'
  | 'ERR_RESPONSE_ISSUER'
  | 'ERR_STATE_MISMATCH'
  | 'ERR_AUTHORIZATION_RESPONSE'
  // The client and the authorization server do not fit together.
  | 'ERR_PKCE_UNSUPPORTED'
  | 'ERR_CLIENT_MISMATCH'
  | 'ERR_REGISTRATION'
  // The person.
  | 'ERR_SIGN_IN_REQUIRED'
  | 'ERR_SIGN_IN_DENIED'
  | 'ERR_SIGN_IN_TIMEOUT'
  // Tokens.
  | 'ERR_TOKEN_REQUEST'
  | 'ERR_TOKEN_REJECTED'
  | 'ERR_TOKEN_EXCHANGE'
  | 'ERR_CREDENTIAL_FILE'
  // On a server: keys, metadata or introspection could not be reached, so that the token cannot be judged. The caller gets a 500.
  | 'ERR_TOKEN_SOURCE';

/** What an OAuth endpoint said when it refused, made safe to show. */
export interface OAuthRefusal {
  readonly status?: number | undefined;
  /** The OAuth error code, `invalid_grant` for one. */
  readonly error?: string | undefined;
  readonly description?: string | undefined;
  readonly cause?: unknown;
}

/** Authorization failed. The message names the URL, the rule and the remedy. */
export class AuthError extends MortiseError {
  override readonly name: string = 'AuthError';
  override readonly code: AuthErrorCode;
  /** The HTTP status that an OAuth endpoint refused with. */
  readonly status: number | undefined;
  /** The OAuth error code that it refused with, `invalid_grant` for one. */
  readonly error: string | undefined;

  constructor(code: AuthErrorCode, message: string, { status, error, description, cause }: OAuthRefusal = {}) {
    super([message, error, description].filter((part) => part !== undefined).join(': '), { cause });
    this.code = code;
    this.status = status;
    this.error = error;
  }
}

/** A person has been sent to sign in; call `finishSignIn` with the URL that they come back to, then try again. */
export class SignInPendingError extends MortiseError {
  override readonly name: string = 'SignInPendingError';
  override readonly code: 'ERR_SIGN_IN_PENDING' = 'ERR_SIGN_IN_PENDING';
  /** Where the person signs in. Checked. */
  readonly authorizationUrl: string;

  constructor(authorizationUrl: string) {
    super('Somebody has to sign in first: send them to authorizationUrl, then call finishSignIn with the URL that they come back to');
    this.authorizationUrl = authorizationUrl;
  }
}

/** The server wants scopes that asking for did not bring. Not asked for again until `signIn` is called. */
export class InsufficientScopeError extends MortiseError {
  override readonly name: string = 'InsufficientScopeError';
  override readonly code: 'ERR_INSUFFICIENT_SCOPE' = 'ERR_INSUFFICIENT_SCOPE';
  /** What the server said that the operation needs. */
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    const names = scopes.join(' ').slice(0, 500);
    super(`The server still asks for the scopes "${names}" after they were asked for: the account may not have them`);
    this.scopes = scopes;
  }
}

/**
 * A server refuses a token, or the proof that came with it: signature, time, issuer or audience is wrong, or it was revoked. Throw it from
 * a token reader of your own. The caller gets a 401 with the message.
 */
export class InvalidTokenError extends MortiseError {
  override readonly name: string = 'InvalidTokenError';
  override readonly code: 'ERR_TOKEN_INVALID' = 'ERR_TOKEN_INVALID';
  /** The OAuth error code of the challenge. @see RFC 6750 section 3.1; RFC 9449 section 7.1 */
  readonly error: 'invalid_token' | 'invalid_dpop_proof' | 'use_dpop_nonce';

  constructor(
    message: string,
    { error = 'invalid_token', cause }: { readonly error?: InvalidTokenError['error']; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.error = error;
  }
}

/** Every error that this package throws: `switch (error.code)` narrows it. */
export type AnyAuthError = AuthError | SignInPendingError | InsufficientScopeError | InvalidTokenError;
