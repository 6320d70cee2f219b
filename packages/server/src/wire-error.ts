/** Converts what a request failed with to a JSON-RPC error that the request's revision allows. */

import { isMortiseError, type JsonRpcErrorObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, METHOD_NOT_FOUND, toWireError } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import { MISSING_CLIENT_CAPABILITY, missingCapabilityError, RESOURCE_NOT_FOUND_LEGACY } from '@mortise/protocol/wire';
import type { AskError } from './errors.ts';

export function methodNotFoundError(method: string): ProtocolError {
  return new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`);
}

/** Converts a thrown value to a JSON-RPC error that is safe to send, with a code that the revision allows. */
export function toCallError(thrown: unknown, revision: Revision): JsonRpcErrorObject {
  const error = toWireError(toProtocolError(thrown, revision));
  if (isSendable(error.code, revision)) return error;
  return { ...error, code: error.code === RESOURCE_NOT_FOUND_LEGACY ? revision.rules.resourceNotFoundCode : INTERNAL_ERROR };
}

/** Converts a thrown value to a `ProtocolError` if possible. Checks only `code`, because `instanceof` would run the traps of a proxy. */
function toProtocolError(thrown: unknown, revision: Revision): unknown {
  if (!isMortiseError(thrown)) return thrown;
  if (thrown.code === 'ERR_HANDLER_TIMEOUT') return new ProtocolError(INTERNAL_ERROR, thrown.message);
  if (thrown.code !== 'ERR_CLIENT_CAPABILITY') return thrown;
  const error = missingCapabilityError((thrown as AskError).requiredCapabilities ?? {});
  return isSendable(error.rpcCode, revision) ? error : new ProtocolError(INTERNAL_ERROR, thrown.message);
}

function isSendable(code: number, revision: Revision): boolean {
  return code > revision.rules.firstReservedCode || code < -32099 || [...revision.errorCodes.values()].includes(code);
}

/** Tells whether an error thrown by a tool becomes a JSON-RPC error, not an `isError` result: it has its own code, or the call is over. */
export function isForProtocol(error: unknown, { isOver, revision }: { readonly isOver: boolean; readonly revision: Revision }): boolean {
  if (isOver) return true;
  if (!isMortiseError(error)) return false;
  if (error.code === 'ERR_CLIENT_CAPABILITY') return [...revision.errorCodes.values()].includes(MISSING_CLIENT_CAPABILITY);
  return error.code === 'ERR_PROTOCOL' || error.code === 'ERR_AUTH_CHALLENGE' || error.code === 'ERR_SUSPENDED';
}
