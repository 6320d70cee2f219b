/** Decides what a thrown value looks like to the peer. The one place that does. */

import { INTERNAL_ERROR } from './error-codes.ts';
import { isMortiseError, type ProtocolError } from './errors.ts';
import type { JsonRpcErrorObject } from './message.ts';

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
