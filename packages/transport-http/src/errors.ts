/** The errors of this package: `switch (error.code)` on the union narrows it. */

import { MortiseError } from '@mortise/jsonrpc-core';

/** No open stream can carry a message to the client of a session. */
export class NoStreamError extends MortiseError {
  override readonly name: string = 'NoStreamError';
  override readonly code: 'ERR_NO_STREAM' = 'ERR_NO_STREAM';
}

/** An option of a handler does not hold, alone or beside another. */
export class HttpOptionError extends MortiseError {
  override readonly name: string = 'HttpOptionError';
  override readonly code: 'ERR_HTTP_OPTION' = 'ERR_HTTP_OPTION';
}

/** A server redirects to where a client must not follow, or does not stop redirecting. */
export class RedirectError extends MortiseError {
  override readonly name: string = 'RedirectError';
  override readonly code: 'ERR_HTTP_REDIRECT' = 'ERR_HTTP_REDIRECT';
}

/** A server of HTTP+SSE did not say where to post, or named another origin. */
export class SseEndpointError extends MortiseError {
  override readonly name: string = 'SseEndpointError';
  override readonly code: 'ERR_SSE_ENDPOINT' = 'ERR_SSE_ENDPOINT';
}

/** A stream that broke is not opened again: too often in vain, or the server asks to wait too long. */
export class StreamGivenUpError extends MortiseError {
  override readonly name: string = 'StreamGivenUpError';
  override readonly code: 'ERR_STREAM_GIVEN_UP' = 'ERR_STREAM_GIVEN_UP';
}

/** A tool was left out of a list because a header that it asks for cannot be sent. */
export class ToolHeaderError extends MortiseError {
  override readonly name: string = 'ToolHeaderError';
  override readonly code: 'ERR_TOOL_HEADER' = 'ERR_TOOL_HEADER';
  /** The tool's name. */
  readonly tool: string;

  constructor(message: string, tool: string) {
    super(message);
    this.tool = tool;
  }
}
