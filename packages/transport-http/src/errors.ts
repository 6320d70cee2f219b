/** The errors of this package: `switch (error.code)` on the union `AnyHttpError` narrows it. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** No open stream can carry a message to the client of a session. */
export class NoStreamError extends MortiseError {
  override readonly name: string = 'NoStreamError';
  override readonly code: 'ERR_NO_STREAM' = 'ERR_NO_STREAM';
}

/** An address, a port or an option is invalid, or a server cannot listen there: its port is taken or not allowed, its host not this machine's. */
export class HttpOptionError extends MortiseError {
  override readonly name: string = 'HttpOptionError';
  override readonly code: 'ERR_HTTP_OPTION' | 'ERR_LISTEN';
  /** Of `ERR_LISTEN`: what the system calls it, as `EADDRINUSE`. */
  readonly errno: string | undefined;

  constructor(message: string, options?: ErrorOptions & { readonly code?: 'ERR_LISTEN'; readonly errno?: string | undefined }) {
    super(message, options);
    this.code = options?.code ?? 'ERR_HTTP_OPTION';
    this.errno = options?.errno;
  }
}

/** What a client over HTTP gives up on. The message says what to do about it. */
export class HttpClientError extends MortiseError {
  override get name(): string {
    return 'HttpClientError';
  }
  override readonly code:
    /** The server redirects to another origin, in circles, or a POST to a GET. */
    | 'ERR_HTTP_REDIRECT'
    /** A stream broke and is not opened again: too many attempts failed, or the server asks to wait too long. */
    | 'ERR_STREAM_GIVEN_UP'
    /** A tool was left out of a list because a header that its schema asks for cannot be sent. */
    | 'ERR_TOOL_HEADER';

  constructor(code: HttpClientError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Every error that this package throws or reports itself. */
export type AnyHttpError = NoStreamError | HttpOptionError | HttpClientError;
