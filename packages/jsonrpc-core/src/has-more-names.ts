/** Counts the different names of members in a JSON text, in one walk. */

import { NameReader } from './name-reader.ts';

const QUOTE = 0x22;
/** Places looked at for one name. A table that is a quarter full seldom needs more than a few. */
const MAX_PROBES = 32;

/** Whether the members of all objects in a JSON text have more than `maxNames` different names; one that is spelled with escapes counts as another. */
export function hasMoreNames(text: string, maxNames: number): boolean {
  const names = new NameTable(text, maxNames);
  // Many texts here are short, for which a call of the engine's own search takes longer than a look at each character.
  for (let at = 0; at < text.length && names.count <= maxNames; at++) {
    if (text.charCodeAt(at) === QUOTE) at = names.read(at + 1);
  }
  return names.count > maxNames;
}

/**
 * Remembers names by their place in the text. Whoever makes names that share a hash gains nothing: a name that finds no place in a
 * bounded number of steps counts as new, so that such a text is refused the sooner.
 */
class NameTable {
  /** How many different names were read. */
  count = 0;
  readonly #text: string;
  readonly #reader: NameReader;
  readonly #mask: number;
  /** By twos: where a name starts, and its hash. No name starts at 0. */
  readonly #places: Int32Array;

  constructor(text: string, maxNames: number) {
    const size = 2 ** Math.ceil(Math.log2(4 * Math.max(4, maxNames)));
    this.#text = text;
    this.#reader = new NameReader(text);
    this.#mask = size - 1;
    this.#places = new Int32Array(2 * size);
  }

  /** Reads a string, and remembers it if it is the name of a member. @param start Behind its first quote. @returns Where its last quote is. */
  read(start: number): number {
    const end = this.#reader.read(start);
    if (this.#reader.isName) this.#add(start, end, this.#reader.hash);
    return end;
  }

  #add(start: number, end: number, hash: number): void {
    let place = (hash ^ (hash >>> 15)) & this.#mask;
    for (let probe = 0; probe < MAX_PROBES; probe++, place = (place + 1) & this.#mask) {
      const found = this.#places[2 * place] as number;
      if (found === 0) {
        this.#places[2 * place] = start;
        this.#places[2 * place + 1] = hash;
        break;
      }
      if (this.#places[2 * place + 1] === hash && this.#isSame(found, start, end)) return;
    }
    this.count++;
  }

  /** Compares the closing quote as well: a name that goes on is another. */
  #isSame(other: number, start: number, end: number): boolean {
    for (let at = start; at <= end; at++) if (this.#text.charCodeAt(other + at - start) !== this.#text.charCodeAt(at)) return false;
    return true;
  }
}
