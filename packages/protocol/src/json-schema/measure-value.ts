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

/** Measures a JSON value, in one walk. */
export function measureValue(value: unknown): ValueSize {
  const meter = new ValueMeter();
  meter.measure(value);
  return meter;
}

class ValueMeter implements ValueSize {
  longestText = 0;
  widestObject = 0;
  longestArray = 0;
  costliestArray = 0;

  /** @returns How many values it holds, itself counted. */
  measure(value: unknown): number {
    if (typeof value === 'string') return this.#measureText(value);
    if (typeof value !== 'object' || value === null) return 1;
    return Array.isArray(value) ? this.#measureArray(value) : this.#measureObject(value);
  }

  #measureText(text: string): number {
    if (text.length > this.longestText) this.longestText = text.length;
    return 1 + Math.floor(text.length / CHARACTERS_PER_VALUE);
  }

  #measureArray(items: readonly unknown[]): number {
    let size = 1;
    for (const item of items) size += this.measure(item);
    this.longestArray = Math.max(this.longestArray, items.length);
    this.costliestArray = Math.max(this.costliestArray, items.length * size);
    return size;
  }

  #measureObject(object: object): number {
    let size = 1;
    let width = 0;
    for (const [name, member] of Object.entries(object)) {
      width += this.#measureText(name);
      size += this.measure(member);
    }
    this.widestObject = Math.max(this.widestObject, width);
    return size + width;
  }
}
