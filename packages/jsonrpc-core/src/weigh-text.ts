/** How much memory a JSON text becomes, told from the text alone. */

import { IndexMeter } from './index-meter.ts';
import { findStringEnd } from './search-text.ts';
import { ShapeMeter } from './shape-meter.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const PLUS = 0x2b;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_E = 0x65;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;

/** What parts of JSON take at most in the engines in use, as measured: an empty object, a string's head, a place in an array or object. */
const CONTAINER_BYTES = 72;
const STRING_BYTES = 24;
const PLACE_BYTES = 16;
/** A place as it mostly is: one pointer. */
const USUAL_PLACE_BYTES = 8;
/** A number that is no small integer, where it lies among other things than numbers. */
const NUMBER_BYTES = 16;
const MOST_SMALL_DIGITS = 9;
/** `{}` alone. */
export const MOST_BYTES_PER_CHARACTER: number = CONTAINER_BYTES / 2;

/**
 * Says about how many bytes a text's value takes beside the characters of its strings.
 *
 * @param enough From here on it does not matter how many more.
 */
export function weighText(text: string, enough: number): number {
  const indices = new IndexMeter(text);
  let bytes = 0;
  for (let at = 0; at < text.length && bytes <= enough; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      const end = findStringEnd(text, at + 1);
      indices.read(at + 1, end);
      at = end;
      bytes += STRING_BYTES;
    } else if (char === COMMA) bytes += PLACE_BYTES;
    else if (char === OPEN_BRACKET) bytes += CONTAINER_BYTES;
    else if (char === OPEN_BRACE) {
      bytes += CONTAINER_BYTES;
      indices.open();
    } else if (char === CLOSE_BRACE) bytes += indices.close();
  }
  return bytes;
}

/** The same for what is taken in: closer to what it is, as of many objects of one shape the engine keeps the names once. */
export function weighUsualText(text: string): number {
  const shapes = new ShapeMeter(text);
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = shapes.readString(at + 1);
      if (!shapes.hasReadName) bytes += STRING_BYTES;
    } else if (char === COMMA) bytes += USUAL_PLACE_BYTES;
    else if (char === OPEN_BRACKET) bytes += CONTAINER_BYTES;
    else if (char === OPEN_BRACE) {
      bytes += CONTAINER_BYTES;
      shapes.open();
    } else if (char === CLOSE_BRACE) shapes.close();
    else if (isInNumber(char)) {
      const end = findNumberEnd(text, at);
      if (!isSmallInteger(text, at, end)) {
        bytes += NUMBER_BYTES;
        shapes.addNumber();
      }
      at = end - 1;
    }
  }
  return bytes + shapes.bytes;
}

/** Its digits, signs and dot: outside strings they stand nowhere else. */
function isInNumber(char: number): boolean {
  return char >= PLUS && char <= NINE && char !== COMMA;
}

function findNumberEnd(text: string, from: number): number {
  let at = from + 1;
  for (let char = text.charCodeAt(at); isInNumber(char) || (char | 0x20) === LETTER_E; char = text.charCodeAt(at)) at++;
  return at;
}

/** Whether a number is kept in its place by the engines in use: an integer of at most nine characters, other than `-0`, which they keep as a fraction. */
function isSmallInteger(text: string, start: number, end: number): boolean {
  if (end - start > MOST_SMALL_DIGITS) return false;
  for (let at = start; at < end; at++) {
    const char = text.charCodeAt(at);
    if (char === DOT || (char | 0x20) === LETTER_E) return false;
  }
  return text.charCodeAt(start) !== MINUS || text.charCodeAt(start + 1) !== ZERO;
}
