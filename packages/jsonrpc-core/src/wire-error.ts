/** The error codes of JSON-RPC, and the conversion of thrown values to errors that are safe to send. */

import { isMortiseError, type ProtocolError } from './errors.ts';
import type { JsonRpcErrorObject } from './message.ts';

/** The error code for text that is not JSON. */
export const PARSE_ERROR = -32700;
/** The error code for JSON that is not a message. */
export const INVALID_REQUEST = -32600;
/** The error code for a method that does not exist or is not available. */
export const METHOD_NOT_FOUND = -32601;
/** The error code for parameters that are invalid for the method. */
export const INVALID_PARAMS = -32602;
/** The error code for an internal failure of the receiver. */
export const INTERNAL_ERROR = -32603;

/** The five error codes of JSON-RPC, under the names that users of MCP's TypeScript SDK know. */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
} as const;

/** The neutral error sent for internal failures. Frozen, so that it can be shared. */
const INTERNAL: JsonRpcErrorObject = Object.freeze({ code: INTERNAL_ERROR, message: 'Internal error' });

/**
 * Converts a value that a handler threw to an error that is safe to send. Never throws.
 *
 * A `ProtocolError` is sent unchanged. Everything else, including a `RemoteError` of another peer, becomes -32603 with a neutral message, so that
 * stacks, paths and secrets do not leak. A gateway that wants to forward a remote error throws `new ProtocolError(error.rpcCode, error.message,
 * error.data)`.
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
