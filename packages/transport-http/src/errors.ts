/** The errors of this package. `switch (error.code)` on the union type `AnyHttpError` narrows the error. */

import { MortiseError } from '@mortise/jsonrpc-core';

/**
 * The server cannot send a message to the client, because the client has no stream open.
 *
 * Remedy: the client opens a GET stream, or the server keeps its option `sessions` on.
 */
export class NoStreamError extends MortiseError {
  override readonly name: string = 'NoStreamError';
  override readonly code: 'ERR_NO_STREAM' = 'ERR_NO_STREAM';
}

/**
 * An HTTP server or client was set up wrongly.
 *
 * - `ERR_HTTP_OPTION`: a URL, port or option value is invalid, an option is unknown, or what is served is not a server. The message names
 *   it and the rule.
 * - `ERR_LISTEN`: the port is in use or not allowed, or the host is not an address of this machine; see `errno`. End the other program, or
 *   set another `port` (0 for any) or `host`.
 */
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
    /**
     * The server redirects to another origin, in a loop, or such that a POST would become a GET (301, 302, 303). The message has the
     * address: use it if you trust it. A redirect to a sign-in page means that the server needs a token.
     */
    | 'ERR_HTTP_REDIRECT'
    /**
     * A broken event stream will not be opened again: `maxRetries` attempts failed, or the server asks for a wait of more than 5 minutes.
     * The next accepted request opens a session's stream again.
     */
    | 'ERR_STREAM_GIVEN_UP'
    /**
     * A tool was left out of a `tools/list` result, because its schema asks for an invalid `Mcp-Param-*` header. Correct `x-mcp-header` in
     * the tool's schema. Reported to `onerror`.
     */
    | 'ERR_TOOL_HEADER';

  constructor(code: HttpClientError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The union of all error classes of this package: `switch (error.code)` narrows it to one class. */
export type AnyHttpError = NoStreamError | HttpOptionError | HttpClientError;
