/** The errors of this package. None contains a token, an authorization code or a secret. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** The codes of `AuthError`, in the order of the steps of a sign-in. */
export type AuthErrorCode =
  // A request to a server or authorization server failed.
  | 'ERR_AUTH_NETWORK'
  | 'ERR_AUTH_TIMEOUT'
  | 'ERR_UNSAFE_URL'
  | 'ERR_REDIRECT_REFUSED'
  | 'ERR_DOCUMENT_TOO_LARGE'
  // No metadata was found. The message lists each URL that was tried, and its response.
  | 'ERR_DISCOVERY'
  // The metadata or a response is from, or for, another party than expected. Nothing was sent to that party.
  | 'ERR_RESOURCE_MISMATCH'
  | 'ERR_ISSUER_MISMATCH'
  | 'ERR_RESPONSE_ISSUER'
  | 'ERR_STATE_MISMATCH'
  | 'ERR_AUTHORIZATION_RESPONSE'
  // The client and the authorization server have no common method, or the client is not registered there.
  | 'ERR_PKCE_UNSUPPORTED'
  | 'ERR_CLIENT_MISMATCH'
  | 'ERR_REGISTRATION'
  // The user has to sign in, refused to, or took too long.
  | 'ERR_SIGN_IN_REQUIRED'
  | 'ERR_SIGN_IN_DENIED'
  | 'ERR_SIGN_IN_TIMEOUT'
  // Tokens could not be got, used or stored.
  | 'ERR_TOKEN_REQUEST'
  | 'ERR_TOKEN_REJECTED'
  | 'ERR_TOKEN_EXCHANGE'
  | 'ERR_CREDENTIAL_FILE'
  // On a server: keys, metadata or introspection are unavailable, so the token cannot be verified. The caller gets a 500.
  | 'ERR_TOKEN_SOURCE';

/** The error response of an OAuth endpoint. Its texts are safe to show. */
export interface OAuthRefusal {
  readonly status?: number | undefined;
  /** The OAuth error code, such as `invalid_grant`. */
  readonly error?: string | undefined;
  readonly description?: string | undefined;
  readonly cause?: unknown;
}

/** Authorization failed. `code` tells at which step. */
export class AuthError extends MortiseError {
  override readonly name: string = 'AuthError';
  override readonly code: AuthErrorCode;
  /** The HTTP status of the OAuth endpoint's error response, if any. */
  readonly status: number | undefined;
  /** The OAuth error code of the error response, such as `invalid_grant`, if any. */
  readonly error: string | undefined;

  constructor(code: AuthErrorCode, message: string, { status, error, description, cause }: OAuthRefusal = {}) {
    super([message, error, description].filter((part) => part !== undefined).join(': '), { cause });
    this.code = code;
    this.status = status;
    this.error = error;
  }
}

/** The user has to sign in first, at `authorizationUrl`. Then call `finishSignIn` with the URL of the redirect, and repeat the call. */
export class SignInPendingError extends MortiseError {
  override readonly name: string = 'SignInPendingError';
  override readonly code: 'ERR_SIGN_IN_PENDING' = 'ERR_SIGN_IN_PENDING';
  /** The URL at which the user signs in. It has passed the checks of the option `urls`. */
  readonly authorizationUrl: string;

  constructor(authorizationUrl: string) {
    super('The user has to sign in first: send the user to authorizationUrl, then call finishSignIn with the URL of the redirect back');
    this.authorizationUrl = authorizationUrl;
  }
}

/** The server still requires scopes after the client requested them. They are not requested again until `signIn` is called. */
export class InsufficientScopeError extends MortiseError {
  override readonly name: string = 'InsufficientScopeError';
  override readonly code: 'ERR_INSUFFICIENT_SCOPE' = 'ERR_INSUFFICIENT_SCOPE';
  /** The scopes that the operation needs, according to the server. */
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    const names = scopes.join(' ').slice(0, 500);
    super(`The server still requires the scopes "${names}" after they were requested: the account may not have them`);
    this.scopes = scopes;
  }
}

/**
 * A token or its DPoP proof is invalid: wrong signature, time, issuer or audience, or revoked. Throw this error from a `TokenReader` of
 * your own: the caller gets a 401 with the message.
 */
export class InvalidTokenError extends MortiseError {
  override readonly name: string = 'InvalidTokenError';
  override readonly code: 'ERR_TOKEN_INVALID' = 'ERR_TOKEN_INVALID';
  /** The OAuth error code that the `WWW-Authenticate` challenge names. @see RFC 6750 section 3.1; RFC 9449 section 7.1 */
  readonly error: 'invalid_token' | 'invalid_dpop_proof' | 'use_dpop_nonce';

  constructor(
    message: string,
    { error = 'invalid_token', cause }: { readonly error?: InvalidTokenError['error']; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.error = error;
  }
}

/** The union of this package's errors. `switch (error.code)` narrows it. */
export type AnyAuthError = AuthError | SignInPendingError | InsufficientScopeError | InvalidTokenError;
