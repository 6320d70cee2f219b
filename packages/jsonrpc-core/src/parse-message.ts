/** From text to a checked message. The only place where JSON from outside is parsed. */

import { INVALID_PARAMS, INVALID_REQUEST } from './error-codes.ts';
import { InvalidRequestError, ParseError } from './errors.ts';
import { classifyMessage, isJsonObject, isRequestId } from './guards.ts';
import type { JsonRpcMessage, JsonValue, RequestId } from './message.ts';

/** How JSON is read. */
export interface ParseOptions {
  /**
   * How many arrays and objects may lie in one another, so that code which walks a value cannot run out of stack.
   *
   * @default 128
   */
  readonly maxDepth?: number | undefined;
  /**
   * About how many bytes of memory the parsed value may take beside the characters of its strings. A text of empty objects takes
   * thirty times its length, so that a bound of its length alone bounds little.
   *
   * @default 48 MiB
   */
  readonly maxMemoryBytes?: number | undefined;
}

const DEFAULT_MAX_DEPTH = 128;
const DEFAULT_MAX_MEMORY_BYTES = 48 * 1024 * 1024;

/**
 * Parses JSON text whose nesting and whose number of parts are bounded. Of equal keys the last one counts, as in `JSON.parse`.
 *
 * @throws {ParseError} `ERR_PARSE`: the text is not JSON, nests deeper than `maxDepth`, or would take more than `maxMemoryBytes`.
 */
export function parseJson(text: string, options?: ParseOptions): JsonValue {
  const maxDepth = options?.maxDepth ?? DEFAULT_MAX_DEPTH;
  // A level takes two characters, so a short text cannot nest too deeply and is not looked at twice.
  if (text.length > 2 * maxDepth && isNestedDeeper(text, maxDepth)) {
    throw new ParseError(`The JSON nests more than ${maxDepth} levels deep: send it flatter`);
  }
  const maxMemoryBytes = options?.maxMemoryBytes ?? DEFAULT_MAX_MEMORY_BYTES;
  if (text.length * MOST_BYTES_PER_CHARACTER > maxMemoryBytes && isHeavier(text, maxMemoryBytes)) {
    throw new ParseError(
      `The JSON is made of too many parts: they would take more than ${maxMemoryBytes} bytes of memory; send it in pages`,
    );
  }
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The platform's message quotes the text, which may hold secrets, so it is not passed on.
    throw new ParseError('The text is not valid JSON');
  }
}

/**
 * Parses the text of one message. A batch is not one message.
 *
 * @throws {ParseError} `ERR_PARSE`: the text is not JSON.
 * @throws {InvalidRequestError} `ERR_INVALID_REQUEST`: the JSON is not a message; carries the id if it could be read.
 */
export function parseMessage(text: string, options?: ParseOptions): JsonRpcMessage {
  const value = parseJson(text, options);
  if (classifyMessage(value) === 'invalid') throw toInvalidRequestError(value);
  return value as unknown as JsonRpcMessage;
}

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
  if (id !== undefined && !isRequestId(id)) return '"id" must be a string or an integer';
  return PARAMS_REASON;
}

/** Whether a malformed message has an outcome and no method. */
export function isMeantAsResponse(value: Readonly<Record<string, unknown>>): boolean {
  return !Object.hasOwn(value, 'method') && (Object.hasOwn(value, 'result') || Object.hasOwn(value, 'error'));
}

/** The id of a message, where it has one that can be read. */
export function readId(value: Readonly<Record<string, unknown>>): RequestId | undefined {
  const id = ownMember(value, 'id');
  return isRequestId(id) ? id : undefined;
}

function ownMember(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function isNestedDeeper(text: string, maxDepth: number): boolean {
  // Most texts have fewer brackets than levels are allowed; the engine's own search finds that out fast.
  return countUpTo(text, '{', maxDepth) + countUpTo(text, '[', maxDepth) > maxDepth && scanDepth(text, maxDepth);
}

function countUpTo(text: string, bracket: string, limit: number): number {
  let count = 0;
  for (let at = text.indexOf(bracket); at !== -1 && count <= limit; at = text.indexOf(bracket, at + 1)) count++;
  return count;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

function scanDepth(text: string, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = findStringEnd(text, at + 1);
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > maxDepth) return true;
    } else if (char === 0x7d || char === 0x5d) depth--;
  }
  return false;
}

/** What parts of JSON take at most in the engines in use, as measured: an empty object, a string's head, a place in an array or object. */
const CONTAINER_BYTES = 72;
const STRING_BYTES = 24;
const PLACE_BYTES = 16;
/** `{}` alone. */
const MOST_BYTES_PER_CHARACTER = CONTAINER_BYTES / 2;

function isHeavier(text: string, maxBytes: number): boolean {
  let bytes = 0;
  for (let at = 0; at < text.length && bytes <= maxBytes; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      bytes += STRING_BYTES;
      at = findStringEnd(text, at + 1);
    } else if (char === COMMA) bytes += PLACE_BYTES;
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) bytes += CONTAINER_BYTES;
  }
  return bytes > maxBytes;
}

/** Where the string that starts at `from` ends; the text's length where it does not. */
function findStringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end !== -1 && isEscaped(text, end, from)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

/** Whether an odd number of backslashes stands before a place. */
function isEscaped(text: string, at: number, from: number): boolean {
  let start = at;
  while (start > from && text.charCodeAt(start - 1) === BACKSLASH) start--;
  return (at - start) % 2 === 1;
}
