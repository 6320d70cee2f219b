/**
 * Checks a value against a schema, keyword by keyword, and says in one short sentence each what is wrong where. Nothing is evaluated as
 * code. Every step is counted, since the value, and perhaps the schema, is a peer's.
 *
 * @see JSON Schema 2020-12, core and validation
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { toCanonicalJson } from '@mortise/jsonrpc-core/encoding';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { SchemaIssue } from '../contracts/schema-adapter.ts';
import type { Dialect } from './check-json-schema.ts';
import { FORMATS } from './formats.ts';

/** The most issues that are named. */
const MAX_ISSUES = 20;
/** How much of an `enum`, a `const` or a pattern an issue shows. */
const SHOWN_CHARACTERS = 200;
/** The steps of one check: subschemas that meet a part of the value, members, characters of texts that are matched. */
const MAX_STEPS = 20_000_000;
/** How long one check may take, where the platform's clock runs on. */
const MAX_CHECK_MS = 2000;
/** Schemas within one another, references followed, down to the deepest part of the value. */
const MAX_DEPTH = 512;
/** How many steps lie between two looks at the clock. */
const STEPS_A_LOOK = 512;

/** Ends a check without a verdict. The message says why the value does not pass. */
export class Unchecked extends Error {
  readonly path: SchemaIssue['path'];

  constructor(message: string, path: SchemaIssue['path'] = []) {
    super(message);
    this.path = path;
  }
}

/** A `pattern`, and the longest text that it is tried on; 0 where it is not tried. */
export interface Pattern {
  readonly regex: RegExp;
  readonly maxCharacters: number;
}

/** What a value is checked against, and by which rules. */
export interface EvaluationRules {
  readonly dialect: Dialect;
  /** Where each `$ref` leads, by the schema that holds it. */
  readonly targets: ReadonlyMap<JsonObject, JsonValue>;
  /** Every pattern of the schema, by its source. */
  readonly patterns: ReadonlyMap<string, Pattern>;
  /** Why a text that is too long for its pattern does not pass; undefined lets it pass. */
  readonly tooLong: string | undefined;
}

/** What has been checked of an object or array: a name, an index, or all of it. `unevaluated*` apply to the rest. */
type Evaluated = string | number | typeof ALL;
const ALL = Symbol('all');

const MEMBER_KEYWORDS = [
  'properties',
  'patternProperties',
  'additionalProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
] as const;

type Members = Readonly<Record<string, JsonValue>>;
type Strings = readonly string[];
type Schemas = readonly JsonValue[];

/** One check of one value. */
export class Evaluation {
  readonly issues: SchemaIssue[] = [];
  readonly #rules: EvaluationRules;
  /** From the root of the value to the part that is checked. */
  readonly #path: (string | number)[] = [];
  /** Of the part that is checked; those of its own parts are taken back once they are checked. */
  readonly #evaluated: Evaluated[] = [];
  /** Above 0 where only the verdict counts: in branches, conditions and `contains`. */
  #quiet = 0;
  /** Within an odd number of `not`: there a pattern that is not tried must fail, so that the whole passes. */
  #isNegated = false;
  #depth = 0;
  #steps = 0;
  #nextLook = STEPS_A_LOOK;
  #endsAt = Number.NaN;

  constructor(rules: EvaluationRules) {
    this.#rules = rules;
  }

  /**
   * Whether the value fits.
   *
   * @throws {Unchecked} It takes too long, or a text is too long for its pattern.
   */
  check(schema: JsonValue | undefined, value: JsonValue): boolean {
    this.#spend(1);
    if (!isJsonObject(schema)) return schema !== false || this.#fail('is not allowed');
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new Unchecked(TOO_COSTLY);
    const fits = this.#checkSchema(schema, value);
    this.#depth -= 1;
    return fits;
  }

  #checkSchema(schema: JsonObject, value: JsonValue): boolean {
    const from = this.#evaluated.length;
    if (schema['$ref'] !== undefined) {
      const fits = this.check(this.#rules.targets.get(schema), value);
      // Beside `$ref`, draft-07 reads nothing.
      if (!fits || this.#rules.dialect === '7') return fits;
    }
    return (
      this.#checkType(schema, value) &&
      this.#checkEqual(schema, value) &&
      this.#checkParts(schema, value) &&
      this.#checkBranches(schema, value) &&
      this.#checkUnevaluated(schema, value, from)
    );
  }

  #checkType({ type }: JsonObject, value: JsonValue): boolean {
    if (type === undefined) return true;
    const types = (Array.isArray(type) ? type : [type]) as Strings;
    this.#spend(types.length);
    const actual = typeOf(value);
    if (types.includes(actual) || (types.includes('integer') && Number.isInteger(value))) return true;
    return this.#fail(() => `must be ${types.map((name) => NOUNS[name] ?? `a ${name}`).join(' or ')}`);
  }

