/** Counts the different names of members in a JSON text, in one walk, without making the engine keep any of them. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** Places looked at for one name. A table that is a quarter full seldom needs more than a few. */
const MAX_PROBES = 32;

/** Whether the members of all objects in a JSON text have more than `maxNames` different names; one that is spelled with escapes counts as another. */
export function hasMoreNames(text: string, maxNames: number): boolean {
  const names = new NameTable(text, maxNames);
  // Many texts here are short, for which a call of the engine's own search takes longer than a look at each character.
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) !== QUOTE) continue;
    const start = at + 1;
    at = start;
    for (let char = text.charCodeAt(at); char !== QUOTE && at < text.length; char = text.charCodeAt(at)) at += char === BACKSLASH ? 2 : 1;
    if (!isBeforeColon(text, at + 1)) continue;
    names.add(start, at);
    if (names.count > maxNames) return true;
  }
  return false;
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return text.charCodeAt(at) === COLON;
}

function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09;
}

/**
 * Remembers names by their place in the text. Whoever makes names that share a hash gains nothing: a name that finds no place in a
 * bounded number of steps counts as new, so that such a text is refused the sooner.
 */
class NameTable {
  count = 0;
  readonly #text: string;
  readonly #mask: number;
  /** Where a name starts, and its hash; a hash of 0 is an empty place. */
  readonly #starts: Uint32Array;
  readonly #hashes: Uint32Array;

  constructor(text: string, maxNames: number) {
    const size = 2 ** Math.ceil(Math.log2(4 * Math.max(4, maxNames)));
    this.#text = text;
    this.#mask = size - 1;
    this.#starts = new Uint32Array(size);
    this.#hashes = new Uint32Array(size);
  }

  add(start: number, end: number): void {
    const hash = hashOf(this.#text, start, end);
    let place = (hash ^ (hash >>> 15)) & this.#mask;
    for (let probe = 0; probe < MAX_PROBES; probe++, place = (place + 1) & this.#mask) {
      const found = this.#hashes[place] as number;
      if (found === 0) {
        this.#hashes[place] = hash;
        this.#starts[place] = start;
        break;
      }
      if (found === hash && this.#isSame(this.#starts[place] as number, start, end)) return;
    }
    this.count++;
  }

  /** Compares the closing quote as well: a name that goes on is another. */
  #isSame(other: number, start: number, end: number): boolean {
    for (let at = start; at <= end; at++) if (this.#text.charCodeAt(other + at - start) !== this.#text.charCodeAt(at)) return false;
    return true;
  }
}

/** Another number in each process, so that nobody knows which names share a hash. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/** FNV-1a over UTF-16 code units. Never 0. */
function hashOf(text: string, start: number, end: number): number {
  let hash = SEED;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0 || 1;
}
