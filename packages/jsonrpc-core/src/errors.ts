/**
 * The errors of this package and the base of everyone's. `RemoteError` alone means "the peer said so"; all others arose here.
 */

import type { MessageHead } from './malformed.ts';
import type { JsonRpcErrorObject, JsonValue, RequestId } from './message.ts';

/** Marks every `MortiseError`, also one of another installed copy of this package. */
const BRAND = Symbol.for('mortise.error');

/** The base of every error that Mortise throws: tell them apart by `code`, or by `instanceof` a subclass. */
export abstract class MortiseError extends Error {
  /** A literal that begins with `ERR_`, one for each reason to act differently. */
  abstract readonly code: string;

  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }
}

/** Tells whether a value is a `MortiseError`, also where two copies of this package are installed and `instanceof` fails. */
export function isMortiseError(value: unknown): value is MortiseError {
  try {
    return typeof value === 'object' && value !== null && (value as { readonly [BRAND: symbol]: unknown })[BRAND] === true;
  } catch {
    return false;
  }
}

/** The peer answered a request with an error. */
export class RemoteError extends MortiseError {
  override readonly name: string = 'RemoteError';
  override readonly code: 'ERR_REMOTE' = 'ERR_REMOTE';
  /** The JSON-RPC error code that the peer gave. */
  readonly rpcCode: number;
  /** The detail that the peer gave, untouched; `undefined` if it gave none. */
  readonly data: JsonValue | undefined;
  /** The method of the request, where the error answers one. */
  readonly method: string | undefined;

  constructor(error: JsonRpcErrorObject, method?: string) {
    super(error.message);
    this.rpcCode = error.code;
    this.data = error.data;
    this.method = method;
  }
}

/** Thrown by a handler to be answered with exactly this JSON-RPC error; any other error becomes a neutral -32603. */
export class ProtocolError extends MortiseError {
  override readonly name: string = 'ProtocolError';
  override readonly code: 'ERR_PROTOCOL' = 'ERR_PROTOCOL';
  /** The JSON-RPC error code to answer with. */
  readonly rpcCode: number;
  /** The detail to answer with; `undefined` for none. */
  readonly data: JsonValue | undefined;

