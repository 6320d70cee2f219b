/** v1's errors of HTTP transports, and which of ours they stand for. */

import { ExchangeHttpError } from '@mortise/jsonrpc-core';

/** The server's HTTP response is no success. `code` is its status. */
export class StreamableHTTPError extends Error {
  readonly code: number | undefined;

  constructor(code: number | undefined, message: string | undefined, options?: ErrorOptions) {
    super(`Streamable HTTP error: ${message}`, options);
    this.code = code;
  }
}

/** Returns v1's error for one of ours; any other error as it is. */
export function toV1HttpError(error: unknown): unknown {
  if (!(error instanceof ExchangeHttpError)) return error;
  return new StreamableHTTPError(error.status, error.message, { cause: error });
}
