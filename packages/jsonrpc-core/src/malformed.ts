/** What is wrong with a value that is not a message, and how that is to be answered. */

import { INVALID_PARAMS, INVALID_REQUEST } from './error-codes.ts';
import { InvalidRequestError } from './errors.ts';
import { isJsonObject, isRequestId, MAX_ID_LENGTH } from './guards.ts';
import type { RequestId } from './message.ts';

/**
 * Says why a value is not a message and how that is to be answered.
 *
 * Parameters in an array are valid JSON-RPC but not MCP, so an otherwise good request is answered with -32602 and everything
 * else with -32600.
 */
export function toInvalidRequestError(value: unknown): InvalidRequestError {
  if (Array.isArray(value)) {
    return new InvalidRequestError('A batch of messages is not accepted here: send one message at a time', INVALID_REQUEST);
  }
  if (!isJsonObject(value)) return new InvalidRequestError('A message must be a JSON object', INVALID_REQUEST);
  // An id of a response is this side's own: to answer to it would answer another request of the peer.
  const id = isMeantAsResponse(value) ? undefined : readId(value);
  const reason = findReason(value);
  const hasPositionalParams = reason === PARAMS_REASON && Array.isArray(value['params']);
  return new InvalidRequestError(reason, hasPositionalParams ? INVALID_PARAMS : INVALID_REQUEST, id);
}

const PARAMS_REASON = '"params" must be an object';

function findReason(value: Readonly<Record<string, unknown>>): string {
  if (ownMember(value, 'jsonrpc') !== '2.0') return '"jsonrpc" must be "2.0"';
  const method = ownMember(value, 'method');
  const hasOutcome = ownMember(value, 'result') !== undefined || ownMember(value, 'error') !== undefined;
  if (method === undefined) {
    return hasOutcome
      ? 'A response must hold an id and exactly one of "result" (an object) and "error" (with code and message)'
      : '"method" is missing';
  }
  if (typeof method !== 'string') return '"method" must be a string';
  if (hasOutcome) return 'A message cannot have "method" beside "result" or "error"';
  const id = ownMember(value, 'id');
  if (id !== undefined && !isRequestId(id)) return `"id" must be an integer or a string of at most ${MAX_ID_LENGTH} characters`;
  return PARAMS_REASON;
}

/** Whether a malformed message has an outcome and no method. */
function isMeantAsResponse(value: Readonly<Record<string, unknown>>): boolean {
  return !Object.hasOwn(value, 'method') && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'));
}

/** The id of a message, where it has one that can be read. */
function readId(value: Readonly<Record<string, unknown>>): RequestId | undefined {
  const id = ownMember(value, 'id');
  return isRequestId(id) ? id : undefined;
}

function ownMember(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** A malformed value, judged. */
export interface Malformed {
  readonly error: InvalidRequestError;
  /** What it was meant as: only what may have been a request is answered. `either` is a response if a request waits for its id, else a request. */
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
  const isAnswered = typeof value['method'] !== 'string' || ownMember(value, 'id') !== undefined;
  return { error, meantAs: isAnswered ? 'request' : 'notification', id };
}
