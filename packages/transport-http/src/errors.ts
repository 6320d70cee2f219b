/** The errors of this package: `switch (error.code)` on the union `AnyHttpError` narrows it. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** A message cannot be sent to the client, because no stream is open. */
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

/** An error of the HTTP client that a repeated attempt does not solve. The message contains the remedy. */
export class HttpClientError extends MortiseError {
  override get name(): string {
    return 'HttpClientError';
  }
  override readonly code:
    /** The server redirects to another origin, in a loop, or from POST to GET. */
    | 'ERR_HTTP_REDIRECT'
    /** A broken stream will not be opened again: too many attempts failed, or the server asks for too long a wait. */
    | 'ERR_STREAM_GIVEN_UP'
    /** A tool was left out of a list, because its schema asks for an invalid header. */
    | 'ERR_TOOL_HEADER';

  constructor(code: HttpClientError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Every error class of this package: `switch (error.code)` narrows it. */
export type AnyHttpError = NoStreamError | HttpOptionError | HttpClientError;
