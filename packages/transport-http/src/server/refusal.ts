/** Every way in which a request is refused before the endpoint sees it: the status, the JSON-RPC error in the body, and the headers. */

import { isMortiseError, type JsonRpcErrorObject, type RequestId } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, toInvalidRequestError } from '@mortise/jsonrpc-core/messages';
import { HEADER_MISMATCH } from '@mortise/protocol/wire';

/** Names and values in turns, so that no object is built for a handful of headers. */
export type HeaderList = readonly string[];

/** What a refusal says beside its status and its message. */
interface RefusalDetail {
  /** @default -32600 */
  readonly rpcCode?: number;
  /** The id to answer to, where it could be read. */
  readonly id?: RequestId | undefined;
  readonly headers?: HeaderList;
  /** The body was not read to its end, so the connection cannot be used again. */
  readonly closes?: boolean;
  /** What failed, which is logged and never sent. */
  readonly fault?: unknown;
}

/** Thrown while a request is looked at; sent as an HTTP error status with a JSON-RPC error as its body. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly detail: RefusalDetail;

  constructor(status: number, message: string, detail: RefusalDetail = {}) {
    super(message);
    this.status = status;
    this.detail = detail;
  }

  get rpcError(): JsonRpcErrorObject {
    return { code: this.detail.rpcCode ?? INVALID_REQUEST, message: this.message };
  }

  /** The same refusal, where the connection cannot be used again. */
  closing(): HttpRefusal {
    return new HttpRefusal(this.status, this.message, { ...this.detail, closes: true });
  }
}

/** What is sent for an error: a refusal as it is, anything else as 500, which says nothing of its cause. */
export function toRefusal(error: unknown, id?: RequestId): HttpRefusal {
  if (error instanceof HttpRefusal) return error;
  if (isMortiseError(error) && error.code === 'ERR_PARSE') return new HttpRefusal(400, error.message, { rpcCode: PARSE_ERROR });
  return new HttpRefusal(500, 'Internal error', { id, rpcCode: INTERNAL_ERROR, fault: error });
}

// ---- what was asked for

/** @param where The right path, which is no secret: a slip is the most common reason. */
export function notFound(where: string): HttpRefusal {
  return new HttpRefusal(404, `There is nothing at this path: ${where}`);
}

export function methodNotAllowed(methods: readonly string[]): HttpRefusal {
  const headers = ['Allow', [...methods, 'OPTIONS'].join(', ')];
  return new HttpRefusal(405, `The method is not served here: use ${methods.join(', ')}`, { headers });
}

export function notAcceptable(message: string, id?: RequestId): HttpRefusal {
  return new HttpRefusal(406, message, { id });
}

// ---- who asks

export function badHost(): HttpRefusal {
  return new HttpRefusal(400, 'The request must name one host: send one "Host" header that agrees with the request target');
}

/** A foreign host or origin. */
export function forbidden(status: number, reason: string): HttpRefusal {
  return new HttpRefusal(status, reason);
}

export function badCredentials(): HttpRefusal {
  return new HttpRefusal(400, 'The "Authorization" header must hold one scheme and one token');
}

/** What a token verifier answers: 401, 403, or what else it says. */
export function challenged(status: number, message: string, headers: HeaderList): HttpRefusal {
  return new HttpRefusal(status, message, { headers });
}

// ---- headers

export function tooManyHeaders(message: string): HttpRefusal {
  return new HttpRefusal(431, message);
}

export function duplicateHeader(name: string): HttpRefusal {
  return new HttpRefusal(400, `The header "${name}" may come once only`, name.startsWith('mcp-') ? { rpcCode: HEADER_MISMATCH } : {});
}

/** A header of a modern request that does not say what its body says. */
export function headerMismatch(message: string, id: RequestId | undefined): HttpRefusal {
  return new HttpRefusal(400, message, { rpcCode: HEADER_MISMATCH, id });
}

/** A revision that is not served. */
export function otherVersion(message: string, id?: RequestId): HttpRefusal {
  return new HttpRefusal(400, message, id === undefined ? {} : { rpcCode: INVALID_PARAMS, id });
}

// ---- the body

export function unsupportedBody(message: string): HttpRefusal {
  return new HttpRefusal(415, message);
}

export function tooLarge(maxBytes: number): HttpRefusal {
  return new HttpRefusal(413, `The body is longer than ${maxBytes} bytes: send less, or raise the server's maxBodyBytes`);
}

export function bodyTimeout(): HttpRefusal {
  return new HttpRefusal(408, 'The body took too long to arrive');
}

export function brokenBody(): HttpRefusal {
  return new HttpRefusal(400, 'The body ended early');
}

export function notUtf8(): HttpRefusal {
  return new HttpRefusal(400, 'The body is not UTF-8', { rpcCode: PARSE_ERROR });
}

export function tooDeep(maxDepth: number): HttpRefusal {
  return new HttpRefusal(400, `The JSON nests more than ${maxDepth} levels deep: send it flatter`, { rpcCode: PARSE_ERROR });
}

/** Somebody in front has read the body: the handler would wait for it in vain. */
export function takenBody(): HttpRefusal {
  return new HttpRefusal(500, 'The body has been read already: the program in front must pass what it held as "parsedBody"', {
    rpcCode: INTERNAL_ERROR,
  });
}

/** JSON that is no JSON-RPC message. */
export function invalidMessage(value: unknown): HttpRefusal {
  const { message, rpcCode, id } = toInvalidRequestError(value);
  return new HttpRefusal(400, message, { rpcCode, id });
}

/** A message that may not be sent in this way. */
export function badMessage(message: string): HttpRefusal {
  return new HttpRefusal(400, message);
}

// ---- sessions

/** Sent in place of an answer when the session ends first. */
export const SESSION_OVER: string = 'The session has ended: send "initialize" to begin a new one';

export function missingSession(): HttpRefusal {
  return new HttpRefusal(400, 'The header "Mcp-Session-Id" is missing: send "initialize" first, then the id that its answer gave');
}

/** A session that has ended, never was, or belongs to another principal: the answer does not say which. */
export function unknownSession(): HttpRefusal {
  return new HttpRefusal(404, 'There is no such session: send "initialize" without "Mcp-Session-Id" to begin a new one');
}

export function unknownChannel(): HttpRefusal {
  return new HttpRefusal(404, 'There is no such session: open the event stream again');
}

export function unknownEvent(): HttpRefusal {
  return new HttpRefusal(400, 'The event in "Last-Event-ID" is not known here any more: open a new stream, or repeat the request');
}

// ---- room

const RETRY_AFTER_SECONDS = '5';

/** Too much is open: 503 with `Retry-After`. @param what As in "Too many sessions: end one, or come back later". */
export function busy(what: string, id?: RequestId): HttpRefusal {
  return new HttpRefusal(503, what, { id, rpcCode: INTERNAL_ERROR, headers: ['Retry-After', RETRY_AFTER_SECONDS] });
}

/** For requests that come while the server closes, or have no answer by then. */
export function serverClosing(id?: RequestId): HttpRefusal {
  return busy('The server is closing: come back later', id);
}