  #checkEqual({ const: only, enum: values }: JsonObject, value: JsonValue): boolean {
    if (only !== undefined && !this.#isAmong([only], value)) return this.#fail(() => `must be ${shorten(JSON.stringify(only))}`);
    if (!Array.isArray(values) || this.#isAmong(values, value)) return true;
    return this.#fail(
      () => `must be ${values.length === 1 ? '' : 'one of '}${shorten(JSON.stringify(values.length === 1 ? values[0] : values))}`,
    );
  }

  #isAmong(values: Schemas, value: JsonValue): boolean {
    this.#spend(values.length);
    if (typeof value !== 'object' || value === null) return values.includes(value);
    const text = this.#toText(value);
    return values.some((each) => typeof each === 'object' && each !== null && this.#toText(each) === text);
  }

  /** One text for all equal values. */
  #toText(value: JsonValue): string {
    const text = toCanonicalJson(value);
    this.#spend(text.length);
    return text;
  }

  #checkParts(schema: JsonObject, value: JsonValue): boolean {
    if (typeof value === 'number') return this.#checkNumber(schema, value);
    if (typeof value === 'string') return this.#checkText(schema, value);
    if (Array.isArray(value)) return this.#checkArray(schema, value);
    return !isJsonObject(value) || this.#checkObject(schema, value);
  }

  #checkNumber(schema: JsonObject, value: number): boolean {
    const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity, multipleOf } = schema;
    if (value < Number(minimum)) return this.#fail(() => `must be at least ${String(minimum)}`);
    if (value > Number(maximum)) return this.#fail(() => `must be at most ${String(maximum)}`);
    if (value <= Number(exclusiveMinimum)) return this.#fail(() => `must be more than ${String(exclusiveMinimum)}`);
    if (value >= Number(exclusiveMaximum)) return this.#fail(() => `must be less than ${String(exclusiveMaximum)}`);
    return (
      multipleOf === undefined || isMultipleOf(value, Number(multipleOf)) || this.#fail(() => `must be a multiple of ${String(multipleOf)}`)
    );
  }

  #checkText({ minLength, maxLength, pattern, format }: JsonObject, text: string): boolean {
    if ((minLength ?? maxLength) !== undefined && !this.#checkLength(minLength, maxLength, this.#countCharacters(text), 'characters'))
      return false;
    if (pattern !== undefined && !(this.#matches(String(pattern), text) ?? !this.#isNegated))
      return this.#fail(() => `must match the pattern ${shorten(String(pattern))}`);
    const isGood = format === undefined ? undefined : FORMATS.get(String(format));
    if (isGood === undefined) return true;
    this.#spend(text.length);
    return isGood(text) || this.#fail(() => `must be of the format "${String(format)}"`);
  }

  #checkLength(min: JsonValue | undefined, max: JsonValue | undefined, length: number, of: string): boolean {
    if (length < Number(min ?? 0)) return this.#fail(() => `must have at least ${String(min)} ${of}`);
    return length <= Number(max ?? Infinity) || this.#fail(() => `must have at most ${String(max)} ${of}`);
  }

  /** In code points, as JSON Schema counts. */
  #countCharacters(text: string): number {
    this.#spend(text.length);
    return text.replace(/[\u{10000}-\u{10FFFF}]/gu, '.').length;
  }

  /** @returns undefined where a peer's pattern is not tried. */
  #matches(pattern: string, text: string): boolean | undefined {
    const { regex, maxCharacters } = this.#rules.patterns.get(pattern) as Pattern;
    this.#spend(Math.min(text.length, maxCharacters) + 1);
    if (text.length <= maxCharacters && maxCharacters > 0) return regex.test(text);
    if (this.#rules.tooLong !== undefined) throw new Unchecked(this.#rules.tooLong, [...this.#path]);
    return undefined;
  }

  #checkArray(schema: JsonObject, items: readonly JsonValue[]): boolean {
    const { minItems, maxItems, uniqueItems, contains, prefixItems, items: each, additionalItems } = schema;
    if (!this.#checkLength(minItems, maxItems, items.length, 'items')) return false;
    if (uniqueItems === true && new Set(items.map((item) => this.#toText(item))).size < items.length)
      return this.#fail('must not have the same item twice');
    const first = (Array.isArray(each) ? each : (prefixItems ?? [])) as Schemas;
    const rest = Array.isArray(each) ? additionalItems : each;
    const count = rest === undefined ? Math.min(first.length, items.length) : items.length;
    let fits = true;
    for (let index = 0; index < count && (fits || this.#isLoud); index += 1) {
      fits = this.#checkPart(first[index] ?? rest, items[index] ?? null, index) && fits;
      this.#evaluated.push(index);
    }
    return fits && (contains === undefined || this.#checkContains(schema, contains, items));
  }

  #checkContains({ minContains = 1, maxContains = Infinity }: JsonObject, contains: JsonValue, items: readonly JsonValue[]): boolean {
    let count = 0;
    for (const [index, item] of items.entries()) {
      if (!this.#isFit(contains, item, index)) continue;
      count += 1;
      this.#evaluated.push(index);
    }
    if (count < Number(minContains)) return this.#fail(() => `must have at least ${String(minContains)} items that fit "contains"`);
    return count <= Number(maxContains) || this.#fail(() => `must have at most ${String(maxContains)} items that fit "contains"`);
  }

  #checkObject(schema: JsonObject, value: JsonObject): boolean {
    const { required, minProperties, maxProperties } = schema;
    let fits = required === undefined || this.#checkRequired(required as Strings, value);
    // The names of a large object take long to list.
    if (MEMBER_KEYWORDS.every((keyword) => schema[keyword] === undefined)) return fits;
    const names = Object.keys(value);
    this.#spend(names.length);
    if (!this.#checkLength(minProperties, maxProperties, names.length, 'properties')) return false;
    for (const name of names) {
      if (!fits && !this.#isLoud) return false;
      fits = this.#checkMember(schema, name, value[name] ?? null) && fits;
    }
    return fits;
  }

  #checkRequired(names: Strings, value: JsonObject): boolean {
    this.#spend(names.length);
    let fits = true;
    for (const name of names) if (!Object.hasOwn(value, name)) fits = this.#fail('is required', name);
    return fits;
  }

  #checkMember(schema: JsonObject, name: string, member: JsonValue): boolean {
    const { properties, patternProperties, additionalProperties, propertyNames } = schema;
    this.#spend(1);
    if (propertyNames !== undefined && !this.#isFit(propertyNames, name, name)) return this.#fail('has a name that is not allowed', name);
    let isNamed = false;
    let fits = true;
    const own = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own !== undefined) {
      isNamed = true;
      fits = this.#checkPart(own, member, name);
    }
    if (patternProperties !== undefined)
      for (const [pattern, each] of Object.entries(patternProperties as Members)) {
        const isMatch = this.#matches(pattern, name);
        // A pattern that is not tried takes every name, so that `additionalProperties: false` refuses none for it.
        if (isMatch !== false) isNamed = true;
        if (isMatch === true) fits = this.#checkPart(each, member, name) && fits;
      }
    if (!isNamed && additionalProperties === undefined) return true;
    this.#evaluated.push(name);
    return isNamed ? fits : this.#checkRest(additionalProperties, member, name);
  }

  #checkRest(schema: JsonValue | undefined, member: JsonValue, name: string): boolean {
    return schema === false ? this.#fail('is not an allowed property', name) : this.#checkPart(schema, member, name);
  }

  #checkBranches(schema: JsonObject, value: JsonValue): boolean {
    const { allOf, anyOf, oneOf, not, if: condition, dependentRequired, dependentSchemas, dependencies } = schema;
    if (allOf !== undefined && !(allOf as Schemas).every((each) => this.check(each, value))) return false;
    if (anyOf !== undefined && this.#countFits(anyOf as Schemas, value) === 0) return this.#fail('must be one of the allowed forms');
    if (oneOf !== undefined && this.#countFits(oneOf as Schemas, value) !== 1)
      return this.#fail('must be exactly one of the allowed forms');
    if (not !== undefined && this.#fitsNegated(not, value)) return this.#fail('is of a form that is not allowed');
    if (condition !== undefined && !this.check(this.#fitsBranch(condition, value) ? schema['then'] : schema['else'], value)) return false;
    const dependent = [dependentRequired, dependentSchemas, dependencies];
    return dependent.every((members) => members === undefined || this.#checkDependent(members as Members, value));
  }

  /** Names or a schema, for objects that have the member. */
  #checkDependent(dependent: Members, value: JsonValue): boolean {
    if (!isJsonObject(value)) return true;
    const all = Object.entries(dependent);
    this.#spend(all.length);
    return all
      .filter(([name]) => Object.hasOwn(value, name))
      .every(([, needed]) => (Array.isArray(needed) ? this.#checkRequired(needed as Strings, value) : this.check(needed, value)));
  }

  #countFits(schemas: Schemas, value: JsonValue): number {
    return schemas.filter((schema) => this.#fitsBranch(schema, value)).length;
  }

  /** What an unfit branch evaluated does not count. */
  #fitsBranch(schema: JsonValue, value: JsonValue): boolean {
    const from = this.#evaluated.length;
    this.#quiet += 1;
    const fits = this.check(schema, value);
    this.#quiet -= 1;
    if (!fits) this.#forget(from);
    return fits;
  }

  #fitsNegated(schema: JsonValue, value: JsonValue): boolean {
    const from = this.#evaluated.length;
    this.#isNegated = !this.#isNegated;
    const fits = this.#fitsBranch(schema, value);
    this.#isNegated = !this.#isNegated;
    this.#forget(from);
    return fits;
  }

  #checkUnevaluated({ unevaluatedItems, unevaluatedProperties }: JsonObject, value: JsonValue, from: number): boolean {
    const rest = Array.isArray(value) ? unevaluatedItems : isJsonObject(value) ? unevaluatedProperties : undefined;
    if (rest === undefined) return true;
    this.#spend(this.#evaluated.length - from);
    const evaluated = new Set(this.#evaluated.slice(from));
    let fits = true;
    const keys = Array.isArray(value) ? value.keys() : Object.keys(value as JsonObject);
    for (const key of evaluated.has(ALL) ? [] : keys) {
      if (evaluated.has(key)) continue;
      if (!fits && !this.#isLoud) break;
      const part = (value as Members)[key] ?? null;
      fits = (typeof key === 'string' ? this.#checkRest(rest, part, key) : this.#checkPart(rest, part, key)) && fits;
    }
    this.#evaluated.push(ALL);
    return fits;
  }

  /** Checks a part of the value. */
  #checkPart(schema: JsonValue | undefined, part: JsonValue, key: string | number): boolean {
    const from = this.#evaluated.length;
    this.#path.push(key);
    const fits = this.check(schema, part);
    this.#path.pop();
    this.#forget(from);
    return fits;
  }

  #isFit(schema: JsonValue, part: JsonValue, key: string | number): boolean {
    this.#quiet += 1;
    const fits = this.#checkPart(schema, part, key);
    this.#quiet -= 1;
    return fits;
  }

  #forget(from: number): void {
    while (this.#evaluated.length > from) this.#evaluated.pop();
  }

  get #isLoud(): boolean {
    return this.#quiet === 0 && this.issues.length < MAX_ISSUES;
  }

  /** @param key Of a member that is missing or not allowed. */
  #fail(message: string | (() => string), key?: string): false {
    if (this.#isLoud)
      this.issues.push({
        message: typeof message === 'string' ? message : message(),
        path: key === undefined ? [...this.#path] : [...this.#path, key],
      });
    return false;
  }

  /** Ends a check that takes too many steps, or too long. A short one never looks at the clock. */
  #spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps < this.#nextLook) return;
    const now = performance.now();
    this.#nextLook = this.#steps + STEPS_A_LOOK;
    if (Number.isNaN(this.#endsAt)) this.#endsAt = now + MAX_CHECK_MS;
    if (this.#steps > MAX_STEPS || now > this.#endsAt) throw new Unchecked(TOO_COSTLY);
  }
}

export const TOO_COSTLY = 'takes too long to check against its schema';

const NOUNS: Readonly<Record<string, string>> = { array: 'an array', integer: 'an integer', object: 'an object', null: 'null' };

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
}

/** Exact for decimals: 0.3 is a multiple of 0.1. */
function isMultipleOf(value: number, of: number): boolean {
  const [digits, exponent] = toDecimal(value);
  const [otherDigits, otherExponent] = toDecimal(of);
  const shift = Math.min(exponent, otherExponent);
  return (digits * 10n ** BigInt(exponent - shift)) % (otherDigits * 10n ** BigInt(otherExponent - shift)) === 0n;
}

/** As an integer and the power of ten that it is multiplied by. */
function toDecimal(value: number): readonly [bigint, number] {
  const [digits = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
