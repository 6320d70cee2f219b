/**
 * Reads a regular expression of JSON Schema (ECMA-262 with the `u` flag) into a tree, as far as it can be proven linear: no
 * back-references, no look-around but look-ahead right after `^`.
 */

/** Code points as sorted, disjoint, inclusive ranges. */
export type CharSet = readonly (readonly [number, number])[];

/** A regular expression. `max` is `Infinity` for a loop. */
export type Pattern =
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'sequence'; readonly items: readonly Pattern[] }
  | { readonly kind: 'choice'; readonly options: readonly Pattern[] }
  | { readonly kind: 'repeat'; readonly item: Pattern; readonly min: number; readonly max: number }
  | { readonly kind: 'assertion'; readonly which: '^' | '$' | 'b' }
  | { readonly kind: 'lookahead'; readonly item: Pattern };

const ANY: CharSet = [[0, 0x10_ffff]];
const DIGIT: CharSet = [[0x30, 0x39]];
const WORD: CharSet = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
/** As wide as `\s` may be read; wider than it is where that is simpler. */
const SPACE: CharSet = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];

/** Why a pattern cannot be proven linear. */
export class PatternRefusal extends Error {}

/** Parses. The text must already compile as a RegExp. @throws {PatternRefusal} */
export function parsePattern(source: string): Pattern {
  const reader = new PatternReader(source);
  return reader.choice();
}

/** What is in neither of the ranges. */
export function invert(set: CharSet): CharSet {
  const out: (readonly [number, number])[] = [];
  let next = 0;
  for (const [low, high] of normalize(set)) {
    if (low > next) out.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= 0x10_ffff) out.push([next, 0x10_ffff]);
  return out;
}

/** Sorts and joins ranges. */
export function normalize(set: CharSet): CharSet {
  const out: [number, number][] = [];
  for (const [low, high] of set.toSorted((a, b) => a[0] - b[0])) {
    const last = out.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else out.push([low, high]);
  }
  return out;
}

class PatternReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  choice(): Pattern {
    const options = [this.#sequence()];
    while (this.#eat('|')) options.push(this.#sequence());
    return options.length === 1 ? (options[0] as Pattern) : { kind: 'choice', options };
  }

  #sequence(): Pattern {
    const items: Pattern[] = [];
    while (this.#at < this.#source.length && !this.#sees('|') && !this.#sees(')')) items.push(this.#repeated(this.#atom()));
    return { kind: 'sequence', items };
  }

  #repeated(item: Pattern): Pattern {
    const [quantifier, first, comma, second] = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})/.exec(this.#source.slice(this.#at)) ?? [];
    if (quantifier === undefined) return item;
    this.#at += quantifier.length;
    this.#eat('?');
    if (first === undefined)
      return { kind: 'repeat', item, min: quantifier === '+' ? 1 : 0, max: quantifier === '?' ? 1 : Number.POSITIVE_INFINITY };
    const max = comma === '' ? Number(first) : second === '' ? Number.POSITIVE_INFINITY : Number(second);
    return { kind: 'repeat', item, min: Number(first), max };
  }

  #atom(): Pattern {
    if (this.#eat('^')) return { kind: 'assertion', which: '^' };
    if (this.#eat('$')) return { kind: 'assertion', which: '$' };
    if (this.#eat('(')) return this.#group();
    if (this.#eat('[')) return { kind: 'set', set: this.#class() };
    if (this.#eat('.')) return { kind: 'set', set: ANY };
    if (!this.#sees('\\')) return { kind: 'set', set: single(this.#character()) };
    if (/^\\[bB]/.test(this.#source.slice(this.#at))) {
      this.#at += 2;
      return { kind: 'assertion', which: 'b' };
    }
    return { kind: 'set', set: this.#escape() };
  }

  #group(): Pattern {
    if (this.#eat('?=') || this.#eat('?!')) return { kind: 'lookahead', item: this.#closed() };
    if (this.#sees('?<=') || this.#sees('?<!')) throw new PatternRefusal('it looks behind');
    if (this.#eat('?:')) return this.#closed();
    const [name] = /^\?<[^>]*>/.exec(this.#source.slice(this.#at)) ?? [];
    if (name === undefined && this.#sees('?')) throw new PatternRefusal('it changes its flags');
    this.#at += name?.length ?? 0;
    return this.#closed();
  }

  #closed(): Pattern {
    const inner = this.choice();
    this.#at += 1;
    return inner;
  }

  #class(): CharSet {
    const isInverted = this.#eat('^');
    const ranges: (readonly [number, number])[] = [];
    while (!this.#eat(']')) {
      const low = this.#classItem();
      const isRange = this.#sees('-') && this.#source[this.#at + 1] !== ']';
      if (isRange && low.length === 1) {
        this.#at += 1;
        const high = this.#classItem();
        ranges.push([(low[0] as readonly [number, number])[0], (high.at(-1) as readonly [number, number])[1]]);
      } else ranges.push(...low);
    }
    return isInverted ? invert(ranges) : normalize(ranges);
  }

  #classItem(): CharSet {
    return this.#sees('\\') ? this.#escape() : single(this.#character());
  }

  #escape(): CharSet {
    const rest = this.#source.slice(this.#at);
    if (/^\\(?:[1-9]|k)/.test(rest)) throw new PatternRefusal('it refers back to a group');
    const [property] = /^\\[pP]\{[^}]*\}/.exec(rest) ?? [];
    if (property !== undefined) return this.#skip(property.length, ANY);
    const [code, hex, unicode, point] = /^\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]+)\})/.exec(rest) ?? [];
    if (code !== undefined) return this.#skip(code.length, single(Number.parseInt(hex ?? unicode ?? point ?? '0', 16)));
    const letter = rest.charAt(1);
    if (letter === 'c') return this.#skip(3, single(rest.charCodeAt(2) % 32));
    return this.#named(letter);
  }

  #named(letter: string): CharSet {
    const sets: Readonly<Record<string, CharSet>> = { d: DIGIT, w: WORD, s: SPACE, D: invert(DIGIT), W: invert(WORD), S: invert(SPACE) };
    const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, b: 8, 0: 0 };
    const set = sets[letter] ?? (letter in controls ? single(controls[letter] as number) : undefined);
    if (set !== undefined) return this.#skip(2, set);
    this.#at += 1;
    return single(this.#character());
  }

  #skip(length: number, set: CharSet): CharSet {
    this.#at += length;
    return set;
  }

  #character(): number {
    const point = this.#source.codePointAt(this.#at) ?? 0;
    this.#at += point > 0xffff ? 2 : 1;
    return point;
  }

  #sees(text: string): boolean {
    return this.#source.startsWith(text, this.#at);
  }

  #eat(text: string): boolean {
    if (!this.#sees(text)) return false;
    this.#at += text.length;
    return true;
  }
}

function single(point: number): CharSet {
  return [[point, point]];
}
