/** Finds out what a malformed or unparsed message was meant to be, and whether it gets an error response. */

import { InvalidRequestError } from './errors.ts';
import { isJsonObject, isRequestId, type JsonObject, MAX_ID_LENGTH, type RequestId } from './message.ts';
import { INVALID_PARAMS, INVALID_REQUEST } from './wire-error.ts';

/** What is known about a value that is not a valid message. */
export interface Malformed {
  readonly error: InvalidRequestError;
  /** The intended kind. Only a possible request gets an error response. `either`: a response if its id is pending here, else a request. */
  readonly meantAs: 'request' | 'notification' | 'response' | 'either';
  /** The id of the malformed message, if it has a valid one. */
  readonly id: RequestId | undefined;
}

/**
 * Returns what is wrong with a value and which kind of message it was meant to be.
 *
 * A value with a method and no id was meant as a notification, which never gets a response, not even an error. A value with `result` or `error` and
 * no method was meant as a response. It gets no response either, or two peers could go on responding to each other.
 */
export function judgeMalformed(value: unknown): Malformed {
  const members: JsonObject | undefined = isJsonObject(value) ? value : undefined;
  const id = isRequestId(members?.['id']) ? members['id'] : undefined;
  const meantAs = members ? guessKind(members) : 'request';
  const reason = findReason(value, members);
  // JSON-RPC allows parameters in an array, MCP does not.
  const code = reason === PARAMS_REASON && Array.isArray(members?.['params']) ? INVALID_PARAMS : INVALID_REQUEST;
  // The id of a response was chosen by this side. An error under it would answer an unrelated request of the peer.
  return { error: new InvalidRequestError(reason, code, meantAs === 'response' ? undefined : id), meantAs, id };
}

/** Makes the error for a value that is not a message: it says why, and has the code for the error response. */
export function toInvalidRequestError(value: unknown): InvalidRequestError {
  return judgeMalformed(value).error;
}

const PARAMS_REASON = '"params" must be an object';

function guessKind({ id, method, result, error }: JsonObject): Malformed['meantAs'] {
  if (method === undefined) return result === undefined && error === undefined ? 'either' : 'response';
  return typeof method === 'string' && id === undefined ? 'notification' : 'request';
}

function findReason(value: unknown, members: JsonObject | undefined): string {
  if (Array.isArray(value)) return 'A batch of messages is not accepted here: send one message at a time';
  if (!members) return 'A message must be a JSON object';
  const { jsonrpc, id, method, result, error } = members;
  if (jsonrpc !== '2.0') return '"jsonrpc" must be "2.0"';
  const hasOutcome = result !== undefined || error !== undefined;
  if (method === undefined && !hasOutcome) return '"method" is missing';
  if (method === undefined) return 'A response must have an id and exactly one of "result" (an object) and "error" (with code and message)';
  if (typeof method !== 'string') return '"method" must be a string';
  if (hasOutcome) return 'A message with "method" must not have "result" or "error"';
  if (id !== undefined && !isRequestId(id)) return `"id" must be an integer or a string of at most ${MAX_ID_LENGTH} characters`;
  return PARAMS_REASON;
}

/** The kind and id of a message, read from its beginning or end. */
export interface MessageHead {
  readonly kind: 'request' | 'response';
  readonly id: RequestId;
}

/** How many characters at each end of a message are examined. */
const EDGE = 1024;

/** Matches the beginning of a message: its members with plain values, up to the name of the first member with an object or array. */
const FIRST_MEMBERS = /^\s*\{(?:\s*"[^"\\]*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+|null)\s*,)*\s*"[^"\\]*"\s*:/;
// Quotes inside strings are escaped, so these patterns match member names only.
const KIND = /[{,]\s*"(method|result|error)"\s*:/;
const ID = /[{,]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*,/;
/** Matches an `id` at the end of a message. In JSON, only members of the outermost object can stand right before the end. */
const ID_AT_END = /[{,]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/**
 * Reads the id and the kind of a message from its beginning or its end. Most programs write the id before the large members, some after them.
 *
 * @param text The message, or its first characters; 1,024 are enough.
 * @param end The last characters, if `text` has only the first ones.
 * @returns undefined if the beginning and the end do not show both id and kind.
 */
export function readMessageHead(text: string, end: string = text): MessageHead | undefined {
  const start = FIRST_MEMBERS.exec(text.slice(0, EDGE))?.[0] ?? '';
  const name = KIND.exec(start)?.[1];
  const id = toId(ID.exec(start)?.[1]) ?? toId(ID_AT_END.exec(end.slice(-EDGE))?.[1]);
  return name === undefined || id === undefined ? undefined : { kind: name === 'method' ? 'request' : 'response', id };
}

function toId(json: string | undefined): RequestId | undefined {
  try {
    const id: unknown = json === undefined ? undefined : JSON.parse(json);
    return isRequestId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}
