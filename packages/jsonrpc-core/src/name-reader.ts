/** Reads strings of a JSON text, and tells the names of members by a hash, without making the engine keep any of them. */

import { findStringEnd } from './search-text.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** Up to here a look at each character is faster than a call of the engine's own search. */
const NEAR_LENGTH = 24;

/** What was read last. One object for a whole text, so that a string costs none. */
export class NameReader {
  /** Whether it was the name of a member. */
  isName: boolean = false;
  /** Of a name's characters. */
  hash: number = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** @param start Behind the string's first quote. @returns Where its last quote is. */
  read(start: number): number {
    const text = this.#text;
    const near = Math.min(start + NEAR_LENGTH, text.length);
    let hash = EMPTY_HASH;
    let at = start;
    for (let char = text.charCodeAt(at); at < near && char !== QUOTE; char = text.charCodeAt(at)) {
      hash = addToHash(hash, char);
      // What a backslash stands before ends nothing, and yet tells names apart.
      if (char === BACKSLASH) hash = addToHash(hash, text.charCodeAt(++at));
      at++;
    }
    const end = text.charCodeAt(at) === QUOTE ? at : findStringEnd(text, at);
    this.isName = isBeforeColon(text, end + 1);
    if (this.isName) for (; at < end; at++) hash = addToHash(hash, text.charCodeAt(at));
    this.hash = hash;
    return end;
  }
}

/** Whether the string that ends before a place is the name of a member. */
export function isBeforeColon(text: string, from: number): boolean {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return text.charCodeAt(at) === COLON;
}

function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09;
}

/** The hash of a name without characters: another number in each process, so that nobody knows which names share a hash. */
export const EMPTY_HASH: number = Math.floor(Math.random() * 2 ** 32) | 0;

/** FNV-1a, a number at a time. */
export function addToHash(hash: number, next: number): number {
  return Math.imul(hash ^ next, 0x01000193);
}
