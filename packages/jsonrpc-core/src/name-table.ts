/** The names of members in a JSON text, each known again, without making the engine keep any of them. */

import { findStringEnd } from './search-text.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** Places looked at for one name. A table that is a quarter full seldom needs more than a few. */
const MAX_PROBES = 32;
/** Up to here a look at each character is faster than a call of the engine's own search. */
const NEAR_LENGTH = 24;

/**
 * Remembers names by their place in the text. Whoever makes names that share a hash gains nothing: a name that finds no place in a
 * bounded number of steps counts as new, so that such a text is refused the sooner. So does each after the first `maxNames`, as often as it comes.
 */
export class NameTable {
  /** How many different names were read. */
  count: number = 0;
  /** How many members were read, those with the same name too. */
  members: number = 0;
  readonly #text: string;
  readonly #maxNames: number;
  readonly #mask: number;
  /** By twos: where a name starts, and its hash. No name starts at 0. */
  readonly #places: Int32Array;

  constructor(text: string, maxNames: number) {
    const size = 2 ** Math.ceil(Math.log2(4 * Math.max(4, maxNames)));
    this.#text = text;
    this.#maxNames = maxNames;
    this.#mask = size - 1;
    this.#places = new Int32Array(2 * size);
  }

  /** Reads a string, and remembers it if it is the name of a member. @param start Behind its first quote. @returns Where its last quote is. */
  read(start: number): number {
    const text = this.#text;
    const near = Math.min(start + NEAR_LENGTH, text.length);
    let hash = EMPTY_HASH;
    let at = start;
    for (let char = text.charCodeAt(at); at < near && char !== QUOTE; char = text.charCodeAt(at)) {
      hash = addToHash(hash, char);
      at += char === BACKSLASH ? 2 : 1;
    }
    const end = text.charCodeAt(at) === QUOTE ? at : findStringEnd(text, at);
    if (isBeforeColon(text, end + 1)) {
      for (; at < end; at++) hash = addToHash(hash, text.charCodeAt(at));
      this.#add(start, end, hash);
    }
    return end;
  }

  #add(start: number, end: number, hash: number): void {
    this.members++;
    let place = (hash ^ (hash >>> 15)) & this.#mask;
    for (let probe = 0; probe < MAX_PROBES; probe++, place = (place + 1) & this.#mask) {
      const found = this.#places[2 * place] as number;
      if (found === 0) {
        if (this.count < this.#maxNames) this.#put(place, hash, start);
        break;
      }
      if (this.#places[2 * place + 1] === hash && this.#isSame(found, start, end)) return;
    }
    this.count++;
  }

  #put(place: number, hash: number, start: number): void {
    this.#places[2 * place] = start;
    this.#places[2 * place + 1] = hash;
  }

  /** Compares the closing quote as well: a name that goes on is another. */
  #isSame(other: number, start: number, end: number): boolean {
    for (let at = start; at <= end; at++) if (this.#text.charCodeAt(other + at - start) !== this.#text.charCodeAt(at)) return false;
    return true;
  }
}

/** Whether the string that ends before a place is the name of a member. */
function isBeforeColon(text: string, from: number): boolean {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return text.charCodeAt(at) === COLON;
}

function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09;
}

/** The hash of a name without characters: another number in each process, so that nobody knows which names share a hash. */
const EMPTY_HASH = Math.floor(Math.random() * 2 ** 32) | 0;

/** FNV-1a over UTF-16 code units. */
function addToHash(hash: number, char: number): number {
  return Math.imul(hash ^ char, 0x01000193);
}
