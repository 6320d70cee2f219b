/** How a request is refused before the endpoint sees it: the status, the JSON-RPC error in the body, and the headers. */

import { isMortiseError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR } from '@mortise/jsonrpc-core/messages';

/** Names and values in turns, so that no object is built for a handful of headers. */
export type HeaderList = readonly string[];

/** What a refusal says beside its status and its message. */
interface RefusalDetail {
  /** @default -32600 */
  readonly rpcCode?: number;
  readonly headers?: HeaderList;
  /** The body was not read to its end, so the connection cannot be used again. */
  readonly closes?: boolean;
  /** What failed, which is logged and never sent. */
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

/** What is sent for an error: a refusal as it is, anything else as 500, which says nothing of its cause. */
export function toRefusal(error: unknown): HttpRefusal {
  if (error instanceof HttpRefusal) return error;
  if (isMortiseError(error) && error.code === 'ERR_PARSE') return new HttpRefusal(400, error.message, { rpcCode: PARSE_ERROR });
  return new HttpRefusal(500, 'Internal error', { rpcCode: INTERNAL_ERROR, fault: error });
}

/** Sent in place of an answer when the session ends first. */
export const SESSION_OVER: string = 'The session has ended: send "initialize" to begin a new one';

const RETRY_AFTER_SECONDS = '5';

/** Too much is open: 503 with `Retry-After`. @param what As in "Too many sessions: end one, or come back later". */
export function busy(what: string): HttpRefusal {
  return new HttpRefusal(503, what, { rpcCode: INTERNAL_ERROR, headers: ['Retry-After', RETRY_AFTER_SECONDS] });
}

/** For requests that come while the server closes, or have no answer by then. */
export function serverClosing(): HttpRefusal {
  return busy('The server is closing: come back later');
}
