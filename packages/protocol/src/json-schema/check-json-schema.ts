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
  [
    'patternProperties',
    'an object of schemas by regular expressions',
    (value) => isMapOf(value, isSchema) && Object.keys(value as JsonObject).every(isPattern),
  ],
];

interface Rule {
  readonly noun: string;
  readonly test: Test;
}

const KEYWORDS: ReadonlyMap<string, Rule> = /* @__PURE__ */ new Map(
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

/** Called for each schema object, before it is checked. @param pointer Its place in the root. @param depth How deep it lies. */
export type SchemaVisitor = (schema: JsonObject, pointer: string, depth: number) => void;

/**
 * Checks that keywords hold what they must, and that references lead to a schema within the root. Nothing is fetched.
 *
 * @returns Where each `$ref` leads, by the schema object that holds it.
 * @throws {SchemaNotCheckableError} `ERR_SCHEMA_NOT_CHECKABLE`, naming the place, the rule and the remedy.
 * @see 2026-07-28 basic/index#json-schema-usage
 */
export function checkJsonSchema(root: JsonValue, visit?: SchemaVisitor): ReadonlyMap<JsonObject, JsonValue> {
  if (!isSchema(root)) throw new SchemaNotCheckableError('a JSON Schema must be an object or a boolean', '');
  const dialect = dialectOf(root);
  const references = new References();
  const check = (schema: JsonObject, pointer: string, depth: number, around: string): void => {
    visit?.(schema, pointer, depth);
    checkKeywords(schema, pointer, dialect);
    const base = references.add(schema, pointer, around, dialect);
    forEachSubschema(schema, (sub, keyword, key) =>
      check(sub, `${pointer}/${keyword}${key === undefined ? '' : `/${escapePointer(String(key))}`}`, depth + 1, base),
    );
  };
  if (isJsonObject(root)) check(root, '', 0, ROOT_URI);
  return references.resolve();
}

function checkKeywords(schema: JsonObject, pointer: string, dialect: Dialect | undefined): void {
  if (schema['$schema'] !== undefined && dialectOf(schema) !== dialect)
    throw new SchemaNotCheckableError(
      `"$schema" at #${pointer} names another dialect than the root, which is not supported`,
      `${pointer}/$schema`,
    );
  if (dialect === '2020-12' && Array.isArray(schema['items']))
    throw new SchemaNotCheckableError(`"items" at #${pointer} must be a schema: an array of schemas is "prefixItems"`, `${pointer}/items`);
  for (const [keyword, value] of Object.entries(schema)) if (value !== undefined) checkKeyword(keyword, value, pointer);
}

function checkKeyword(keyword: string, value: JsonValue, pointer: string): void {
  const rule = KEYWORDS.get(keyword);
  if (rule === undefined || rule.test(value)) return;
  const got = JSON.stringify(value).slice(0, 80);
  throw new SchemaNotCheckableError(`"${keyword}" at #${pointer} must be ${rule.noun}, got ${got}`, `${pointer}/${keyword}`);
}

/** The address of a root that gives itself none. */
const ROOT_URI = 'https://schema.invalid/';

/** The schemas of one document by their addresses, and the references between them. */
class References {
  /** Schemas with an `$id`, and the root, by address; those with an anchor by address and anchor. */
  readonly #byUri = new Map<string, JsonObject>();
  /** What the references in a schema are relative to. */
  readonly #bases = new Map<JsonObject, string>();
  readonly #found: { readonly schema: JsonObject; readonly ref: string; readonly pointer: string }[] = [];

  /** @returns The base of the schemas inside. */
  add(schema: JsonObject, pointer: string, around: string, dialect: Dialect | undefined): string {
    const { $ref, $id, $anchor, $dynamicAnchor } = schema;
    // Beside `$ref`, draft-07 reads nothing.
    const id = typeof $id === 'string' && (dialect !== '7' || $ref === undefined) ? $id : '';
    const base = id === '' || id.startsWith('#') ? around : toUri(id, around);
    if (base === undefined) throw new SchemaNotCheckableError(`"$id" at #${pointer} must be a URI`, `${pointer}/$id`);
    if (base !== around || pointer === '') this.#byUri.set(base, schema);
    for (const anchor of [$anchor, $dynamicAnchor, /^#(.+)/.exec(id)?.[1]])
      if (typeof anchor === 'string') this.#byUri.set(`${base}#${anchor}`, schema);
    this.#bases.set(schema, base);
    if (typeof $ref === 'string') this.#found.push({ schema, ref: $ref, pointer });
    return base;
  }

  resolve(): ReadonlyMap<JsonObject, JsonValue> {
    const targets = new Map<JsonObject, JsonValue>();
    for (const { schema, ref, pointer } of this.#found) {
      const target = this.#find(ref, this.#bases.get(schema) ?? ROOT_URI);
      if (target === undefined)
        throw new SchemaNotCheckableError(
          `"$ref" at #${pointer} leads to ${JSON.stringify(ref.slice(0, 200))}, which is not in the schema, and nothing is fetched: put its target under "$defs"`,
          `${pointer}/$ref`,
        );
      targets.set(schema, target);
    }
    return targets;
  }

  #find(ref: string, base: string): JsonValue | undefined {
    const [address = '', fragment = ''] = ref.split('#', 2);
    const uri = address === '' ? base : toUri(address, base);
    if (uri === undefined) return undefined;
    if (fragment !== '' && !fragment.startsWith('/')) return this.#byUri.get(`${uri}#${decodePointer(fragment)}`);
    let at: JsonValue | undefined = this.#byUri.get(uri);
    for (const token of fragment.split('/').slice(1)) {
      const key = decodePointer(token);
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
      at = (at as Readonly<Record<string, JsonValue | undefined>>)[key];
    }
    return typeof at === 'boolean' || this.#bases.has(at as JsonObject) ? at : undefined;
  }
}

/** The absolute form of a reference without its fragment; undefined where there is none. */
function toUri(reference: string, base: string): string | undefined {
  try {
    const url = new URL(reference, base);
    url.hash = '';
    return url.href;
  } catch {
    return undefined;
  }
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
function escapePointer(name: string): string {
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
