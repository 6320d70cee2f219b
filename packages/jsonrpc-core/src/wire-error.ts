/** The error codes of JSON-RPC, and the error that a peer gets for whatever was thrown here. */

import { isMortiseError, type ProtocolError } from './errors.ts';
import type { JsonRpcErrorObject } from './message.ts';

/** The text is not JSON. */
export const PARSE_ERROR = -32700;
/** The JSON is not a message. */
export const INVALID_REQUEST = -32600;
/** There is no such method, or it is not available. */
export const METHOD_NOT_FOUND = -32601;
/** The parameters do not fit the method. */
export const INVALID_PARAMS = -32602;
/** The receiver failed. */
export const INTERNAL_ERROR = -32603;

/** The same five codes under the names that MCP's TypeScript users know. */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
} as const;

/** What the peer sees of a failure that was not meant for it. Frozen, so that it can be shared. */
const INTERNAL: JsonRpcErrorObject = Object.freeze({ code: INTERNAL_ERROR, message: 'Internal error' });

/**
 * Turns whatever a handler threw into an error that is safe to send.
 *
 * A `ProtocolError` is sent as it says. Everything else, a `RemoteError` of another peer included, becomes -32603 with a
 * neutral message: stacks, paths and secrets stay here. A gateway that wants to pass a remote error on throws
 * `new ProtocolError(error.rpcCode, error.message, error.data)`. Never throws, whatever it is given.
 */
export function toWireError(thrown: unknown): JsonRpcErrorObject {
  try {
    return isProtocolError(thrown) ? fromProtocolError(thrown) : INTERNAL;
  } catch {
    return INTERNAL;
  }
}

function isProtocolError(thrown: unknown): thrown is ProtocolError {
  return isMortiseError(thrown) && thrown.code === 'ERR_PROTOCOL';
}

function fromProtocolError(error: ProtocolError): JsonRpcErrorObject {
  const { rpcCode, message, data } = error;
  if (!Number.isInteger(rpcCode) || typeof message !== 'string') return INTERNAL;
  return data === undefined ? { code: rpcCode, message } : { code: rpcCode, message, data };
}
