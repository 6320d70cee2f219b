/** What can be said of a message that is malformed, or that is over a bound and was not parsed. */

import { InvalidRequestError } from './errors.ts';
import { isJsonObject, isRequestId, type JsonObject, MAX_ID_LENGTH, type RequestId } from './message.ts';
import { INVALID_PARAMS, INVALID_REQUEST } from './wire-error.ts';

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
 * A value with a method but without an id was meant as a notification, which is never answered, not even with an error. One with an outcome but
 * without a method was meant as a response; two peers that answered those could go on answering each other.
 */
export function judgeMalformed(value: unknown): Malformed {
  const members: JsonObject | undefined = isJsonObject(value) ? value : undefined;
  const id = isRequestId(members?.['id']) ? members['id'] : undefined;
  const meantAs = members ? guessKind(members) : 'request';
  const reason = findReason(value, members);
  // Parameters in an array are valid JSON-RPC but not MCP.
  const code = reason === PARAMS_REASON && Array.isArray(members?.['params']) ? INVALID_PARAMS : INVALID_REQUEST;
  // The id of a response is this side's own: an error under it would answer another request of the peer.
  return { error: new InvalidRequestError(reason, code, meantAs === 'response' ? undefined : id), meantAs, id };
}

/** Says why a value is not a message and with which code that is to be answered. */
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
  if (method === undefined) return 'A response must hold an id and exactly one of "result" (an object) and "error" (with code and message)';
  if (typeof method !== 'string') return '"method" must be a string';
  if (hasOutcome) return 'A message cannot have "method" beside "result" or "error"';
  if (id !== undefined && !isRequestId(id)) return `"id" must be an integer or a string of at most ${MAX_ID_LENGTH} characters`;
  return PARAMS_REASON;
}

/** What the edges of a message say of it. */
export interface MessageHead {
  readonly kind: 'request' | 'response';
  readonly id: RequestId;
}

/** How many characters of each edge are looked at. */
const EDGE = 1024;

/** The members with plain values before the first that has none, and that one's name. */
const FIRST_MEMBERS = /^\s*\{(?:\s*"[^"\\]*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|-?\d+|null)\s*,)*\s*"[^"\\]*"\s*:/;
// A quote inside a string is escaped, so these find names only.
const KIND = /[{,]\s*"(method|result|error)"\s*:/;
const ID = /[{,]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*,/;
/** In JSON only members of the outermost object stand right before the end. */
const ID_AT_END = /[{,]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/**
 * Reads the id and the kind of a message from its edges: most programs write the id before what is large, some behind it.
 *
 * @param text The message, or its first characters; 1,024 are enough.
 * @param end Its last characters, where `text` is the first ones alone.
 * @returns undefined where the edges do not say both.
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
