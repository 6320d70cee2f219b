/** The error classes that several packages share. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** A message cannot be sent because the peer's protocol revision has no form for it. Remedy: check the revision's facts before sending. */
export class UnrepresentableError extends MortiseError {
  override readonly name: string = 'UnrepresentableError';
  override readonly code: 'ERR_NOT_REPRESENTABLE' = 'ERR_NOT_REPRESENTABLE';
}

/**
 * The validator cannot check a JSON Schema. The message says why: its dialect, depth, size, a keyword, pattern or reference. `pointer` names
 * the place to correct.
 */
export class SchemaNotCheckableError extends MortiseError {
  override readonly name: string = 'SchemaNotCheckableError';
  override readonly code: 'ERR_SCHEMA_NOT_CHECKABLE' = 'ERR_SCHEMA_NOT_CHECKABLE';
  /** The place of the problem in the schema, as a JSON Pointer. */
  readonly pointer: string;

  constructor(message: string, pointer: string, options?: ErrorOptions) {
    super(message, options);
    this.pointer = pointer;
  }
}

/** A URI template is invalid or exceeds a limit. */
export class UriTemplateError extends MortiseError {
  override readonly name: string = 'UriTemplateError';
  override readonly code: 'ERR_URI_TEMPLATE' = 'ERR_URI_TEMPLATE';
}

/** `TokenVerifier.verify` rejects with this error if the caller can try again, for example with another token. */
export class AuthChallengeError extends MortiseError {
  override readonly name: string = 'AuthChallengeError';
  override readonly code: 'ERR_AUTH_CHALLENGE' = 'ERR_AUTH_CHALLENGE';
  /** The HTTP status of the response: 401, 403 or 400. */
  readonly status: number;
  /** The value of the response's `WWW-Authenticate` header. */
  readonly challenge: string;
  /** Further headers of the response. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    message: string,
    detail: { readonly status: number; readonly challenge: string; readonly headers?: Readonly<Record<string, string>> },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.status = detail.status;
    this.challenge = detail.challenge;
    this.headers = detail.headers ?? {};
  }
}
