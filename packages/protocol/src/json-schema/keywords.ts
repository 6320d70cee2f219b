/** The checks of a value by JSON Schema keyword. They assume that `checkJsonSchema` has checked the values of the keywords. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { toCanonicalJson } from '@mortise/jsonrpc-core/encoding';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Dialect } from './check-json-schema.ts';
import type { Evaluation } from './evaluate.ts';
import { FORMATS } from './formats.ts';

/**
 * Checks a value against some keywords of a schema.
 *
 * @param from The index in `run.evaluated` at which the entries of this schema begin.
 */
export type KeywordCheck = (run: Evaluation, schema: JsonObject, value: JsonValue, from: number) => boolean;

type Members = Readonly<Record<string, JsonValue>>;
type Strings = readonly string[];
type Schemas = readonly JsonValue[];

/** The maximum length of an `enum`, `const` or pattern shown in an issue, in characters. */
const SHOWN_CHARACTERS = 200;
const ALL = Symbol('all');

/** All keyword checks, in the order in which they run. `unevaluated*` come last because they depend on the other keywords. */
const CHECKS: readonly (readonly [keywords: string, check: KeywordCheck])[] = [
  ['$ref', (run, schema, value) => run.check(run.rules.targets.get(schema), value)],
  ['type', checkType],
  ['const', checkConst],
  ['enum', checkEnum],
  ['minimum maximum exclusiveMinimum exclusiveMaximum multipleOf', checkNumber],
  ['minLength maxLength pattern format', checkText],
  ['minItems maxItems uniqueItems prefixItems items additionalItems', checkItems],
  ['contains', checkContains],
  ['required', (run, { required }, value) => checkRequired(run, required as Strings, value)],
  ['minProperties maxProperties', checkCount],
  ['properties patternProperties additionalProperties propertyNames', checkMembers],
  ['dependentRequired dependentSchemas dependencies', checkDependent],
  ['allOf', (run, { allOf }, value) => (allOf as Schemas).every((each) => run.check(each, value))],
  ['anyOf', (run, { anyOf }, value) => countFits(run, anyOf, value) > 0 || run.fail('must be one of the allowed forms')],
  ['oneOf', (run, { oneOf }, value) => countFits(run, oneOf, value) === 1 || run.fail('must be exactly one of the allowed forms')],
  ['not', checkNot],
  ['if', (run, { if: condition = true, then: yes, else: no }, value) => run.check(run.fitsBranch(condition, value) ? yes : no, value)],
  ['unevaluatedItems unevaluatedProperties', checkUnevaluated],
];

/** Returns the keyword checks that apply to a schema object. */
export function checksOf(schema: JsonObject, dialect: Dialect): readonly KeywordCheck[] {
  // In draft-07, `$ref` makes all keywords beside it ignored.
  const read = dialect === '7' && schema['$ref'] !== undefined ? CHECKS.slice(0, 1) : CHECKS;
  return read.filter(([keywords]) => keywords.split(' ').some((keyword) => schema[keyword] !== undefined)).map(([, check]) => check);
}

const NOUNS: Readonly<Record<string, string>> = { array: 'an array', integer: 'an integer', object: 'an object', null: 'null' };

function checkType(run: Evaluation, { type }: JsonObject, value: JsonValue): boolean {
  const types = (Array.isArray(type) ? type : [type]) as Strings;
  run.spend(types.length);
  const actual = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  if (types.includes(actual) || (types.includes('integer') && Number.isInteger(value))) return true;
  return run.fail(() => `must be ${types.map((name) => NOUNS[name] ?? `a ${name}`).join(' or ')}`);
}

function checkConst(run: Evaluation, { const: only = null }: JsonObject, value: JsonValue): boolean {
  return isAmong(run, [only], value) || run.fail(() => `must be ${shorten(JSON.stringify(only))}`);
}

function checkEnum(run: Evaluation, schema: JsonObject, value: JsonValue): boolean {
  const values = schema['enum'] as readonly JsonValue[];
  const text = (): string => shorten(JSON.stringify(values.length === 1 ? values[0] : values));
  return isAmong(run, values, value) || run.fail(() => `must be ${values.length === 1 ? '' : 'one of '}${text()}`);
}

function isAmong(run: Evaluation, values: readonly JsonValue[], value: JsonValue): boolean {
  run.spend(values.length);
  if (typeof value !== 'object' || value === null) return values.includes(value);
  const text = toText(run, value);
  return values.some((each) => typeof each === 'object' && each !== null && toText(run, each) === text);
}

