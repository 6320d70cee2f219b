/** The errors of this package, and the base class of all Mortise errors. A `RemoteError` comes from the peer, all others from this side. */

import type { MessageHead } from './malformed.ts';
import type { JsonRpcErrorObject, JsonValue, RequestId } from './message.ts';

/** The symbol that marks every `MortiseError`, also those of another installed copy of this package. */
const BRAND = Symbol.for('mortise.error');

/** The base class of every error that Mortise throws. Tell errors apart by `code`, or by `instanceof` a subclass. */
export abstract class MortiseError extends Error {
  /** Says what kind of error this is: a literal that begins with `ERR_`. Errors that need different handling have different codes. */
  abstract readonly code: string;

  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }
}

/** Tells whether a value is a `MortiseError`. Works across two installed copies of this package, where `instanceof` fails. */
export function isMortiseError(value: unknown): value is MortiseError {
  try {
    return typeof value === 'object' && value !== null && (value as { readonly [BRAND: symbol]: unknown })[BRAND] === true;
  } catch {
    return false;
  }
}

/** The peer responded to a request with an error. */
export class RemoteError extends MortiseError {
  override readonly name: string = 'RemoteError';
  override readonly code: 'ERR_REMOTE' = 'ERR_REMOTE';
  /** The JSON-RPC error code that the peer gave. */
  readonly rpcCode: number;
  /** The `data` of the peer's error, unchanged. `undefined` if the peer sent none. */
  readonly data: JsonValue | undefined;
  /** The method of the request that failed, if the error belongs to one. */
  readonly method: string | undefined;

  constructor(error: JsonRpcErrorObject, method?: string) {
    super(error.message);
    this.rpcCode = error.code;
    this.data = error.data;
    this.method = method;
  }
}

/** Thrown by a handler to send exactly this JSON-RPC error. Any other thrown error is sent as a neutral -32603. */
export class ProtocolError extends MortiseError {
  override readonly name: string = 'ProtocolError';
  override readonly code: 'ERR_PROTOCOL' = 'ERR_PROTOCOL';
  /** The JSON-RPC error code to send. */
  readonly rpcCode: number;
  /** The `data` of the error to send, or `undefined` for none. */
  readonly data: JsonValue | undefined;

