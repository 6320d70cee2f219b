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

/** A server redirects to where a client must not follow, or does not stop redirecting. */
export class RedirectError extends MortiseError {
  override get name(): string {
    return 'RedirectError';
  }
  override readonly code: 'ERR_HTTP_REDIRECT' = 'ERR_HTTP_REDIRECT';
}

/** A stream that broke is not opened again: too often in vain, or the server asks to wait too long. */
export class StreamGivenUpError extends MortiseError {
  override get name(): string {
    return 'StreamGivenUpError';
  }
  override readonly code: 'ERR_STREAM_GIVEN_UP' = 'ERR_STREAM_GIVEN_UP';
}

/** A tool was left out of a list because a header that it asks for cannot be sent. */
export class ToolHeaderError extends MortiseError {
  override get name(): string {
    return 'ToolHeaderError';
  }
  override readonly code: 'ERR_TOOL_HEADER' = 'ERR_TOOL_HEADER';
  /** The tool's name. */
  readonly tool: string;

  constructor(message: string, tool: string) {
    super(message);
    this.tool = tool;
  }
}

/** Every error that this package throws or reports itself. */
export type AnyHttpError = NoStreamError | HttpOptionError | RedirectError | StreamGivenUpError | ToolHeaderError;
