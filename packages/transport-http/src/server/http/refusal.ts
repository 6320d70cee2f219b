/** Refusals of HTTP requests: the status, the JSON-RPC error in the body, and the headers. */

import { isMortiseError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from '@mortise/jsonrpc-core/messages';

/** Alternating names and values, which costs less than an object. */
export type HeaderList = readonly string[];

/** Optional parts of a refusal. */
interface RefusalDetail {
  /** @default -32600 */
  readonly rpcCode?: number;
  readonly headers?: HeaderList;
  /** Whether the connection must close, because the body was not read to its end. */
  readonly closes?: boolean;
  /** The cause, which is logged and never sent. */
  readonly fault?: unknown;
}

/** Thrown while a request is checked; sent as an HTTP error status with a JSON-RPC error as its body. */
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

/** Converts an error to a refusal. Other errors become status 500 without details. */
export function toRefusal(error: unknown): HttpRefusal {
  if (error instanceof HttpRefusal) return error;
  if (isMortiseError(error) && error.code === 'ERR_PARSE') return new HttpRefusal(400, error.message, { rpcCode: PARSE_ERROR });
  return new HttpRefusal(500, 'Internal error', { rpcCode: INTERNAL_ERROR, fault: error });
}

/** The error message for requests whose session has ended. */
export const SESSION_OVER: string = 'The session has ended: send "initialize" to begin a new one';

const RETRY_AFTER_SECONDS = '5';

/** Makes a 503 refusal with `Retry-After`. @param what The message, such as "Too many sessions: end one, or come back later". */
export function busy(what: string): HttpRefusal {
  return new HttpRefusal(503, what, { rpcCode: INTERNAL_ERROR, headers: ['Retry-After', RETRY_AFTER_SECONDS] });
}

/** The refusal for requests that arrive, or have no response yet, when the server closes. */
export function serverClosing(): HttpRefusal {
  return busy('The server is closing: come back later');
}
