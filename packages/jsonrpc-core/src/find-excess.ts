/** Looks at a JSON text before it is parsed: how deep, how heavy and of how many words its value would be. */

import { countUpTo, findStringEnd, hasMoreBrackets } from './search-text.ts';
import { hasMoreNames } from './has-more-names.ts';
import { MOST_BYTES_PER_CHARACTER, weighText } from './weigh-text.ts';

/** How JSON is read: how large its value may be. */
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
  /**
   * How many different names the members of all its objects may have together. An engine keeps each name that it meets, and often a
   * shape of objects with it: a million of them take seconds to read while all else waits. Members of one name, as the rows of a table
   * have them, count once.
   *
   * @default 50000
   */
  readonly maxNames?: number | undefined;
}

const DEFAULT_MAX_DEPTH = 128;
const DEFAULT_MAX_MEMORY_BYTES = 48 * 1024 * 1024;
const DEFAULT_MAX_NAMES = 50_000;

/** `"":0,` is the shortest member. */
const LEAST_CHARACTERS_PER_MEMBER = 5;

/**
 * Says what of a text's value is beyond its bounds. Short texts, which cannot be, are not looked at.
 *
 * @returns undefined where nothing is; else a sentence that names the bound and what to do.
 */
export function findExcess(text: string, bounds: ParseOptions | undefined): string | undefined {
  const maxDepth = bounds?.maxDepth ?? DEFAULT_MAX_DEPTH;
  // A level takes two characters, so a short text cannot nest too deeply and is not looked at twice.
  if (text.length > 2 * maxDepth && isNestedDeeper(text, maxDepth)) {
    return `The JSON nests more than ${maxDepth} levels deep: send it flatter`;
  }
  const maxMemoryBytes = bounds?.maxMemoryBytes ?? DEFAULT_MAX_MEMORY_BYTES;
  if (text.length * MOST_BYTES_PER_CHARACTER > maxMemoryBytes && weighText(text, maxMemoryBytes) > maxMemoryBytes) {
    return `The JSON is made of too many parts: they would take more than ${maxMemoryBytes} bytes of memory; send it in pages`;
  }
  const maxNames = bounds?.maxNames ?? DEFAULT_MAX_NAMES;
  if (text.length > LEAST_CHARACTERS_PER_MEMBER * maxNames && namesMore(text, maxNames)) {
    return `The JSON has members of more than ${maxNames} different names: send it in pages, or as an array of names and values`;
  }
  return undefined;
}

function isNestedDeeper(text: string, maxDepth: number): boolean {
  // Most texts have fewer brackets than levels are allowed; the engine's own search finds that out fast.
  return hasMoreBrackets(text, maxDepth) && scanDepth(text, maxDepth);
}

/** Each member has a colon, so that most texts need no closer look. */
function namesMore(text: string, maxNames: number): boolean {
  return countUpTo(text, ':', maxNames) > maxNames && hasMoreNames(text, maxNames);
}

const QUOTE = 0x22;
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
