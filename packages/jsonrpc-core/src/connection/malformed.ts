/** What to do with a JSON value that is not a message. */

import type { InvalidRequestError } from '../errors.ts';
import { isJsonObject } from '../guards.ts';
import type { JsonRpcErrorObject, JsonRpcErrorResponse, RequestId } from '../message.ts';
import { toInvalidRequestError } from '../parse-message.ts';

/** A malformed value, judged. */
export interface Malformed {
  readonly error: InvalidRequestError;
  /** What it was meant as: only what may have been a request is answered. */
  readonly meantAs: 'request' | 'notification' | 'response';
}

/**
 * Says what is wrong with a value and what it was meant as.
 *
 * A value with a method but without an id was meant as a notification, which is never answered, not even with an error. One
 * with an outcome but without a method was meant as a response; answering it could send two peers round in circles.
 */
export function judgeMalformed(value: unknown): Malformed {
  const error = toInvalidRequestError(value);
  if (!isJsonObject(value)) return { error, meantAs: 'request' };
  const hasMethod = typeof value['method'] === 'string' && Object.hasOwn(value, 'method');
  if (hasMethod) return { error, meantAs: Object.hasOwn(value, 'id') && value['id'] !== undefined ? 'request' : 'notification' };
  const hasOutcome = Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error');
  return { error, meantAs: hasOutcome && !Object.hasOwn(value, 'method') ? 'response' : 'request' };
}

/**
 * Builds the answer to a message that could not be read, or whose id could.
 *
 * @param isIdOptional Whether an id that could not be read is left out; else it is `null`.
 */
export function toErrorResponse(id: RequestId | undefined, error: JsonRpcErrorObject, isIdOptional: boolean): JsonRpcErrorResponse {
  if (id !== undefined) return { jsonrpc: '2.0', id, error };
  return isIdOptional ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', id: null, error };
}
