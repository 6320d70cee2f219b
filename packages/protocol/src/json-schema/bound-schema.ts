/**
 * Reads a JSON Schema before it is run: knows its dialect, sees that it is a schema, bounds its depth and size, and copies the
 * keywords that mean something, so that what is run is no more than what was looked at.
 */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { SchemaNotCheckableError } from '../errors.ts';
import { checkKeyword, type Dialect, DIALECTS, type Keyword, keywordsOf, SAFE_FORMATS } from './keywords.ts';
import { ProofBudget, whyNotLinear } from './why-not-linear.ts';

/** What a schema may be at most. */
export interface SchemaLimits {
  /** Subschemas within one another. @default 64 */
  readonly maxDepth?: number | undefined;
  /** Subschemas in all. @default 5000 */
  readonly maxSubschemas?: number | undefined;
  /** Subschemas that apply to one place of a value, references followed. @default 5000 */
  readonly maxExpandedSubschemas?: number | undefined;
  /** Values in `enum` and `const`, names in `required`. @default 20000 */
  readonly maxValues?: number | undefined;
}

/** Every limit. */
type Limits = Readonly<Record<keyof SchemaLimits, number>>;

/** The copy of one schema object. */
export interface SchemaCopy {
  [keyword: string]: unknown;
  /** What a step with it costs besides what the value costs: values to compare with, members to look for, characters of a pattern. */
  [STEP_COST]?: number;
}

/** No keyword is called so: it does not meet the interpreter. */
export const STEP_COST: unique symbol = Symbol('step cost');

/** A schema that has been looked at. */
export interface BoundedSchema {
  readonly root: SchemaCopy;
  readonly dialect: Dialect;
  /** Every schema object of the copy, with its place. */
  readonly all: ReadonlyMap<SchemaCopy, string>;
  readonly limits: Limits;
  readonly hasUniqueItems: boolean;
  /** Whether a text of the value is read from end to end: for its length, a pattern or a format. */
  readonly readsTexts: boolean;
  /** The most patterns that one object's members are held against. */
  readonly mostPatterns: number;
  /** The most objects that one value is compared with, those within one another counted too. */
  readonly mostObjects: number;
}

/** Keywords that read a text to its end. */
const READS_TEXTS: ReadonlySet<string> = new Set(['minLength', 'maxLength', 'pattern', 'format']);
/** Characters of the names that lead to a subschema, and of `$id`, `$ref` and anchors: each is resolved against those above it. Of a pattern too. */
const MAX_ADDRESS = 8192;
/** More characters of an `enum` or a `const` than an issue has room for. */
const SHOWN_CHARACTERS = 400;

/**
 * Copies a schema within its bounds.
 *
 * @param prototype What the copies inherit from.
 * @throws {SchemaNotCheckableError} `ERR_SCHEMA_NOT_CHECKABLE`
 */
export function boundSchema(schema: JsonValue, limits: SchemaLimits, prototype: object): BoundedSchema {
  return new SchemaReader(toLimits(limits), dialectOf(schema), prototype).read(schema);
}

/** One that is given as undefined is not given. */
function toLimits(given: SchemaLimits): Limits {
  return {
    maxDepth: given.maxDepth ?? 64,
    maxSubschemas: given.maxSubschemas ?? 5000,
    maxExpandedSubschemas: given.maxExpandedSubschemas ?? 5000,
    maxValues: given.maxValues ?? 20_000,
  };
}

