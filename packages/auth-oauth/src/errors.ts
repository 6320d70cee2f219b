/** The errors of this package. None contains a token, an authorization code or a secret. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** The codes of `AuthError`, in the order of the steps of a sign-in. */
export type AuthErrorCode =
  /** A metadata or token request failed: the host was not found, or the connection broke. Try again later. */
  | 'ERR_AUTH_NETWORK'
  /** A metadata or token request took longer than `timeoutMs`. Try again later. */
  | 'ERR_AUTH_TIMEOUT'
  /** A peer names a URL that must not be used, such as a private address. Allow it by the option `urls`, if you trust it. */
  | 'ERR_UNSAFE_URL'
  /** A response redirects where that is not allowed, too many times, or without a valid address. Ask the operator for the final URL. */
  | 'ERR_REDIRECT_REFUSED'
  /** A metadata document or token response is too long. Ask its operator. */
  | 'ERR_DOCUMENT_TOO_LARGE'
  /** The server, or its authorization server, publishes no metadata. The message lists each URL that was tried, and its response. */
  | 'ERR_DISCOVERY'
  /** The server's metadata is of another resource than expected. Nothing was sent. Check the URL, or set the option `resource`. */
  | 'ERR_RESOURCE_MISMATCH'
  /** The authorization server's metadata names another issuer than expected. Nothing was sent. */
  | 'ERR_ISSUER_MISMATCH'
  /** The authorization response comes from another issuer than the sign-in began with. No code was sent to it. */
  | 'ERR_RESPONSE_ISSUER'
  /** The authorization response belongs to no sign-in that is open, or to another one. Begin the sign-in again. */
  | 'ERR_STATE_MISMATCH'
  /** The authorization response is malformed or incomplete. `finishSignIn` needs the complete URL of the redirect. */
  | 'ERR_AUTHORIZATION_RESPONSE'
  /** The authorization server does not support PKCE with S256, which MCP requires. Ask its operator. */
  | 'ERR_PKCE_UNSUPPORTED'
  /**
   * The client does not fit the authorization server: it is registered at another issuer, or has no secret, key or algorithm that the server
   * accepts. The message says which. Correct the client, or register another.
   */
  | 'ERR_CLIENT_MISMATCH'
  /** The client cannot be registered. Register it by hand, and set the option `clients`. */
  | 'ERR_REGISTRATION'
  /** The user has to sign in, and there is no way to ask: set the option `signIn`, or call `signIn()`. */
  | 'ERR_SIGN_IN_REQUIRED'
  /** The authorization server answered the sign-in with an error, for example because the user refused. See `error`. */
  | 'ERR_SIGN_IN_DENIED'
  /** The user did not finish the sign-in in time. */
  | 'ERR_SIGN_IN_TIMEOUT'
  /** The token endpoint refused the request. See `error`; `signIn()` tries again. */
  | 'ERR_TOKEN_REQUEST'
  /** The server refuses a token that was just issued. Read the message; `signIn()` tries again. */
  | 'ERR_TOKEN_REJECTED'
  /** On a server: the caller's token could not be exchanged for one of an upstream service. See `error`. */
  | 'ERR_TOKEN_EXCHANGE'
  /** The file of credentials cannot be used: others may read it, or its content is invalid. The message says which. */
  | 'ERR_CREDENTIAL_FILE'
  /** On a server: keys, metadata or introspection are unavailable, so the token cannot be verified. The caller gets a 500. */
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

/** The server still requires scopes after the client requested them, or names none. They are not requested again until `signIn` is called. */
export class InsufficientScopeError extends MortiseError {
  override readonly name: string = 'InsufficientScopeError';
  override readonly code: 'ERR_INSUFFICIENT_SCOPE' = 'ERR_INSUFFICIENT_SCOPE';
  /** The scopes that the operation needs, according to the server, also those that the token has. */
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    const names = scopes.join(' ').slice(0, 500);
    super(
      names === ''
        ? 'The server requires more scopes, but its 403 and its metadata name none: call signIn with the scopes that the call needs'
        : `The server still requires the scopes "${names}" after they were requested: the account may not have them`,
    );
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
