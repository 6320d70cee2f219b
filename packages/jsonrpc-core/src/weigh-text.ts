/** How much memory a JSON text becomes, told from the text alone. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** What parts of JSON take at most in the engines in use, as measured: an empty object, a string's head, a place in an array or object. */
const CONTAINER_BYTES = 72;
const STRING_BYTES = 24;
const PLACE_BYTES = 16;
/** A place as it mostly is: one pointer. */
const USUAL_PLACE_BYTES = 8;
/** `{}` alone. */
export const MOST_BYTES_PER_CHARACTER: number = CONTAINER_BYTES / 2;

/**
 * Says about how many bytes a text's value takes beside the characters of its strings.
 *
 * @param enough From here on it does not matter how many more.
 */
export function weighText(text: string, enough: number = Infinity): number {
  return weigh(text, enough, PLACE_BYTES, true);
}

/** The same for what is no attack: of many objects with the same names the engine keeps the names once. */
export function weighUsualText(text: string): number {
  return weigh(text, Infinity, USUAL_PLACE_BYTES, false);
}

function weigh(text: string, enough: number, placeBytes: number, countsNames: boolean): number {
  let bytes = 0;
  for (let at = 0; at < text.length && bytes <= enough; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) {
      at = findStringEnd(text, at + 1);
      if (countsNames || text.charCodeAt(at + 1) !== COLON) bytes += STRING_BYTES;
    } else if (char === COMMA) bytes += placeBytes;
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) bytes += CONTAINER_BYTES;
  }
  return bytes;
}

/** Where the string that starts at `from` ends; the text's length where it does not. */
export function findStringEnd(text: string, from: number): number {
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
