/** v1's errors of HTTP transports, and which of ours they stand for. */

import { ExchangeHttpError, SessionLostError } from '@mortise/jsonrpc-core';

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
  // A v1 program connects again when its session is lost, which v1 knows by the status.
  if (error instanceof SessionLostError) return new StreamableHTTPError(404, error.message, { cause: error });
  if (!(error instanceof ExchangeHttpError)) return error;
  return new StreamableHTTPError(error.status, error.message, { cause: error });
}