function dialectOf(schema: JsonValue): Dialect {
  const name = isJsonObject(schema) ? schema['$schema'] : undefined;
  if (name === undefined) return '2020-12';
  const dialect = DIALECTS.get(
    String(name)
      .replace(/^http:/, 'https:')
      .replace(/#$/, ''),
  );
  if (dialect === undefined)
    throw new SchemaNotCheckableError(`JSON Schema dialect ${JSON.stringify(name)} is not supported: use 2020-12 or draft-07`, '');
  return dialect;
}

/** Where a keyword stands. */
interface KeywordPlace {
  /** What is being made of its schema. */
  readonly copy: SchemaCopy;
  readonly name: string;
  /** Its pointer. */
  readonly at: string;
  /** Of subschemas in it. */
  readonly depth: number;
}

class SchemaReader {
  readonly #limits: Limits;
  readonly #dialect: Dialect;
  readonly #prototype: object;
  readonly #keywords: ReadonlyMap<string, Keyword>;
  readonly #all = new Map<SchemaCopy, string>();
  readonly #proofs = new ProofBudget();
  #values = 0;
  #hasUniqueItems = false;
  #readsTexts = false;
  #mostPatterns = 0;
  #mostObjects = 0;

  constructor(limits: Limits, dialect: Dialect, prototype: object) {
    this.#limits = limits;
    this.#dialect = dialect;
    this.#prototype = prototype;
    this.#keywords = keywordsOf(dialect);
  }

  read(schema: JsonValue): BoundedSchema {
    const root = this.#copy(schema, '', 0);
    return {
      root,
      dialect: this.#dialect,
      all: this.#all,
      limits: this.#limits,
      hasUniqueItems: this.#hasUniqueItems,
      readsTexts: this.#readsTexts,
      mostPatterns: this.#mostPatterns,
      mostObjects: this.#mostObjects,
    };
  }

  /** Copies `true` and `false` as schemas that say the same, for the interpreter counts no step of a boolean. */
  #copy(given: JsonValue | undefined, pointer: string, depth: number): SchemaCopy {
    const schema = typeof given === 'boolean' ? (given ? {} : { enum: [] }) : given;
    if (!isJsonObject(schema)) throw new SchemaNotCheckableError(`Schema at ${place(pointer)} must be an object or a boolean`, pointer);
    if (pointer.length > MAX_ADDRESS)
      throw new SchemaNotCheckableError('Schema has a subschema with too long an address', shorten(pointer));
    if (depth > this.#limits.maxDepth) throw new SchemaNotCheckableError(`Schema is deeper than ${this.#limits.maxDepth}`, pointer);
    const copy = Object.create(this.#prototype) as SchemaCopy;
    this.#all.set(copy, pointer);
    if (this.#all.size > this.#limits.maxSubschemas)
      throw new SchemaNotCheckableError(`Schema has more than ${this.#limits.maxSubschemas} subschemas`, pointer);
    for (const [name, value] of Object.entries(schema)) {
      const keyword = this.#keywords.get(name);
      if (keyword === undefined || value === undefined) continue;
      const at = `${pointer}/${escapePointer(name)}`;
      const wrong = checkKeyword(keyword, value);
      if (wrong !== undefined) throw new SchemaNotCheckableError(`"${name}" at ${place(pointer)} ${wrong}`, at);
      this.#put({ copy, name, at, depth: depth + 1 }, keyword, value);
    }
    shortenConst(copy);
    return copy;
  }

  #put(place: KeywordPlace, keyword: Keyword, value: JsonValue): void {
    const { copy, name, at } = place;
    const copyMember = (member: JsonValue, memberAt: string): SchemaCopy => this.#copy(member, memberAt, place.depth);
    switch (keyword) {
      case 'unsupported':
        throw new SchemaNotCheckableError(`"${name}" is not supported`, at);
      case 'schema':
        copy[name] = copyMember(value, at);
        return;
      case 'schemas':
        copy[name] = (value as readonly JsonValue[]).map((item, index) => copyMember(item, `${at}/${index}`));
        return;
      case 'schema-or-schemas':
        this.#put(place, Array.isArray(value) ? 'schemas' : 'schema', value);
        return;
      case 'schema-map':
        copy[name] = mapMembers(value, at, copyMember);
        addCost(copy, Object.keys(value as object).length);
        return;
      case 'pattern-map':
        for (const pattern of Object.keys(value as object)) this.#checkPattern(copy, pattern, at);
        this.#mostPatterns = Math.max(this.#mostPatterns, Object.keys(value as object).length);
        copy[name] = mapMembers(value, at, copyMember);
        return;
      case 'dependencies':
        copy[name] = mapMembers(value, at, (member, memberAt) => {
          if (!Array.isArray(member)) return copyMember(member, memberAt);
          this.#countValues(copy, member, memberAt);
          return member;
        });
        return;
      default:
        this.#putValue(place, keyword, value);
    }
  }

  #putValue({ copy, name, at }: KeywordPlace, keyword: Keyword, value: JsonValue): void {
    if (keyword === 'pattern') this.#checkPattern(copy, value as string, at);
    if (keyword === 'string' && (value as string).length > MAX_ADDRESS)
      throw new SchemaNotCheckableError(`"${name}" has more than ${MAX_ADDRESS} characters`, shorten(at));
    if (keyword === 'dialect' && dialectOf({ $schema: value }) !== this.#dialect) {
      throw new SchemaNotCheckableError('A subschema has another dialect than the schema', at);
    }
    if (keyword === 'dialect' || (keyword === 'format' && !SAFE_FORMATS.has(value as string))) return;
    if (name === 'uniqueItems') this.#hasUniqueItems ||= value === true;
    this.#readsTexts ||= READS_TEXTS.has(name);
    this.#countValues(copy, value, at);
    if (keyword === 'values' || keyword === 'any') this.#mostObjects = Math.max(this.#mostObjects, countObjects(value));
    copy[name === '$dynamicAnchor' ? '$anchor' : name] = keyword === 'values' || keyword === 'any' ? withShortJson(value) : value;
  }

  #countValues(copy: SchemaCopy, value: JsonValue, at: string): void {
    const count = countValues(value, this.#limits.maxValues - this.#values);
    this.#values += count;
    if (this.#values > this.#limits.maxValues)
      throw new SchemaNotCheckableError(`Schema has more than ${this.#limits.maxValues} values`, at);
    addCost(copy, count);
  }

  #checkPattern(copy: SchemaCopy, pattern: string, at: string): void {
    addCost(copy, pattern.length);
    if (pattern.length > MAX_ADDRESS)
      throw new SchemaNotCheckableError(`Pattern ${quote(pattern)} has more than ${MAX_ADDRESS} characters`, at);
    try {
      new RegExp(pattern, 'u');
    } catch {
      throw new SchemaNotCheckableError(`Pattern ${quote(pattern)} is not a regular expression`, at);
    }
    const reason = whyNotLinear(pattern, this.#proofs);
    if (reason !== undefined) throw new SchemaNotCheckableError(`Pattern ${quote(pattern)} is not proven to be fast: ${reason}`, at);
  }
}

function addCost(copy: SchemaCopy, cost: number): void {
  copy[STEP_COST] = (copy[STEP_COST] ?? 0) + cost;
}

function mapMembers(value: JsonValue, at: string, copyMember: (member: JsonValue, at: string) => unknown): object {
  const map = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value as Readonly<Record<string, JsonValue>>)) {
    map[name] = copyMember(member, `${at}/${escapePointer(name)}`);
  }
  return map;
}

