/**
 * Which keywords JSON Schema has, what each must hold, and which hold subschemas. Server and validator share it: a server checks with it
 * what it shows to peers, without loading the validator.
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { SchemaNotCheckableError } from '../errors.ts';

type Test = (value: JsonValue) => boolean;

const TYPES: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const isText: Test = (value) => typeof value === 'string';
const isSchema: Test = (value) => typeof value === 'boolean' || isJsonObject(value);
const isCount: Test = (value) => Number.isInteger(value) && Number(value) >= 0;
const isListOf = (value: JsonValue, test: Test): value is readonly JsonValue[] => Array.isArray(value) && value.every(test);
const areNames: Test = (value) => isListOf(value, isText) && new Set(value).size === value.length;
const isMapOf = (value: JsonValue, test: Test): boolean =>
  isJsonObject(value) && Object.values(value).every((member) => member === undefined || test(member));

const MAPS = '$defs definitions dependentSchemas patternProperties properties';
const LISTS = 'allOf anyOf oneOf prefixItems';
const SINGLE =
  'additionalItems additionalProperties contains contentSchema else if not propertyNames then unevaluatedItems unevaluatedProperties';

/** The dialects that the validator knows. */
export type Dialect = '2020-12' | '7';

/** The dialect of a schema; undefined for one that the validator does not know. */
export function dialectOf(schema: JsonValue): Dialect | undefined {
  const name = isJsonObject(schema) ? schema['$schema'] : undefined;
  if (name === undefined) return '2020-12';
  const found = /^https?:\/\/json-schema\.org\/(draft\/2020-12|draft-07)\/schema#?$/.exec(String(name));
  if (found === null) return undefined;
  return found[1] === 'draft-07' ? '7' : '2020-12';
}

/** Keywords, the end of the sentence "must be", and what makes it true. Keywords that are not here say nothing about a value. */
const RULES: readonly (readonly [keywords: string, noun: string, test: Test])[] = [
  [
    '$schema $id $ref $anchor $dynamicRef $dynamicAnchor $comment title description format contentEncoding contentMediaType',
    'a string',
    isText,
  ],
  ['uniqueItems readOnly writeOnly deprecated', 'a boolean', (value) => typeof value === 'boolean'],
  ['minimum maximum exclusiveMinimum exclusiveMaximum', 'a number', (value) => typeof value === 'number'],
  ['multipleOf', 'a number above 0', (value) => typeof value === 'number' && value > 0],
  ['minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains', 'an integer, 0 or more', isCount],
  ['enum examples', 'an array', Array.isArray],
  ['const default', 'a JSON value', () => true],
  ['required', 'an array of different strings', areNames],
  ['dependentRequired', 'an object of arrays of strings', (value) => isMapOf(value, areNames)],
  ['dependencies', 'an object of schemas or arrays of strings', (value) => isMapOf(value, (each) => isSchema(each) || areNames(each))],
  [
    'type',
    `one of ${TYPES.join(', ')}, or an array of them`,
    (value) => TYPES.includes(value) || isNonEmpty(value, (each) => TYPES.includes(each)),
  ],
  ['pattern', 'a regular expression', isPattern],
  ['items', 'a schema, or in draft-07 an array of schemas', (value) => isSchema(value) || isListOf(value, isSchema)],
  [SINGLE, 'a schema', isSchema],
  [LISTS, 'an array of at least one schema', (value) => isNonEmpty(value, isSchema)],
  [MAPS, 'an object of schemas', (value) => isMapOf(value, isSchema)],
];

interface Rule {
  readonly noun: string;
  readonly test: Test;
}

/** Every keyword that is known, with what it must hold. */
export const KEYWORDS: ReadonlyMap<string, Rule> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ RULES.flatMap(([keywords, noun, test]) => keywords.split(' ').map((keyword) => [keyword, { noun, test }] as const)),
);

const SCHEMA_HOLDERS: ReadonlySet<string> = /* @__PURE__ */ new Set(`${SINGLE} ${LISTS} ${MAPS} items dependencies`.split(' '));
const MAP_HOLDERS: ReadonlySet<string> = /* @__PURE__ */ new Set(`${MAPS} dependencies`.split(' '));

/**
 * A copy of a schema in which each schema object directly inside it is what `change` makes of it.
 *
 * @param change Is given the subschema, the keyword that holds it, and its name or index there.
 */
export function mapSubschemas(
  schema: JsonObject,
  change: (subschema: JsonObject, keyword: string, key?: string | number) => JsonObject,
): JsonObject {
  const copy: Record<string, JsonValue | undefined> = { ...schema };
  for (const [keyword, value] of Object.entries(schema)) {
    if (!SCHEMA_HOLDERS.has(keyword)) continue;
    const changed = (member: JsonValue | undefined, key?: string | number): JsonValue | undefined =>
      isJsonObject(member) ? change(member, keyword, key) : member;
    if (Array.isArray(value)) copy[keyword] = value.map((item: JsonValue, index) => changed(item, index) ?? null);
    else if (!MAP_HOLDERS.has(keyword)) copy[keyword] = changed(value);
    else if (isJsonObject(value))
      copy[keyword] = Object.fromEntries(Object.entries(value).map(([name, sub]) => [name, changed(sub, name)]));
  }
  return copy;
}

