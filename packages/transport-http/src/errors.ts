/** The errors of this package. `switch (error.code)` on the union type `AnyHttpError` narrows the error. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** The server cannot send a message to the client, because the client has no stream open. */
export class NoStreamError extends MortiseError {
  override readonly name: string = 'NoStreamError';
  override readonly code: 'ERR_NO_STREAM' = 'ERR_NO_STREAM';
}

/** `ERR_HTTP_OPTION`: a URL, port or option is invalid. `ERR_LISTEN`: the server cannot listen on the host and port. */
export class HttpOptionError extends MortiseError {
  override readonly name: string = 'HttpOptionError';
  override readonly code: 'ERR_HTTP_OPTION' | 'ERR_LISTEN';
  /** The system's error code for `ERR_LISTEN`, such as `EADDRINUSE`. */
  readonly errno: string | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly code?: 'ERR_LISTEN'; readonly errno?: string | undefined }) {
    super(message, options);
    this.code = options?.code ?? 'ERR_HTTP_OPTION';
    this.errno = options?.errno;
  }
}

/** An error of the HTTP client that trying again does not solve. The message says what to do. */
export class HttpClientError extends MortiseError {
  override get name(): string {
    return 'HttpClientError';
  }
  override readonly code:
    /** The server redirects to another origin, in a loop, or such that a POST would become a GET. */
    | 'ERR_HTTP_REDIRECT'
    /** A broken event stream will not be opened again: too many attempts failed, or the server asks for too long a wait. */
    | 'ERR_STREAM_GIVEN_UP'
    /** A tool was left out of a `tools/list` result, because its schema asks for an invalid `Mcp-Param-*` header. */
    | 'ERR_TOOL_HEADER';

  constructor(code: HttpClientError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The union of all error classes of this package: `switch (error.code)` narrows it to one class. */
export type AnyHttpError = NoStreamError | HttpOptionError | HttpClientError;
