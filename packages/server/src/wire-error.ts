/** Which JSON-RPC error answers a failed request, in the revision that it was made in. */

import { isMortiseError, type JsonRpcErrorObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, METHOD_NOT_FOUND, toWireError } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import { MISSING_CLIENT_CAPABILITY, missingCapabilityError, RESOURCE_NOT_FOUND_LEGACY } from '@mortise/protocol/wire';
import { firstReservedCode } from './era.ts';
import type { AskError } from './errors.ts';

export function methodNotFoundError(method: string): ProtocolError {
  return new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`);
}

/** The error for a thrown value, safe to send and with a code that the revision allows. */
export function toCallError(thrown: unknown, revision: Revision): JsonRpcErrorObject {
  const error = toWireError(toProtocolError(thrown, revision));
  if (isSendable(error.code, revision)) return error;
  return { ...error, code: error.code === RESOURCE_NOT_FOUND_LEGACY ? revision.rules.resourceNotFoundCode : INTERNAL_ERROR };
}

/** Looks at `code` alone: a thrown value may be anything, and `instanceof` runs its traps. */
function toProtocolError(thrown: unknown, revision: Revision): unknown {
  if (!isMortiseError(thrown)) return thrown;
  if (thrown.code === 'ERR_HANDLER_TIMEOUT') return new ProtocolError(INTERNAL_ERROR, thrown.message);
  if (thrown.code !== 'ERR_CLIENT_CAPABILITY') return thrown;
  const error = missingCapabilityError((thrown as AskError).requiredCapabilities ?? {});
  return isSendable(error.rpcCode, revision) ? error : new ProtocolError(INTERNAL_ERROR, thrown.message);
}

function isSendable(code: number, revision: Revision): boolean {
  return code > firstReservedCode(revision) || code < -32099 || [...revision.errorCodes.values()].includes(code);
}

/** Whether a tool's error is answered by a JSON-RPC error instead of a result with `isError`: it has a code of its own, or the call is over. */
export function isForProtocol(error: unknown, { isOver, revision }: { readonly isOver: boolean; readonly revision: Revision }): boolean {
  if (isOver) return true;
  if (!isMortiseError(error)) return false;
  if (error.code === 'ERR_CLIENT_CAPABILITY') return [...revision.errorCodes.values()].includes(MISSING_CLIENT_CAPABILITY);
  return error.code === 'ERR_PROTOCOL' || error.code === 'ERR_AUTH_CHALLENGE' || error.code === 'ERR_SUSPENDED';
}