/**
 * The interpreter writes all of `enum` and `const` into each error, of which it may keep thousands at once: what is long shows its start only.
 * A text cannot; see `shortenConst`.
 */
function withShortJson(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null || JSON.stringify(value).length <= SHOWN_CHARACTERS) return value;
  const shown = startOf(value, { characters: SHOWN_CHARACTERS });
  return Object.defineProperty(Array.isArray(value) ? [...value] : { ...value }, 'toJSON', { value: () => shown });
}

/** A long text is compared as the only value of an `enum`, which can be shown in short. */
function shortenConst(copy: SchemaCopy): void {
  const { const: text, enum: values = [text] } = copy;
  if (typeof text !== 'string' || text.length <= SHOWN_CHARACTERS) return;
  delete copy['const'];
  copy['enum'] = (values as readonly JsonValue[]).includes(text) ? withShortJson([text]) : [];
}

function startOf(value: JsonValue, left: { characters: number }): JsonValue {
  if (typeof value === 'string') {
    const start = value.slice(0, Math.max(0, left.characters));
    left.characters -= value.length;
    return start;
  }
  left.characters -= 2;
  if (typeof value !== 'object' || value === null) return value;
  const members: [string, JsonValue][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (left.characters <= 0 || member === undefined) break;
    members.push([startOf(name, left) as string, startOf(member, left)]);
  }
  if (!Array.isArray(value)) return Object.fromEntries(members);
  const items = members.map(([, item]) => item);
  return items.length < value.length ? [...items, '...'] : items;
}

/** Counts the values of a keyword, and stops a little above `enough`. */
function countValues(value: JsonValue, enough: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let count = 1;
  for (const member of Object.values(value)) {
    if (count > enough) break;
    if (member !== undefined) count += countValues(member, enough - count);
  }
  return count;
}

function countObjects(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>(
    (count, member) => count + (member === undefined ? 0 : countObjects(member)),
    Array.isArray(value) ? 0 : 1,
  );
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function shorten(pointer: string): string {
  return `${pointer.slice(0, 60)}...`;
}

function place(pointer: string): string {
  return pointer === '' ? 'the root' : `"${pointer}"`;
}

function quote(pattern: string): string {
  return JSON.stringify(pattern.length > 60 ? `${pattern.slice(0, 60)}...` : pattern);
}
