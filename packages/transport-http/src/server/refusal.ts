/** A request that is turned away before any server sees it. */

import { type JsonRpcErrorObject, MortiseError, type RequestId } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_REQUEST, toInvalidRequestError } from '@mortise/jsonrpc-core/messages';
import type { HeaderList } from './http-request.ts';

/** What a refusal says beside its status. */
export interface RefusalDetail {
  /** @default -32600 */
  readonly rpcCode?: number;
  readonly data?: JsonRpcErrorObject['data'];
  /** The id to answer to, where it could be read. */
  readonly id?: RequestId | undefined;
  readonly headers?: HeaderList;
  /** The connection is of no further use: its body was not read to the end. */
  readonly closes?: boolean;
  /** What failed, where that is no client's business: it is logged. */
  readonly fault?: unknown;
}

/** Thrown inside a face or an exchange; becomes an HTTP error status with a JSON-RPC error as its body. */
export class HttpRefusal extends MortiseError {
  override readonly name: string = 'HttpRefusal';
  override readonly code: 'ERR_HTTP_REFUSED' = 'ERR_HTTP_REFUSED';
  readonly status: number;
  readonly detail: RefusalDetail;

  constructor(status: number, message: string, detail: RefusalDetail = {}) {
    super(message);
    this.status = status;
    this.detail = detail;
  }

  get rpcError(): JsonRpcErrorObject {
    const { rpcCode = INVALID_REQUEST, data } = this.detail;
    return data === undefined ? { code: rpcCode, message: this.message } : { code: rpcCode, message: this.message, data };
  }
}

/** What becomes of an error that nobody meant for the client. */
export function toRefusal(error: unknown, detail: Pick<RefusalDetail, 'id' | 'closes'> = {}): HttpRefusal {
  if (error instanceof HttpRefusal) return error;
  return new HttpRefusal(500, 'Internal error', { ...detail, rpcCode: INTERNAL_ERROR, fault: error });
}

/** The refusal of what is JSON and no message. */
export function invalidRefusal(value: unknown): HttpRefusal {
  const { message, rpcCode, id } = toInvalidRequestError(value);
  return new HttpRefusal(400, message, { rpcCode, id });
}

/** What else a refusal of someone who may come back says. */
interface BusyDetail extends Pick<RefusalDetail, 'id' | 'closes'> {
  /** @default 503 */
  readonly status?: number;
}

/** How long a client is to wait, where nobody can say when there is room, or a server again. */
const COME_BACK_SECONDS = 5;

/** The refusal of someone who may come back. */
export function busyRefusal(message: string, retryAfterSeconds: number = COME_BACK_SECONDS, detail: BusyDetail = {}): HttpRefusal {
  const { status = 503, closes = false, id } = detail;
  return new HttpRefusal(status, message, {
    id,
    rpcCode: INTERNAL_ERROR,
    headers: ['Retry-After', String(Math.max(1, Math.ceil(retryAfterSeconds)))],
    closes,
  });
}

/** The refusal of who comes while the server closes, or has no answer by then. */
export function closingRefusal(detail: Pick<RefusalDetail, 'id' | 'closes'> = {}): HttpRefusal {
  return busyRefusal('The server is closing: come back later', undefined, detail);
}

/** The refusal of a body over the bound. */
export function tooLargeRefusal(maxBytes: number, closes: boolean): HttpRefusal {
  return new HttpRefusal(413, `The body is longer than ${maxBytes} bytes: send less, or raise the server's maxBodyBytes`, { closes });
}

/** The refusal of a request whose body somebody in front has taken: it would be waited for in vain. */
export function takenBodyRefusal(): HttpRefusal {
  return new HttpRefusal(500, 'The body has been read already: the program in front must pass what it held as "parsedBody"', {
    rpcCode: INTERNAL_ERROR,
  });
}

/** The refusal of a body that came with too many others. */
export function crowdedRefusal(closes: boolean): HttpRefusal {
  return busyRefusal('Too much is being sent at once: come back later', undefined, { closes });
}

/** The refusal of a body that is read no further. */
export function stoppedRefusal(why: 'timeout' | 'closing', closes: boolean): HttpRefusal {
  return why === 'timeout' ? new HttpRefusal(408, 'The body took too long to arrive', { closes }) : closingRefusal({ closes });
}

/** What a request is told whose session ends under it. */
export const SESSION_OVER: string = 'The session has ended: send "initialize" to begin a new one';

/** The refusal of a session that has ended, never was, or is another's: nobody learns which. */
export function unknownSession(): HttpRefusal {
  return new HttpRefusal(404, 'There is no such session: send "initialize" without "Mcp-Session-Id" to begin a new one');
}
