/**
 * HTTP headers: the names of MCP's own, the encoding of values that a header cannot carry as they are, and media types by their exact names.
 *
 * @see 2026-07-28 basic/transports/streamable-http#value-encoding; RFC 9110 sections 5.5, 8.3 and 12.5.1
 */

import { toBase64 } from '@mortise/jsonrpc-core/encoding';

/** The revision that a request is written in. */
export const PROTOCOL_VERSION_HEADER = 'mcp-protocol-version';
/** The session of the legacy era. */
export const SESSION_ID_HEADER = 'mcp-session-id';
/** The method in the body. Modern era. */
export const METHOD_HEADER = 'mcp-method';
/** The tool, prompt or resource that the body names. Modern era. */
export const NAME_HEADER = 'mcp-name';
/** Begins the header of an argument that a tool's schema marks with `x-mcp-header`. Modern era. */
export const PARAM_HEADER_PREFIX = 'mcp-param-';
/** The last event that a client saw on a stream that it resumes. Legacy era. */
export const LAST_EVENT_ID_HEADER = 'last-event-id';

/** Base64 of UTF-8, for what a header cannot carry as it is. */
const ENCODED = /^=\?base64\?(.*)\?=$/;

/** Visible ASCII, space and tab. */
const HEADER_TEXT = /^[\t\x20-\x7e]*$/;
/** What a header may hold, a character for each byte. */
const HEADER_BYTES = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Standard base64 with its padding. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** A decimal number, as far as an integer parameter may be written so. */
const DECIMAL = /^[+-]?\d{1,32}(?:\.\d{1,32})?$/;

/** Tells whether a text has only characters that a header value may have. */
export function isHeaderText(text: string): boolean {
  return HEADER_TEXT.test(text);
}

/** Tells whether a text can be sent as a header value, a character for each byte. */
export function isHeaderBytes(text: string): boolean {
  return HEADER_BYTES.test(text);
}

/**
 * Writes any text as the value of `Mcp-Name` or `Mcp-Param-*`: as it is where a header can carry it, else as base64 of its UTF-8
 * between the markers `=?base64?` and `?=`.
 */
export function encodeHeaderValue(text: string): string {
  return isPlain(text) ? text : `=?base64?${toBase64(new TextEncoder().encode(text))}?=`;
}

/**
 * Reads a value of `Mcp-Name` or `Mcp-Param-*`.
 *
 * @returns undefined where the value has characters that no header may have, or base64 that is not written in the one right way.
 */
export function decodeHeaderValue(value: string): string | undefined {
  if (!HEADER_TEXT.test(value)) return undefined;
  const encoded = ENCODED.exec(value)?.[1];
  return encoded === undefined ? value : fromBase64(encoded);
}

/**
 * Writes an argument as a header value before encoding.
 *
 * @returns undefined for what has no header: `null`, nothing, and what is not a string, boolean or safe integer.
 */
export function toParamText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

/** Tells whether a decoded header says the same as an argument. Numbers are compared as numbers: `42.0` is 42. */
export function isSameParam(text: string, value: unknown): boolean {
  if (typeof value === 'number') return DECIMAL.test(text) && Number(text) === value;
  return text === value || (typeof value === 'boolean' && text === toParamText(value));
}

/**
 * Writes an event's id as the value of `Last-Event-ID`: its UTF-8, a character for each byte, which is how platforms take and give what
 * is not ASCII.
 *
 * @returns undefined for an id that no header can carry.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#concept-event-stream-reconnect
 */
export function encodeEventId(id: string): string | undefined {
  if (HEADER_TEXT.test(id)) return id;
  const value = Array.from(new TextEncoder().encode(id), (byte) => String.fromCharCode(byte)).join('');
  return HEADER_BYTES.test(value) ? value : undefined;
}

/** Reads the value of `Last-Event-ID`. */
export function decodeEventId(value: string): string {
  if (HEADER_TEXT.test(value)) return value;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(value, (char) => char.charCodeAt(0)));
  } catch {
    return value;
  }
}

/** Reads the value at a path of property names; undefined where there is none. Only own members count. */
export function readPath(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || Array.isArray(at) || !Object.hasOwn(at, key)) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[key];
  }
  return at;
}

/** A text that looks encoded must itself be encoded, and so must one with blanks at its edges, which parsers of headers trim. */
function isPlain(text: string): boolean {
  return HEADER_TEXT.test(text) && !ENCODED.test(text) && !/^[ \t]|[ \t]$/.test(text);
}

function fromBase64(encoded: string): string | undefined {
  if (!BASE64.test(encoded)) return undefined;
  const binary = atob(encoded);
  // Bits after the last whole byte must be zero, so that one text has one spelling.
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
/** What clients of MCP accept. */
export const ACCEPT_BOTH: string = `${JSON_TYPE}, ${SSE_TYPE}`;

/** What an answer may be. */
export interface Accepts {
  readonly json: boolean;
  readonly sse: boolean;
}

export const BOTH: Accepts = { json: true, sse: true };

/** Tells whether a body is announced as JSON in UTF-8. Parameters other than `charset` mean nothing. */
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

/**
 * Reads `Accept`. No header at all accepts everything, as HTTP has it; a media range with `q=0` accepts nothing.
 */
export function readAccepts(value: string | undefined): Accepts {
  // What nearly every client of MCP sends needs no parsing.
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

/** Tells whether `Accept` names event streams explicitly, as a GET must. */
export function namesEventStream(value: string | undefined): boolean {
  return value !== undefined && value.split(',').some((part) => part.split(';', 1)[0]?.trim().toLowerCase() === SSE_TYPE);
}
