/** What can go wrong with authorization, one class a reason to act differently. None holds a token, a code or a secret. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** An option cannot hold. */
export class AuthOptionError extends MortiseError {
  override get name(): string {
    return 'AuthOptionError';
  }
  override readonly code: 'ERR_AUTH_OPTION' = 'ERR_AUTH_OPTION';
}

/** A URL that a peer gave must not be fetched or opened: its scheme, or the address that it leads to. */
export class UnsafeUrlError extends MortiseError {
  override get name(): string {
    return 'UnsafeUrlError';
  }
  override readonly code: 'ERR_UNSAFE_URL' = 'ERR_UNSAFE_URL';
}

/** A peer redirected a request that is not followed: one with credentials, to a refused address, or without end. */
export class RedirectRefusedError extends MortiseError {
  override get name(): string {
    return 'RedirectRefusedError';
  }
  override readonly code: 'ERR_REDIRECT_REFUSED' = 'ERR_REDIRECT_REFUSED';
}

/** A peer sent a longer document than is read. */
export class DocumentTooLargeError extends MortiseError {
  override get name(): string {
    return 'DocumentTooLargeError';
  }
  override readonly code: 'ERR_DOCUMENT_TOO_LARGE' = 'ERR_DOCUMENT_TOO_LARGE';
}

/** A peer did not answer an authorization request in time. */
export class AuthTimeoutError extends MortiseError {
  override get name(): string {
    return 'AuthTimeoutError';
  }
  override readonly code: 'ERR_AUTH_TIMEOUT' = 'ERR_AUTH_TIMEOUT';
}

/** An authorization request was not answered: no address, no connection, a broken one. */
export class AuthNetworkError extends MortiseError {
  override get name(): string {
    return 'AuthNetworkError';
  }
  override readonly code: 'ERR_AUTH_NETWORK' = 'ERR_AUTH_NETWORK';
}

/** Protected resource metadata speaks of another resource than the server that it was asked for. Nobody was asked to sign in. */
export class ResourceMismatchError extends MortiseError {
  override get name(): string {
    return 'ResourceMismatchError';
  }
  override readonly code: 'ERR_RESOURCE_MISMATCH' = 'ERR_RESOURCE_MISMATCH';
}

/** Authorization server metadata names another issuer than the one that it was asked for. None of its endpoints was used. */
export class IssuerMismatchError extends MortiseError {
  override get name(): string {
    return 'IssuerMismatchError';
  }
  override readonly code: 'ERR_ISSUER_MISMATCH' = 'ERR_ISSUER_MISMATCH';
}

/** The authorization server does not say that it checks PKCE with S256. Nobody was asked to sign in. */
export class PkceUnsupportedError extends MortiseError {
  override get name(): string {
    return 'PkceUnsupportedError';
  }
  override readonly code: 'ERR_PKCE_UNSUPPORTED' = 'ERR_PKCE_UNSUPPORTED';
}

/** None of the registered clients belongs to the authorization server that the server names. No credentials were sent. */
export class ClientMismatchError extends MortiseError {
  override get name(): string {
    return 'ClientMismatchError';
  }
  override readonly code: 'ERR_CLIENT_MISMATCH' = 'ERR_CLIENT_MISMATCH';
}

/** An authorization response answers no sign-in of ours. Its code was not used. */
export class StateMismatchError extends MortiseError {
  override get name(): string {
    return 'StateMismatchError';
  }
  override readonly code: 'ERR_STATE_MISMATCH' = 'ERR_STATE_MISMATCH';
}

/** An authorization response comes from another issuer than asked, or does not say from which. Its code was not used, its error is not shown. */
export class ResponseIssuerError extends MortiseError {
  override get name(): string {
    return 'ResponseIssuerError';
  }
  override readonly code: 'ERR_RESPONSE_ISSUER' = 'ERR_RESPONSE_ISSUER';
}

/** An authorization response is not one: a parameter is missing or there twice. */
export class AuthorizationResponseError extends MortiseError {
  override get name(): string {
    return 'AuthorizationResponseError';
  }
  override readonly code: 'ERR_AUTHORIZATION_RESPONSE' = 'ERR_AUTHORIZATION_RESPONSE';
}

/** A person would have to sign in, and there is no way to ask one. */
export class SignInRequiredError extends MortiseError {
  override get name(): string {
    return 'SignInRequiredError';
  }
  override readonly code: 'ERR_SIGN_IN_REQUIRED' = 'ERR_SIGN_IN_REQUIRED';
}