/** Converts a value to canonical JSON, which is the same for equal values. */
function toText(run: Evaluation, value: JsonValue): string {
  const text = toCanonicalJson(value);
  run.spend(text.length);
  return text;
}

function shorten(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text;
}

function checkNumber(run: Evaluation, schema: JsonObject, value: JsonValue): boolean {
  if (typeof value !== 'number') return true;
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity, multipleOf } = schema;
  if (value < Number(minimum)) return run.fail(() => `must be at least ${String(minimum)}`);
  if (value > Number(maximum)) return run.fail(() => `must be at most ${String(maximum)}`);
  if (value <= Number(exclusiveMinimum)) return run.fail(() => `must be more than ${String(exclusiveMinimum)}`);
  if (value >= Number(exclusiveMaximum)) return run.fail(() => `must be less than ${String(exclusiveMaximum)}`);
  if (multipleOf === undefined || isMultipleOf(value, Number(multipleOf))) return true;
  return run.fail(() => `must be a multiple of ${String(multipleOf)}`);
}

/** Tells whether a number is a multiple of another. Computes with decimals, not binary floats, so that 0.3 is a multiple of 0.1. */
function isMultipleOf(value: number, of: number): boolean {
  const [digits, exponent] = toDecimal(value);
  const [otherDigits, otherExponent] = toDecimal(of);
  const shift = Math.min(exponent, otherExponent);
  return (digits * 10n ** BigInt(exponent - shift)) % (otherDigits * 10n ** BigInt(otherExponent - shift)) === 0n;
}

