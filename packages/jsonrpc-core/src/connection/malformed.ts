/** What to do with a JSON value that is not a message. */

import type { InvalidRequestError } from '../errors.ts';
import { isJsonObject } from '../guards.ts';
import type { JsonRpcErrorObject, JsonRpcErrorResponse, RequestId } from '../message.ts';
import { isMeantAsResponse, readId, toInvalidRequestError } from '../parse-message.ts';

/** A malformed value, judged. */
export interface Malformed {
  readonly error: InvalidRequestError;
  /** What it was meant as: only what may have been a request is answered. `either` is a response if a call waits for its id, else a request. */
  readonly meantAs: 'request' | 'notification' | 'response' | 'either';
  /** The id that it names, where one could be read. */
  readonly id: RequestId | undefined;
}

/**
 * Says what is wrong with a value and what it was meant as.
 *
 * A value with a method but without an id was meant as a notification, which is never answered, not even with an error. One
 * with an outcome but without a method was meant as a response; answering it could send two peers round in circles.
 */
export function judgeMalformed(value: unknown): Malformed {
  const error = toInvalidRequestError(value);
  if (!isJsonObject(value)) return { error, meantAs: 'request', id: undefined };
  const id = readId(value);
  if (isMeantAsResponse(value)) return { error, meantAs: 'response', id };
  if (!Object.hasOwn(value, 'method')) return { error, meantAs: 'either', id };
  const hasMethod = typeof value['method'] === 'string';
  const isAnswered = !hasMethod || (Object.hasOwn(value, 'id') && value['id'] !== undefined);
  return { error, meantAs: isAnswered ? 'request' : 'notification', id };
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
