/** How much memory members take whose names are indices, as `"7"`: engines keep them apart, where what a name costs depends on how large it is. */

import { isBeforeColon } from './name-reader.ts';

const ZERO = 0x30;
/** What a digit follows where it is written as `\u0037`. */
const ESCAPED_DIGIT = '\\u003';
const MAX_INDEX = 2 ** 32 - 2;
const PLACE_BYTES = 8;
/** With an array up to the largest index, unless that has so many times the places of a table, each of which has three; as measured. */
const MOST_TIMES_A_TABLE = 9;
const PLACES_PER_SLOT = 3;
const LEAST_SLOTS = 4;
const TABLE_HEAD_PLACES = 5;

/** Follows the indices of each object from its first to its last. */
export class IndexMeter {
  readonly #text: string;
  /** Those that the innermost object has so far. */
  #count = 0;
  #largest = 0;
  /** The same of those that it lies in, by twos. */
  readonly #outer: number[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Counts a string if it is an index and the name of a member.
   *
   * @param start Behind its first quote.
   * @param end Where its last quote is.
   * @returns Whether it is.
   */
  read(start: number, end: number): boolean {
    const index = this.#readIndex(start, end);
    if (index === undefined || !isBeforeColon(this.#text, end + 1)) return false;
    this.#count++;
    this.#largest = Math.max(this.#largest, index);
    return true;
  }

  /** @returns undefined where it is none, as `"07"`. */
  #readIndex(start: number, end: number): number | undefined {
    let index: number | undefined;
    for (let at = start; at < end; at++) {
      if (this.#text.startsWith(ESCAPED_DIGIT, at)) at += ESCAPED_DIGIT.length;
      const digit = this.#text.charCodeAt(at) - ZERO;
      if (!(digit >= 0 && digit <= 9) || index === 0) return undefined;
      index = 10 * (index ?? 0) + digit;
    }
    return index === undefined || index > MAX_INDEX ? undefined : index;
  }

  open(): void {
    this.#outer.push(this.#count, this.#largest);
    this.#count = 0;
    this.#largest = 0;
  }

  /** @returns How many bytes the indices of the object that ends take. */
  close(): number {
    const bytes = this.#count > 0 ? PLACE_BYTES * countPlaces(this.#count, this.#largest) : 0;
    this.#largest = this.#outer.pop() ?? 0;
    this.#count = this.#outer.pop() ?? 0;
    return bytes;
  }
}

function countPlaces(count: number, largest: number): number {
  const slots = Math.max(LEAST_SLOTS, 2 ** Math.ceil(Math.log2(count + (count >> 1))));
  return largest + 1 < MOST_TIMES_A_TABLE * slots ? largest + 1 : PLACES_PER_SLOT * slots + TABLE_HEAD_PLACES;
}
