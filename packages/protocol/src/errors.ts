/** The errors that cross MCP's joints. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** A revision has no way to say what was asked to be sent to its peer. */
export class UnrepresentableError extends MortiseError {
  override readonly name: string = 'UnrepresentableError';
  override readonly code: 'ERR_NOT_REPRESENTABLE' = 'ERR_NOT_REPRESENTABLE';
}

/** A JSON Schema cannot be checked here: its dialect, depth, size, a pattern or a reference. The message says which. */
export class SchemaNotCheckableError extends MortiseError {
  override readonly name: string = 'SchemaNotCheckableError';
  override readonly code: 'ERR_SCHEMA_NOT_CHECKABLE' = 'ERR_SCHEMA_NOT_CHECKABLE';
  /** Where in the schema, as a JSON Pointer. */
  readonly pointer: string;

  constructor(message: string, pointer: string, options?: ErrorOptions) {
    super(message, options);
    this.pointer = pointer;
  }
}

/** A URI template cannot be read, or is longer than its bounds. */
export class UriTemplateError extends MortiseError {
  override readonly name: string = 'UriTemplateError';
  override readonly code: 'ERR_URI_TEMPLATE' = 'ERR_URI_TEMPLATE';
}

/** A caller who could do better: what a `TokenVerifier` rejects with. */
export class AuthChallengeError extends MortiseError {
  override readonly name: string = 'AuthChallengeError';
  override readonly code: 'ERR_AUTH_CHALLENGE' = 'ERR_AUTH_CHALLENGE';
  /** The HTTP status: 401, 403 or 400. */
  readonly status: number;
  /** The value of `WWW-Authenticate`. */
  readonly challenge: string;
  /** More headers for the answer. */
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
