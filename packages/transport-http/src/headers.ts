/**
 * HTTP headers: MCP's header names, the encoding of values, and media types.
 *
 * @see 2026-07-28 basic/transports/streamable-http#value-encoding; RFC 9110 sections 5.5, 8.3 and 12.5.1
 */

import { toBase64 } from '@mortise/jsonrpc-core/encoding';

/** The header with the protocol version of a request. */
export const PROTOCOL_VERSION_HEADER = 'mcp-protocol-version';
/** The header with the session id, in the legacy era. */
export const SESSION_ID_HEADER = 'mcp-session-id';
/** The header that repeats the `method` of the request in the body, in the modern era. */
export const METHOD_HEADER = 'mcp-method';
/** The header that repeats the name of the tool or prompt, or the URI of the resource, in the body. Used in the modern era. */
export const NAME_HEADER = 'mcp-name';
/** The prefix of headers that repeat arguments which a tool's schema marks with `x-mcp-header`. Used in the modern era. */
export const PARAM_HEADER_PREFIX = 'mcp-param-';
/** The header with the id of the last event that the client received on a stream, sent to resume that stream in the legacy era. */
export const LAST_EVENT_ID_HEADER = 'last-event-id';

/** A header value that is encoded as base64, because its text is not valid in a header. */
const ENCODED = /^=\?base64\?(.*)\?=$/;

/** Matches text of visible ASCII characters, spaces and tabs. */
const HEADER_TEXT = /^[\t\x20-\x7e]*$/;
/** Matches a valid header value, with one character for each byte. */
const HEADER_BYTES = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Matches standard base64 with its padding. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Matches a decimal number of limited length. */
const DECIMAL = /^[+-]?\d{1,32}(?:\.\d{1,32})?$/;

/** Whether a text has only visible ASCII characters, spaces and tabs. */
export function isHeaderText(text: string): boolean {
  return HEADER_TEXT.test(text);
}

/** Whether a text, with one character for each byte, is valid as a header value. */
export function isHeaderBytes(text: string): boolean {
  return HEADER_BYTES.test(text);
}

/**
 * Encodes a text as the value of `Mcp-Name` or `Mcp-Param-*`: unchanged if it is valid in a header, else as base64 of its UTF-8 between
 * `=?base64?` and `?=`.
 */
export function encodeHeaderValue(text: string): string {
  return isPlain(text) ? text : `=?base64?${toBase64(new TextEncoder().encode(text))}?=`;
}

/**
 * Decodes a value of `Mcp-Name` or `Mcp-Param-*`.
 *
 * @returns undefined if the value has characters that a header must not have, or non-canonical base64.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!HEADER_TEXT.test(value)) return undefined;
  const encoded = ENCODED.exec(value)?.[1];
  return encoded === undefined ? value : fromBase64(encoded);
}

/**
 * Converts a tool argument to the text of its `Mcp-Param-*` header, before encoding.
 *
 * @returns undefined for values that have no header: all but strings, booleans and safe integers.
 */
export function toParamText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

/** Whether the decoded text of an `Mcp-Param-*` header equals the argument in the body. Numbers are compared by value: `42.0` equals 42. */
export function isSameParam(text: string, value: unknown): boolean {
  if (typeof value === 'number') return DECIMAL.test(text) && Number(text) === value;
  return text === value || (typeof value === 'boolean' && text === toParamText(value));
}

/**
 * Encodes an event id as the value of `Last-Event-ID`: its UTF-8 bytes, with one character for each byte, as platforms represent bytes that
 * are not ASCII.
 *
 * @returns undefined if the id is not valid in a header.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#concept-event-stream-reconnect
 */
export function encodeEventId(id: string): string | undefined {
  if (HEADER_TEXT.test(id)) return id;
  const value = Array.from(new TextEncoder().encode(id), (byte) => String.fromCharCode(byte)).join('');
  return HEADER_BYTES.test(value) ? value : undefined;
}

/** Decodes the value of a `Last-Event-ID` header to the event id. */
export function decodeEventId(value: string): string {
  if (HEADER_TEXT.test(value)) return value;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(value, (char) => char.charCodeAt(0)));
  } catch {
    return value;
  }
}

/** Reads a nested value, following own properties by name; undefined if a property on the path is missing. */
export function readPath(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return at;
}

/** Whether a text can be a header value without encoding. False if it looks encoded or has outer whitespace, which parsers trim. */
function isPlain(text: string): boolean {
  return HEADER_TEXT.test(text) && !ENCODED.test(text) && !/^[ \t]|[ \t]$/.test(text);
}

function fromBase64(encoded: string): string | undefined {
  if (!BASE64.test(encoded)) return undefined;
  const binary = atob(encoded);
  // Unused bits at the end must be zero, so that each text has one encoding.
  if (btoa(binary) !== encoded) return undefined;
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

// ---- media types

export const JSON_TYPE = 'application/json';
export const SSE_TYPE = 'text/event-stream';
/** The `Accept` header that MCP clients send: JSON and event streams. */
export const ACCEPT_BOTH: string = `${JSON_TYPE}, ${SSE_TYPE}`;

/** Whether a client accepts JSON and event streams, from the header `Accept`. */
export interface Accepts {
  readonly json: boolean;
  readonly sse: boolean;
}

export const BOTH: Accepts = { json: true, sse: true };

/** Whether a `Content-Type` is JSON in UTF-8. Ignores parameters other than `charset`. */
export function isJsonContentType(value: string | undefined): boolean {
  if (value === JSON_TYPE) return true;
  if (value === undefined) return false;
  const [type, ...parameters] = value.split(';');
  if (type?.trim().toLowerCase() !== JSON_TYPE) return false;
  return parameters.every((parameter) => {
    const [name, charset] = parameter.split('=', 2);
    return name?.trim().toLowerCase() !== 'charset' || /^\s*"?utf-?8"?\s*$/i.test(charset ?? '');
  });
}

/** Parses the header `Accept`. If the header is missing, everything is accepted. A media range with `q=0` is not accepted. */
export function readAccepts(value: string | undefined): Accepts {
  // Shortcut for the value that nearly all MCP clients send.
  if (value === undefined || value === ACCEPT_BOTH) return BOTH;
  let json = false;
  let sse = false;
  for (const part of value.split(',')) {
    const [range, ...parameters] = part.split(';');
    if (parameters.some((parameter) => /^\s*q\s*=\s*0(?:\.0*)?\s*$/i.test(parameter))) continue;
    const type = range?.trim().toLowerCase();
    if (type === '*/*' || type === JSON_TYPE || type === 'application/*') json = true;
    if (type === '*/*' || type === SSE_TYPE || type === 'text/*') sse = true;
  }
  return { json, sse };
}

/** Whether `Accept` lists `text/event-stream` explicitly, as a GET must. */
export function namesEventStream(value: string | undefined): boolean {
  return value !== undefined && value.split(',').some((part) => part.split(';', 1)[0]?.trim().toLowerCase() === SSE_TYPE);
}
