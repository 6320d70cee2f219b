/** Looks at a value before a schema is run against it: what one step of the interpreter may cost is the product of the two. */

/** What a value is at its widest. Texts count one for every 64 characters, so that a long one is not taken for a cheap one. */
export interface ValueSize {
  /** Its longest text, names of members included, in characters. */
  readonly longestText: number;
  /** Members of its widest object. */
  readonly widestObject: number;
  /** Items of its longest array. */
  readonly longestArray: number;
  /** What comparing all items of one array with one another costs at most, in values looked at. */
  readonly costliestArray: number;
}

const CHARACTERS_PER_VALUE = 64;

/**
 * Measures a value, in one walk.
 *
 * @param work Called with how many values are about to be looked at; throws where that has become too much.
 * @returns undefined where the value is not JSON as it stands: it has members that are `undefined`, dates, `NaN` and the like.
 */
export function measureValue(value: unknown, work: (values: number) => void): ValueSize | undefined {
  const meter = new ValueMeter(work);
  return Number.isNaN(meter.measure(value)) ? undefined : meter;
}

class ValueMeter implements ValueSize {
  longestText = 0;
  widestObject = 0;
  longestArray = 0;
  costliestArray = 0;
  readonly #work: (values: number) => void;

  constructor(work: (values: number) => void) {
    this.#work = work;
  }

  /** @returns How many values it holds, itself counted; NaN where one of them is not JSON. */
  measure(value: unknown): number {
    if (typeof value === 'string') return this.#measureText(value);
    if (typeof value === 'number') return Number.isFinite(value) ? 1 : Number.NaN;
    if (typeof value === 'boolean' || value === null) return 1;
    if (typeof value !== 'object' || typeof (value as { toJSON?: unknown }).toJSON === 'function') return Number.NaN;
    return Array.isArray(value) ? this.#measureArray(value) : this.#measureObject(value as Readonly<Record<string, unknown>>);
  }

  #measureText(text: string): number {
    if (text.length > this.longestText) this.longestText = text.length;
    return 1 + Math.floor(text.length / CHARACTERS_PER_VALUE);
  }

  #measureArray(items: readonly unknown[]): number {
    this.#work(items.length);
    let size = 1;
    for (const item of items) size += this.measure(item);
    this.longestArray = Math.max(this.longestArray, items.length);
    this.costliestArray = Math.max(this.costliestArray, items.length * size);
    return size;
  }

  #measureObject(object: Readonly<Record<string, unknown>>): number {
    const names = Object.keys(object);
    this.#work(names.length);
    let size = 1;
    let width = 0;
    for (const name of names) {
      width += this.#measureText(name);
      size += this.measure(object[name]);
    }
    this.widestObject = Math.max(this.widestObject, width);
    return size + width;
  }
}
