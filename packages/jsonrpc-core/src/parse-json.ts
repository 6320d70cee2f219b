/** Parses JSON text within limits that are checked on the text first. All JSON from a peer is parsed here. */

import { ParseError } from './errors.ts';
import { readMessageHead } from './malformed.ts';
import type { JsonValue } from './message.ts';

/** How deeply arrays and objects may nest, so that recursive code does not overflow the stack. */
const MAX_DEPTH = 128;
const DEFAULT_MAX_VALUES = 500_000;

/**
 * Parses JSON text. Of equal keys the last one wins, as in `JSON.parse`.
 *
 * @param maxValues How many values the text may hold, counted as the `{`, `[` and `,` outside strings. A limit on the length alone is too weak: each
 * `{}` becomes thirty times as much memory. 500,000 values take at most 85 MB of heap and 0.3 s to read (Node 20).
 * @throws {ParseError} `ERR_PARSE`: the text is not JSON, nests deeper than 128 levels, or holds more than `maxValues`.
 */
export function parseJson(text: string, maxValues: number = DEFAULT_MAX_VALUES): JsonValue {
  const excess = findExcess(text, maxValues);
  if (excess !== undefined) throw new ParseError(excess, { excess, head: readMessageHead(text) });
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The platform's message is not passed on: it quotes the text, which may hold secrets.
    throw new ParseError('The text is not valid JSON');
  }
}

/** Returns which limit a JSON text exceeds, and what to do; undefined if it exceeds none. */
function findExcess(text: string, maxValues: number): string | undefined {
  // Each level and each value takes two characters, so a short text needs no scan. The native search rules out most others.
  if (text.length <= 2 * Math.min(MAX_DEPTH, maxValues)) return undefined;
  const isLong = text.length > 2 * maxValues;
  const opened = countAny(text, '{[', isLong ? maxValues : MAX_DEPTH);
  const mayNest = opened > MAX_DEPTH;
  const mayBeMany = isLong && opened + countAny(text, ',', maxValues) > maxValues;
  return mayNest || mayBeMany ? scan(text, maxValues) : undefined;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Counts depth and values of a JSON text exactly, skipping strings. Returns which limit is exceeded; undefined if none. */
function scan(text: string, maxValues: number): string | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) at = findStringEnd(text, at + 1);
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH) return `The JSON nests more than ${MAX_DEPTH} levels deep: send less nested data`;
      values++;
    } else if (char === COMMA) values++;
    else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth--;
    if (values > maxValues) return `The JSON holds more than ${maxValues} values: send it in pages`;
  }
  return undefined;
}

/** Returns where the string that starts at `from` ends, or the text's length if it does not end. */
function findStringEnd(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end !== -1 && isEscaped(text, end, from)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

/** Tells whether an odd number of backslashes precedes a position. */
function isEscaped(text: string, at: number, from: number): boolean {
  let start = at;
  while (start > from && text.charCodeAt(start - 1) === BACKSLASH) start--;
  return (at - start) % 2 === 1;
}

/** Counts how often the given characters occur in a text, also inside strings. Stops at one more than `limit`. */
function countAny(text: string, chars: string, limit: number): number {
  let count = 0;
  for (const char of chars) {
    for (let at = text.indexOf(char); at !== -1 && count <= limit; at = text.indexOf(char, at + 1)) count++;
  }
  return count;
}

/** The least length of a message that is measured. For shorter ones, the limit on the number of requests is enough. */
const LEAST_LENGTH_MEASURED = 1024;

/**
 * Returns how many bytes of UTF-8 a message has, for the limit on messages in flight (`MessageInfo.bytes`).
 *
 * @returns undefined for a short message, which need not be measured.
 */
export function measureMessage(text: string): number | undefined {
  return text.length < LEAST_LENGTH_MEASURED ? undefined : countBytes(text);
}

const { Buffer } = globalThis as { Buffer?: { byteLength(text: string): number } };

/** Returns how many bytes a text has in UTF-8. */
export function countBytes(text: string): number {
  return Buffer ? Buffer.byteLength(text) : new TextEncoder().encode(text).length;
}
