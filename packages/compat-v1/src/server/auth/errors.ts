/** `/server/auth/errors`: OAuth's errors as classes. @see RFC 6749 section 5.2 */

/** An error of OAuth. Each class has its code as `errorCode`. */
export class OAuthError extends Error {
  static errorCode: string;
  readonly errorUri: string | undefined;

  constructor(message: string, errorUri?: string) {
    super(message);
    this.name = new.target.name;
    this.errorUri = errorUri;
  }

  get errorCode(): string {
    return (this.constructor as typeof OAuthError).errorCode;
  }

  /** The body of the error response. */
  toResponseObject(): { error: string; error_description: string; error_uri?: string } {
    const { errorCode, message, errorUri } = this;
    return { error: errorCode, error_description: message, ...(errorUri ? { error_uri: errorUri } : {}) };
  }
}

/** Makes the base of the class of one code. */
function errorOf(code: string): typeof OAuthError {
  return class extends OAuthError {
    static override errorCode = code;
  };
}

export class InvalidRequestError extends errorOf('invalid_request') {}
export class InvalidClientError extends errorOf('invalid_client') {}
export class InvalidGrantError extends errorOf('invalid_grant') {}
export class UnauthorizedClientError extends errorOf('unauthorized_client') {}
export class UnsupportedGrantTypeError extends errorOf('unsupported_grant_type') {}
export class InvalidScopeError extends errorOf('invalid_scope') {}
export class AccessDeniedError extends errorOf('access_denied') {}
/** Any failure of the server's own: status 500. */
export class ServerError extends errorOf('server_error') {}
export class TemporarilyUnavailableError extends errorOf('temporarily_unavailable') {}
export class UnsupportedResponseTypeError extends errorOf('unsupported_response_type') {}
export class UnsupportedTokenTypeError extends errorOf('unsupported_token_type') {}
/** The token is invalid, expired or was issued for another server. */
export class InvalidTokenError extends errorOf('invalid_token') {}
export class MethodNotAllowedError extends errorOf('method_not_allowed') {}
export class TooManyRequestsError extends errorOf('too_many_requests') {}
export class InvalidClientMetadataError extends errorOf('invalid_client_metadata') {}
/** The token is valid, and lacks a scope. */
export class InsufficientScopeError extends errorOf('insufficient_scope') {}
export class InvalidTargetError extends errorOf('invalid_target') {}

/** An error with a code of one's own. */
export class CustomOAuthError extends OAuthError {
  readonly #code: string;

  constructor(customErrorCode: string, message: string, errorUri?: string) {
    super(message, errorUri);
    this.#code = customErrorCode;
  }

  override get errorCode(): string {
    return this.#code;
  }
}

const CLASSES = [
  InvalidRequestError,
  InvalidClientError,
  InvalidGrantError,
  UnauthorizedClientError,
  UnsupportedGrantTypeError,
  InvalidScopeError,
  AccessDeniedError,
  ServerError,
  TemporarilyUnavailableError,
  UnsupportedResponseTypeError,
  UnsupportedTokenTypeError,
  InvalidTokenError,
  MethodNotAllowedError,
  TooManyRequestsError,
  InvalidClientMetadataError,
  InsufficientScopeError,
  InvalidTargetError,
];

/** The classes by their codes. */
export const OAUTH_ERRORS: Readonly<Record<string, typeof OAuthError>> = Object.fromEntries(CLASSES.map((each) => [each.errorCode, each]));