  /**
   * @param rpcCode An integer; see `ErrorCode`, and for codes of your own stay outside -32768..-32000.
   * @param message One short sentence, sent as it is.
   * @param data Detail, sent as it is.
   */
  constructor(rpcCode: number, message: string, data?: JsonValue, options?: ErrorOptions) {
    super(message, options);
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/** A request was not answered in time. A cancellation was sent. */
export class TimeoutError extends MortiseError {
  override readonly name: string = 'TimeoutError';
  override readonly code: 'ERR_TIMEOUT' = 'ERR_TIMEOUT';
  /** The bound that was reached. */
  readonly timeoutMs: number;

  constructor(message: string, timeoutMs: number, options?: ErrorOptions) {
    super(message, options);
    this.timeoutMs = timeoutMs;
  }
}

/** The connection is closed, so what was asked of it cannot happen. */
export class ConnectionClosedError extends MortiseError {
  override readonly name: string = 'ConnectionClosedError';
  override readonly code: 'ERR_CONNECTION_CLOSED' = 'ERR_CONNECTION_CLOSED';

  constructor(message = 'The connection is closed', options?: ErrorOptions) {
    super(message, options);
  }
}

/** The channel broke and is being opened again: what was in flight is lost, later messages may pass. See `withReconnect`. */
export class ConnectionLostError extends MortiseError {
  override readonly name: string = 'ConnectionLostError';
  override readonly code: 'ERR_CONNECTION_LOST' = 'ERR_CONNECTION_LOST';

  constructor(message = 'The connection was lost and is being opened again', options?: ErrorOptions) {
    super(message, options);
  }
}

/**
 * The peer does not know the session any more. The message that was sent in it was not carried out: once a new session is open, it
 * may be sent again. Reported by `onerror`, it ends the channel.
 */
export class SessionLostError extends MortiseError {
  override readonly name: string = 'SessionLostError';
  override readonly code: 'ERR_SESSION_LOST' = 'ERR_SESSION_LOST';
  readonly endsChannel: true = true;

  constructor(
    message = 'The server does not know the session any more: open a new one and send the message again',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The messages of a `UsageError` that has none of its own. */
const USAGE: Readonly<Record<UsageError['code'], string>> = {
  ERR_NOT_CONNECTED: 'Not started yet: call start() first',
  ERR_ALREADY_STARTED: 'Already started: make a new one for another connection',
  ERR_SERIALIZE: 'The message cannot be written as JSON',
};

/**
 * The program used a transport or a connection wrongly: it sent a message before `start`, called `start` twice (each serves one connection), or sent
 * what JSON cannot carry: a cycle, a BigInt, or a result that is not an object.
 */
export class UsageError extends MortiseError {
  override readonly name: string = 'UsageError';
  override readonly code: 'ERR_NOT_CONNECTED' | 'ERR_ALREADY_STARTED' | 'ERR_SERIALIZE';

  constructor(code: UsageError['code'], message: string = USAGE[code], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The peer cancelled a request that is being served here: the reason of its `signal`. */
export class CancelledError extends MortiseError {
  override readonly name: string = 'CancelledError';
  override readonly code: 'ERR_CANCELLED' = 'ERR_CANCELLED';
  /** What the peer gave as its reason, if it gave one. */
  readonly reason: string | undefined;

  constructor(reason?: string) {
    super(reason === undefined ? 'The peer cancelled the request' : `The peer cancelled the request: ${reason}`);
    this.reason = reason;
  }
}

/** What is known of a message whose text cannot be read. */
export interface UnreadMessage extends ErrorOptions {
  /** Which bound the text is over, and what to do; sent to the peer too. @default none: it is not valid JSON */
  readonly excess?: string | undefined;
  /** What its beginning says of it, where it could be read. @default none */
  readonly head?: MessageHead | undefined;
}

/** A text is not JSON, or is over a bound: it nests too deeply, or holds too many values. */
export class ParseError extends MortiseError {
  override readonly name: string = 'ParseError';
  override readonly code: 'ERR_PARSE' = 'ERR_PARSE';
  /** Which bound the text is over; undefined where it is not valid JSON. */
  readonly excess: string | undefined;
  /** Which message it was, where its beginning could be read. */
  readonly head: MessageHead | undefined;

  constructor(message: string, options?: UnreadMessage) {
    super(message, options);
    this.excess = options?.excess;
    this.head = options?.head;
  }
}

/** A JSON value is not a JSON-RPC message as MCP has them. */
export class InvalidRequestError extends MortiseError {
  override readonly name: string = 'InvalidRequestError';
  override readonly code: 'ERR_INVALID_REQUEST' = 'ERR_INVALID_REQUEST';
  /** The id to answer to, where it could be read. */
  readonly id: RequestId | undefined;
  /** The code to answer with: -32600, or -32602 where only the parameters are wrong. */
  readonly rpcCode: number;

  constructor(message: string, rpcCode: number, id?: RequestId, options?: ErrorOptions) {
    super(message, options);
    this.rpcCode = rpcCode;
    this.id = id;
  }
}

/** The peer answered with something that is not a response. */
export class InvalidResponseError extends MortiseError {
  override readonly name: string = 'InvalidResponseError';
  override readonly code: 'ERR_INVALID_RESPONSE' = 'ERR_INVALID_RESPONSE';
}

/** A message is longer than the bound that a transport was given. */
export class MessageTooLargeError extends MortiseError {
  override readonly name: string = 'MessageTooLargeError';
  override readonly code: 'ERR_MESSAGE_TOO_LARGE' = 'ERR_MESSAGE_TOO_LARGE';
  /** The bound. */
  readonly maxBytes: number;
  /** Which message it was, where its beginning could be read. */
  readonly head: MessageHead | undefined;

  constructor(maxBytes: number, message = `A message is longer than ${maxBytes} bytes: raise the bound, or send less`, head?: MessageHead) {
    super(message);
    this.maxBytes = maxBytes;
    this.head = head;
  }
}

/** An exchange was answered with an HTTP status that carries no JSON-RPC response to its request. */
export class ExchangeHttpError extends MortiseError {
  override readonly name: string = 'ExchangeHttpError';
  override readonly code: 'ERR_EXCHANGE_HTTP' = 'ERR_EXCHANGE_HTTP';
  /** The HTTP status. */
  readonly status: number;
  /** The JSON-RPC error in the body, if there was one. */
  readonly rpcError: JsonRpcErrorObject | undefined;
  /** The response's headers by lower-case name, where the transport gives them. */
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

/** Every error that this package throws: `switch (error.code)` narrows it. */
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
