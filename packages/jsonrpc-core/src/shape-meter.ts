/** How much memory the names of objects in a JSON text take, beside the places of their values. */

import { IndexMeter } from './index-meter.ts';
import { addToHash, EMPTY_HASH, NameReader } from './name-reader.ts';

/** An object with more members is a table of its own in the engines in use, whatever others are like; as measured. */
const MAX_SHAPED_MEMBERS = 128;
/** What each member of such a table takes more. */
const TABLE_MEMBER_BYTES = 40;
/** What each name takes in an object that no other was like before: with it the engine begins another shape. */
const SHAPE_BYTES = 100;
/** The same in a table: the name alone. */
const NAME_BYTES = 40;
/** Of so many it is found out whether they come again. */
const MAX_KNOWN = 4096;
/** Places looked at for one of them. */
const MAX_PROBES = 32;
/** `{"":0},` */
const LEAST_OBJECT_LENGTH = 7;

/**
 * Follows the names of each object from its first to its last. The same names in the same order are one shape, which the engine keeps once. In another
 * order they are another; so are those of an object that has more, though it begins like it, and of one whose numbers are small integers elsewhere.
 */
export class ShapeMeter {
  bytes: number = 0;
  readonly #reader: NameReader;
  readonly #indices: IndexMeter;
  /** The hashes of what was met, as long as there is room; 0 for none. */
  readonly #known: Int32Array;
  #room: number;
  /** Of what the innermost object has so far, and how many names it has. */
  #hash = EMPTY_HASH;
  #members = 0;
  /** The same of those that it lies in, by twos. */
  readonly #outer: number[] = [];

  constructor(text: string) {
    this.#reader = new NameReader(text);
    this.#indices = new IndexMeter(text);
    this.#room = Math.ceil(Math.min(MAX_KNOWN, text.length / LEAST_OBJECT_LENGTH));
    this.#known = new Int32Array(2 ** Math.ceil(Math.log2(4 * this.#room)));
  }

  /** Whether the string that was read last is the name of a member. */
  get hasReadName(): boolean {
    return this.#reader.isName;
  }

  /** @param start Behind its first quote. @returns Where its last quote is. */
  readString(start: number): number {
    const end = this.#reader.read(start);
    if (this.#reader.isName && !this.#indices.read(start, end)) {
      this.#members++;
      this.#hash = addToHash(addToHash(this.#hash, this.#reader.hash), this.#reader.hash >>> 16);
    }
    return end;
  }

  /** A number was met that is no small integer. */
  addNumber(): void {
    this.#hash = addToHash(this.#hash, 1);
  }

  open(): void {
    this.#outer.push(this.#hash, this.#members);
    this.#hash = EMPTY_HASH;
    this.#members = 0;
    this.#indices.open();
  }

  close(): void {
    this.bytes += this.#indices.close() + this.#members * this.#weighMember();
    this.#members = this.#outer.pop() ?? 0;
    this.#hash = this.#outer.pop() ?? EMPTY_HASH;
  }

  #weighMember(): number {
    const isKnown = this.#isKnown(this.#hash || 1);
    if (this.#members > MAX_SHAPED_MEMBERS) return TABLE_MEMBER_BYTES + (isKnown ? 0 : NAME_BYTES);
    return isKnown ? 0 : SHAPE_BYTES;
  }

  /** Remembers it, too. */
  #isKnown(hash: number): boolean {
    const mask = this.#known.length - 1;
    let place = (hash ^ (hash >>> 15)) & mask;
    for (let probe = 0; probe < MAX_PROBES; probe++, place = (place + 1) & mask) {
      const found = this.#known[place];
      if (found === hash) return true;
      if (found !== 0) continue;
      if (this.#room > 0) {
        this.#known[place] = hash;
        this.#room--;
      }
      return false;
    }
    return false;
  }
}
