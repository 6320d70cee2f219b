/** Error responses to HTTP requests: the status, the JSON-RPC error in the body, and the headers. */

import { isMortiseError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from '@mortise/jsonrpc-core/messages';

/** Headers as a list of alternating names and values, which costs less than an object. */
export type HeaderList = readonly string[];

/** The optional parts of an error response. */
interface RefusalDetail {
  /** The code of the JSON-RPC error. @default -32600 */
  readonly rpcCode?: number;
  readonly headers?: HeaderList;
  /** Whether the connection must close after the response, because the request body was not read to its end. */
  readonly closes?: boolean;
  /** The cause of the error, which is logged and never sent. */
  readonly fault?: unknown;
}

/** Thrown while an HTTP request is checked. It is sent as an HTTP error status with a JSON-RPC error in the body. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly rpcCode: number;
  readonly detail: RefusalDetail;

  constructor(status: number, message: string, detail: RefusalDetail = {}) {
    super(message);
    this.status = status;
    this.rpcCode = detail.rpcCode ?? INVALID_REQUEST;
    this.detail = detail;
  }
}

/** Converts an error to an `HttpRefusal`. Errors that are none become status 500 without details. */
export function toRefusal(error: unknown): HttpRefusal {
  if (error instanceof HttpRefusal) return error;
  if (isMortiseError(error) && error.code === 'ERR_PARSE') return new HttpRefusal(400, error.message, { rpcCode: PARSE_ERROR });
  return new HttpRefusal(500, 'Internal error', { rpcCode: INTERNAL_ERROR, fault: error });
}

/** The error message for requests in a session that has ended. */
export const SESSION_OVER: string = 'The session has ended: send "initialize" to begin a new one';

const RETRY_AFTER_SECONDS = '5';

/**
 * Makes a response with status 503 and `Retry-After`.
 *
 * @param what The message, such as "Too many sessions: end one, or come back later".
 */
export function busy(what: string): HttpRefusal {
  return new HttpRefusal(503, what, { rpcCode: INTERNAL_ERROR, headers: ['Retry-After', RETRY_AFTER_SECONDS] });
}

/** Makes the error response for requests that arrive, or have no response yet, when the server closes. */
export function serverClosing(): HttpRefusal {
  return busy('The server is closing: come back later');
}
