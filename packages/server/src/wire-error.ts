/** Which JSON-RPC error a failed request is answered with, in the revision that it was made in. */

import { isMortiseError, type JsonRpcErrorObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, METHOD_NOT_FOUND, toWireError } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import { missingCapabilityError, RESOURCE_NOT_FOUND_LEGACY } from '@mortise/protocol/wire';
import { eraOf } from './era/index.ts';
import type { ClientCapabilityError } from './errors.ts';

/** The error for a method that does not exist here. */
export function methodNotFoundError(method: string): ProtocolError {
  return new ProtocolError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`);
}

/** The error for a thrown value, safe to send and with a code that the revision allows. */
export function toCallError(thrown: unknown, revision: Revision): JsonRpcErrorObject {
  const error = toWireError(toProtocolError(thrown, revision));
  return isSendable(error.code, revision) ? error : { ...error, code: substituteFor(error.code, revision) };
}

/** Asks for `code` alone: a thrown value may be anything, and `instanceof` runs its traps. */
function toProtocolError(thrown: unknown, revision: Revision): unknown {
  if (!isMortiseError(thrown)) return thrown;
  if (thrown.code === 'ERR_HANDLER_TIMEOUT') return new ProtocolError(INTERNAL_ERROR, thrown.message);
  if (thrown.code !== 'ERR_CLIENT_CAPABILITY') return thrown;
  const error = missingCapabilityError((thrown as ClientCapabilityError).requiredCapabilities);
  return isSendable(error.rpcCode, revision) ? error : new ProtocolError(INTERNAL_ERROR, thrown.message);
}

/** The specification keeps a range of codes to itself; in it only those of the revision may be sent. */
function isSendable(code: number, revision: Revision): boolean {
  if (code > eraOf(revision).reservedCodesFrom || code < -32099) return true;
  return [...revision.errorCodes.values()].includes(code);
}

function substituteFor(code: number, revision: Revision): number {
  return code === RESOURCE_NOT_FOUND_LEGACY ? revision.rules.resourceNotFoundCode : INTERNAL_ERROR;
}