/** Nobody came back from the sign-in in time. */
export class SignInTimeoutError extends MortiseError {
  override get name(): string {
    return 'SignInTimeoutError';
  }
  override readonly code: 'ERR_SIGN_IN_TIMEOUT' = 'ERR_SIGN_IN_TIMEOUT';
}

/** The server refuses the token that its authorization server has just issued. */
export class TokenRejectedError extends MortiseError {
  override get name(): string {
    return 'TokenRejectedError';
  }
  override readonly code: 'ERR_TOKEN_REJECTED' = 'ERR_TOKEN_REJECTED';
}

/** The file of credentials cannot be used: others can read it, or it holds something else. */
export class CredentialFileError extends MortiseError {
  override get name(): string {
    return 'CredentialFileError';
  }
  override readonly code: 'ERR_CREDENTIAL_FILE' = 'ERR_CREDENTIAL_FILE';
}

/** One URL that discovery tried, and what it answered. */
export interface DiscoveryAttempt {
  readonly url: string;
  /** `404`, `200, but not JSON`, and the like. */
  readonly answer: string;
}

/** No candidate had the metadata that was looked for. The message lists every URL that was tried and what each answered. */
export class DiscoveryError extends MortiseError {
  override get name(): string {
    return 'DiscoveryError';
  }
  override readonly code: 'ERR_DISCOVERY' = 'ERR_DISCOVERY';
  readonly attempts: readonly DiscoveryAttempt[];

  constructor(message: string, attempts: readonly DiscoveryAttempt[], options?: ErrorOptions) {
    super([message, ...attempts.map(({ url, answer }) => `  ${url}: ${answer}`)].join('\n'), options);
    this.attempts = attempts;
  }
}

/** What an OAuth endpoint said when it refused, made safe to show. */
export interface OAuthRefusal {
  readonly status?: number | undefined;
  /** The OAuth error code, `invalid_grant` for one. */
  readonly error?: string | undefined;
  readonly description?: string | undefined;
}

/** An endpoint of the authorization server refused. */
abstract class RefusalError extends MortiseError {
  readonly status: number | undefined;
  /** The OAuth error code, `invalid_grant` for one, where there was one. */
  readonly error: string | undefined;

  constructor(message: string, { status, error, description }: OAuthRefusal, options?: ErrorOptions) {
    const words = [error, description].filter((part) => part !== undefined).join(': ');
    super(words === '' ? message : `${message}: ${words}`, options);
    this.status = status;
    this.error = error;
  }
}

/** The client could not be registered: refused, or there is no way to. */
export class RegistrationError extends RefusalError {
  override get name(): string {
    return 'RegistrationError';
  }
  override readonly code: 'ERR_REGISTRATION' = 'ERR_REGISTRATION';
}

/** The authorization server, or the person, said no. */
export class SignInDeniedError extends RefusalError {
  override get name(): string {
    return 'SignInDeniedError';
  }
  override readonly code: 'ERR_SIGN_IN_DENIED' = 'ERR_SIGN_IN_DENIED';
}

/** The token endpoint refused, or answered with something that is no token. */
export class TokenRequestError extends RefusalError {
  override get name(): string {
    return 'TokenRequestError';
  }
  override readonly code: 'ERR_TOKEN_REQUEST' = 'ERR_TOKEN_REQUEST';
}

/** A person has been sent to sign in; call `finishSignIn` with the URL that they come back to, then try again. */
export class SignInPendingError extends MortiseError {
  override get name(): string {
    return 'SignInPendingError';
  }
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
  override get name(): string {
    return 'InsufficientScopeError';
  }
  override readonly code: 'ERR_INSUFFICIENT_SCOPE' = 'ERR_INSUFFICIENT_SCOPE';
  /** What the server said that the operation needs. */
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    super(
      `The server still asks for the scopes "${scopes.join(' ').slice(0, 500)}" after they were asked for: the account may not have them`,
    );
    this.scopes = scopes;
  }
}

/** Every error that the client half of this package throws itself: `switch (error.code)` narrows it. */
export type AnyAuthClientError =
  | AuthOptionError
  | UnsafeUrlError
  | RedirectRefusedError
  | DocumentTooLargeError
  | AuthTimeoutError
  | AuthNetworkError
  | ResourceMismatchError
  | IssuerMismatchError
  | PkceUnsupportedError
  | ClientMismatchError
  | StateMismatchError
  | ResponseIssuerError
  | AuthorizationResponseError
  | SignInRequiredError
  | SignInTimeoutError
  | TokenRejectedError
  | CredentialFileError
  | DiscoveryError
  | RegistrationError
  | SignInDeniedError
  | TokenRequestError
  | SignInPendingError
  | InsufficientScopeError;