/** Calls `visit` for each schema object directly inside a schema. */
export function forEachSubschema(schema: JsonObject, visit: (subschema: JsonObject, keyword: string, key?: string | number) => void): void {
  mapSubschemas(schema, (subschema, keyword, key) => {
    visit(subschema, keyword, key);
    return subschema;
  });
}

/**
 * Checks that keywords hold what they must, and that references lead somewhere. Nothing is fetched.
 *
 * @param visit Called for each schema object, before it is checked, with its place as a JSON Pointer and how deep it lies.
 * @throws {SchemaNotCheckableError} `ERR_SCHEMA_NOT_CHECKABLE`, naming the place, the rule and the remedy.
 * @see 2026-07-28 basic/index#json-schema-usage
 */
export function checkJsonSchema(root: JsonValue, visit?: (schema: JsonObject, pointer: string, depth: number) => void): void {
  if (!isSchema(root)) throw new SchemaNotCheckableError('a JSON Schema must be an object or a boolean', '');
  const references: { readonly ref: string; readonly pointer: string }[] = [];
  const anchors = new Set<string>();
  let hasIds = false;
  const dialect = dialectOf(root);
  const check = (schema: JsonObject, pointer: string, depth: number): void => {
    visit?.(schema, pointer, depth);
    if (schema['$schema'] !== undefined && dialectOf(schema) !== dialect)
      throw new SchemaNotCheckableError(
        `"$schema" at #${pointer} names another dialect than the root, which is not supported`,
        `${pointer}/$schema`,
      );
    if (dialect === '2020-12' && Array.isArray(schema['items']))
      throw new SchemaNotCheckableError(
        `"items" at #${pointer} must be a schema: an array of schemas is "prefixItems"`,
        `${pointer}/items`,
      );
    for (const [keyword, value] of Object.entries(schema)) if (value !== undefined) checkKeyword(keyword, value, pointer);
    const { $ref, $id, $anchor, $dynamicAnchor } = schema;
    if (typeof $ref === 'string') references.push({ ref: $ref, pointer });
    hasIds ||= typeof $id === 'string';
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') anchors.add(`#${anchor}`);
    forEachSubschema(schema, (sub, keyword, key) =>
      check(sub, `${pointer}/${keyword}${key === undefined ? '' : `/${escapePointer(String(key))}`}`, depth + 1),
    );
  };
  if (!isJsonObject(root)) return;
  check(root, '', 0);
  // An `$id` changes what references are relative to: then only the validator can say where they lead.
  if (hasIds) return;
  for (const { ref, pointer } of references) if (!anchors.has(ref) && !leadsSomewhere(root, ref)) throw unresolved(ref, pointer);
}

/** The error of a reference to something that the schema does not hold. */
export function unresolved(ref: string, pointer: string): SchemaNotCheckableError {
  return new SchemaNotCheckableError(
    `"$ref" at #${pointer} leads to ${JSON.stringify(ref.slice(0, 200))}, which is not in the schema, and nothing is fetched: put its target under "$defs"`,
    `${pointer}/$ref`,
  );
}

function checkKeyword(keyword: string, value: JsonValue, pointer: string): void {
  const rule = KEYWORDS.get(keyword);
  if (rule === undefined || rule.test(value)) return;
  const got = JSON.stringify(value).slice(0, 80);
  throw new SchemaNotCheckableError(`"${keyword}" at #${pointer} must be ${rule.noun}, got ${got}`, `${pointer}/${keyword}`);
}

function leadsSomewhere(root: JsonObject, ref: string): boolean {
  if (ref !== '#' && !ref.startsWith('#/')) return false;
  let at: JsonValue | undefined = root;
  for (const token of ref.split('/').slice(1)) {
    const key = decodePointer(token);
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as Readonly<Record<string, JsonValue | undefined>>)[key];
  }
  return at !== undefined;
}

function isNonEmpty(value: JsonValue, test: Test): boolean {
  return isListOf(value, test) && value.length > 0;
}

/** Libraries write some patterns (an escaped `-` outside a class) that only the form without the `u` flag reads. */
function isPattern(value: JsonValue): boolean {
  return typeof value === 'string' && ['u', ''].some((flags) => compiles(value, flags));
}

/** Whether a pattern is a regular expression with these flags. */
export function compiles(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

/** One step of a JSON Pointer. @see RFC 6901 section 3 */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The name that one step of a JSON Pointer in a URI fragment stands for. @see RFC 6901 section 6 */
export function decodePointer(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return token;
  }
}