/** Splits a number into an integer and an exponent of ten: 1.5 becomes 15 and -1. */
function toDecimal(value: number): readonly [bigint, number] {
  const [digits = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}

function checkText(run: Evaluation, { minLength, maxLength, pattern, format }: JsonObject, text: JsonValue): boolean {
  if (typeof text !== 'string') return true;
  run.spend(text.length);
  // JSON Schema counts code points, `length` counts UTF-16 units.
  const length = (minLength ?? maxLength) === undefined ? 0 : text.replace(/[\u{10000}-\u{10FFFF}]/gu, '.').length;
  if (!checkLength(run, minLength, maxLength, length, 'characters')) return false;
  if (pattern !== undefined && !(run.matches(String(pattern), text) ?? !run.isNegated))
    return run.fail(() => `must match the pattern ${shorten(String(pattern))}`);
  const isGood = FORMATS.get(String(format));
  return isGood === undefined || isGood(text) || run.fail(() => `must be of the format "${String(format)}"`);
}

function checkLength(run: Evaluation, min: JsonValue | undefined, max: JsonValue | undefined, length: number, of: string): boolean {
  if (length < Number(min ?? 0)) return run.fail(() => `must have at least ${String(min)} ${of}`);
  return length <= Number(max ?? Infinity) || run.fail(() => `must have at most ${String(max)} ${of}`);
}

function checkItems(run: Evaluation, schema: JsonObject, value: JsonValue): boolean {
  if (!Array.isArray(value)) return true;
  const list = value as readonly JsonValue[];
  const { minItems, maxItems, uniqueItems, prefixItems, items, additionalItems } = schema;
  if (!checkLength(run, minItems, maxItems, list.length, 'items')) return false;
  if (uniqueItems === true && new Set(list.map((item) => toText(run, item))).size < list.length)
    return run.fail('must not have the same item twice');
  const first = (Array.isArray(items) ? items : (prefixItems ?? [])) as Schemas;
  const rest = Array.isArray(items) ? additionalItems : items;
  const count = rest === undefined ? Math.min(first.length, list.length) : list.length;
  let fits = true;
  for (let index = 0; index < count && (fits || run.isLoud); index += 1) {
    fits = run.checkPart(first[index] ?? rest, list[index] ?? null, index) && fits;
    run.evaluated.push(index);
  }
  return fits;
}

function checkContains(run: Evaluation, schema: JsonObject, value: JsonValue): boolean {
  if (!Array.isArray(value)) return true;
  const { contains = true, minContains = 1, maxContains = Infinity } = schema;
  let count = 0;
  for (const [index, item] of (value as readonly JsonValue[]).entries()) {
    if (!run.fitsPart(contains, item, index)) continue;
    count += 1;
    run.evaluated.push(index);
  }
  if (count < Number(minContains)) return run.fail(() => `must have at least ${String(minContains)} items that fit "contains"`);
  return count <= Number(maxContains) || run.fail(() => `must have at most ${String(maxContains)} items that fit "contains"`);
}

function checkRequired(run: Evaluation, names: Strings, value: JsonValue): boolean {
  if (!isJsonObject(value)) return true;
  run.spend(names.length);
  let fits = true;
  for (const name of names) if (!Object.hasOwn(value, name)) fits = run.fail('is required', name);
  return fits;
}

function checkCount(run: Evaluation, { minProperties, maxProperties }: JsonObject, value: JsonValue): boolean {
  if (!isJsonObject(value)) return true;
  const { length } = Object.keys(value);
  run.spend(length);
  return checkLength(run, minProperties, maxProperties, length, 'properties');
}

function checkMembers(run: Evaluation, schema: JsonObject, value: JsonValue): boolean {
  if (!isJsonObject(value)) return true;
  const { properties, patternProperties, additionalProperties, propertyNames } = schema;
  const named = (properties ?? {}) as Members;
  const patterns = patternProperties === undefined ? [] : Object.entries(patternProperties as Members);
  let fits = true;
  for (const name of Object.keys(value)) {
    run.spend(1);
    if (!fits && !run.isLoud) break;
    const member = value[name] ?? null;
    if (propertyNames !== undefined && !run.fitsPart(propertyNames, name, name)) fits = run.fail('has a name that is not allowed', name);
    let isNamed = Object.hasOwn(named, name);
    if (isNamed) fits = run.checkPart(named[name], member, name) && fits;
    for (const [pattern, each] of patterns) {
      const isMatch = run.matches(pattern, name);
      // An untested pattern counts as matching, so that `additionalProperties: false` does not reject a valid name.
      if (isMatch !== false) isNamed = true;
      if (isMatch === true) fits = run.checkPart(each, member, name) && fits;
    }
    if (!isNamed && additionalProperties !== undefined) fits = checkOther(run, additionalProperties, member, name) && fits;
    if (isNamed || additionalProperties !== undefined) run.evaluated.push(name);
  }
  return fits;
}

/** Checks a member or item to which an `additional*` or `unevaluated*` keyword applies. */
function checkOther(run: Evaluation, schema: JsonValue, member: JsonValue, key: string | number): boolean {
  return schema === false && typeof key === 'string' ? run.fail('is not an allowed property', key) : run.checkPart(schema, member, key);
}

/** Checks the `dependent*` keywords: the required names, or a schema, for each member that the object has. */
function checkDependent(run: Evaluation, schema: JsonObject, value: JsonValue): boolean {
  if (!isJsonObject(value)) return true;
  const { dependentRequired, dependentSchemas, dependencies } = schema;
  const dependent = [dependentRequired, dependentSchemas, dependencies].flatMap((each) => Object.entries((each ?? {}) as Members));
  run.spend(dependent.length);
  return dependent
    .filter(([name]) => Object.hasOwn(value, name))
    .every(([, needed]) => (Array.isArray(needed) ? checkRequired(run, needed as Strings, value) : run.check(needed, value)));
}

function countFits(run: Evaluation, schemas: JsonValue | undefined, value: JsonValue): number {
  return (schemas as Schemas).filter((schema) => run.fitsBranch(schema, value)).length;
}

/** Checks `not`. Members evaluated within it need not be removed from the list: if it matches, the whole value is invalid anyway. */
function checkNot(run: Evaluation, { not = false }: JsonObject, value: JsonValue): boolean {
  run.isNegated = !run.isNegated;
  const fits = run.fitsBranch(not, value);
  run.isNegated = !run.isNegated;
  return !fits || run.fail('is of a form that is not allowed');
}

function checkUnevaluated(run: Evaluation, schema: JsonObject, value: JsonValue, from: number): boolean {
  const rest = Array.isArray(value) ? schema['unevaluatedItems'] : isJsonObject(value) ? schema['unevaluatedProperties'] : undefined;
  if (rest === undefined) return true;
  run.spend(run.evaluated.length - from);
  const evaluated = new Set(run.evaluated.slice(from));
  let fits = true;
  const keys = Array.isArray(value) ? value.keys() : Object.keys(value as JsonObject);
  for (const key of evaluated.has(ALL) ? [] : keys) {
    if (evaluated.has(key)) continue;
    if (!fits && !run.isLoud) break;
    fits = checkOther(run, rest, (value as Members)[key] ?? null, key) && fits;
  }
  run.evaluated.push(ALL);
  return fits;
}