  /**
   * @param rpcCode An integer, see `ErrorCode`. Codes of your own must be outside -32768..-32000: `@mortise/server` replaces those from
   *   -32099 to -32000 that the client's revision reserves.
   * @param message One short sentence, sent unchanged.
   * @param data Details, sent unchanged.
   */
  constructor(rpcCode: number, message: string, data?: JsonValue, options?: ErrorOptions) {
    super(message, options);
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/** A request got no response in time. A cancellation was sent to the peer. Remedy: raise `timeoutMs`, or ask for less. */
export class TimeoutError extends MortiseError {
  override readonly name: string = 'TimeoutError';
  override readonly code: 'ERR_TIMEOUT' = 'ERR_TIMEOUT';
  /** The time limit that was reached, in milliseconds. */
  readonly timeoutMs: number;

  constructor(message: string, timeoutMs: number, options?: ErrorOptions) {
    super(message, options);
    this.timeoutMs = timeoutMs;
  }
}

/**
 * The connection is closed, so the operation cannot be carried out. `cause` has the reason, if one is known: the server's process exited,
 * nothing listens at the address, the response ended too early. Remedy: connect again.
 */
export class ConnectionClosedError extends MortiseError {
  override readonly name: string = 'ConnectionClosedError';
  override readonly code: 'ERR_CONNECTION_CLOSED' = 'ERR_CONNECTION_CLOSED';

  constructor(message = 'The connection is closed', options?: ErrorOptions) {
    super(message, options);
  }
}

/**
 * The channel broke and is being opened again. Requests in flight have failed; later messages may succeed. See `withReconnect`. Remedy:
 * repeat the call, if repeating it does no harm.
 */
export class ConnectionLostError extends MortiseError {
  override readonly name: string = 'ConnectionLostError';
  override readonly code: 'ERR_CONNECTION_LOST' = 'ERR_CONNECTION_LOST';

  constructor(message = 'The connection was lost and is being opened again', options?: ErrorOptions) {
    super(message, options);
  }
}

/**
 * The peer no longer knows the session. It did not process the message, so the message may be sent again in a new session. When a transport
 * reports this error by `onerror`, its channel has ended.
 */
export class SessionLostError extends MortiseError {
  override readonly name: string = 'SessionLostError';
  override readonly code: 'ERR_SESSION_LOST' = 'ERR_SESSION_LOST';
  readonly endsChannel: true = true;

  constructor(message = 'The server no longer knows the session: open a new session and send the message again', options?: ErrorOptions) {
    super(message, options);
  }
}

/** The default messages of `UsageError`. */
const USAGE: Readonly<Record<UsageError['code'], string>> = {
  ERR_NOT_CONNECTED: 'Not started yet: call start() first',
  ERR_ALREADY_STARTED: 'Already started: create a new one for another connection',
  ERR_SERIALIZE: 'The message cannot be written as JSON',
};

/**
 * The program used a transport or a connection wrongly.
 *
 * - `ERR_NOT_CONNECTED`: a message was sent before `start` or `connect`. Call it first.
 * - `ERR_ALREADY_STARTED`: `start` was called twice. Make a new transport for each connection.
 * - `ERR_SERIALIZE`: JSON cannot represent a value: a cycle, a BigInt, or a result that is not an object. Send plain data.
 */
export class UsageError extends MortiseError {
  override readonly name: string = 'UsageError';
  override readonly code: 'ERR_NOT_CONNECTED' | 'ERR_ALREADY_STARTED' | 'ERR_SERIALIZE';

  constructor(code: UsageError['code'], message: string = USAGE[code], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The peer cancelled a request that this side is serving. This error is the reason of the request's `signal`. */
export class CancelledError extends MortiseError {
  override readonly name: string = 'CancelledError';
  override readonly code: 'ERR_CANCELLED' = 'ERR_CANCELLED';
  /** The reason that the peer gave for cancelling, if any. */
  readonly reason: string | undefined;

  constructor(reason?: string) {
    super(reason === undefined ? 'The peer cancelled the request' : `The peer cancelled the request: ${reason}`);
    this.reason = reason;
  }
}

/** What is known about a message that could not be parsed. */
export interface UnreadMessage extends ErrorOptions {
  /** The limit that the message exceeds, and what to do. Also sent to the peer. @default none: the text is not valid JSON */
  readonly excess?: string | undefined;
  /** The kind and id of the message, if they could be read from its beginning or end. @default none */
  readonly head?: MessageHead | undefined;
}

/** A received text is not JSON, or exceeds a limit: it nests too deeply or holds too many values. The peer is at fault. */
export class ParseError extends MortiseError {
  override readonly name: string = 'ParseError';
  override readonly code: 'ERR_PARSE' = 'ERR_PARSE';
  /** The limit that the text exceeds, or undefined if the text is not valid JSON. */
  readonly excess: string | undefined;
  /** The kind and id of the message, if they could be read from its beginning or end. */
  readonly head: MessageHead | undefined;

  constructor(message: string, options?: UnreadMessage) {
    super(message, options);
    this.excess = options?.excess;
    this.head = options?.head;
  }
}

/** A received JSON value is not a valid MCP message in JSON-RPC form. The peer is at fault. */
export class InvalidRequestError extends MortiseError {
  override readonly name: string = 'InvalidRequestError';
  override readonly code: 'ERR_INVALID_REQUEST' = 'ERR_INVALID_REQUEST';
  /** The id for the error response, if the message had a valid one. */
  readonly id: RequestId | undefined;
  /** The error code to send in the response: -32600, or -32602 if only the parameters are wrong. */
  readonly rpcCode: number;

  constructor(message: string, rpcCode: number, id?: RequestId, options?: ErrorOptions) {
    super(message, options);
    this.rpcCode = rpcCode;
    this.id = id;
  }
}

/** The peer sent a response that is not valid: not JSON-RPC, or not what the protocol allows there. The peer is at fault. */
export class InvalidResponseError extends MortiseError {
  override readonly name: string = 'InvalidResponseError';
  override readonly code: 'ERR_INVALID_RESPONSE' = 'ERR_INVALID_RESPONSE';
}

/** A message is longer than the transport's limit. Remedy: raise the limit (`maxMessageBytes`), or send a shorter message. */
export class MessageTooLargeError extends MortiseError {
  override readonly name: string = 'MessageTooLargeError';
  override readonly code: 'ERR_MESSAGE_TOO_LARGE' = 'ERR_MESSAGE_TOO_LARGE';
  /** The longest message that the transport accepts, in bytes. */
  readonly maxBytes: number;
  /** The kind and id of the message, if they could be read from its beginning or end. */
  readonly head: MessageHead | undefined;

  constructor(
    maxBytes: number,
    message = `A message is longer than ${maxBytes} bytes: raise the limit, or send a shorter message`,
    head?: MessageHead,
  ) {
    super(message);
    this.maxBytes = maxBytes;
    this.head = head;
  }
}

/**
 * The HTTP response to a request does not contain a JSON-RPC response to that request.
 *
 * What to do by `status`: 401, send a token; 403, send one with more scopes; 404, check the path of the URL; 429 and 503, try later, see
 * the header `retry-after`.
 */
export class ExchangeHttpError extends MortiseError {
  override readonly name: string = 'ExchangeHttpError';
  override readonly code: 'ERR_EXCHANGE_HTTP' = 'ERR_EXCHANGE_HTTP';
  /** The status code of the HTTP response. */
  readonly status: number;
  /** The JSON-RPC error in the body of the HTTP response, if there is one. */
  readonly rpcError: JsonRpcErrorObject | undefined;
  /** The response headers by lower-case name, if the transport provides them. */
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(
    message: string,
    detail: {
      readonly status: number;
      readonly rpcError?: JsonRpcErrorObject | undefined;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    },
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.status = detail.status;
    this.rpcError = detail.rpcError;
    this.headers = detail.headers;
  }
}

/** Every error that this package throws. `switch (error.code)` narrows it. */
export type AnyJsonRpcError =
  | RemoteError
  | ProtocolError
  | TimeoutError
  | ConnectionClosedError
  | ConnectionLostError
  | SessionLostError
  | UsageError
  | CancelledError
  | ParseError
  | InvalidRequestError
  | InvalidResponseError
  | MessageTooLargeError
  | ExchangeHttpError;
