/**
 * Checks that a JSON Schema is itself valid: the values of its keywords and its references. The validator uses it, and servers use it
 * without the validator for the schemas that they send.
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

/** The JSON Schema dialects that the validator supports. */
export type Dialect = '2020-12' | '7';

/** Reads the dialect of a schema from `$schema`; undefined if the validator does not support it. */
export function dialectOf(schema: JsonValue): Dialect | undefined {
  const name = isJsonObject(schema) ? schema['$schema'] : undefined;
  if (name === undefined) return '2020-12';
  const found = /^https?:\/\/json-schema\.org\/(draft\/2020-12|draft-07)\/schema#?$/.exec(String(name));
  if (found === null) return undefined;
  return found[1] === 'draft-07' ? '7' : '2020-12';
}

/** Keywords, the end of the error message "must be ...", and the test of the keyword's value. Unknown keywords are ignored. */
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
 * Copies a schema, and replaces each schema object directly inside it by the result of `change`.
 *
 * @param change Gets the subschema, the keyword that contains it, and its name or index there.
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
 * Called for each schema object, root included, before its check.
 * @param pointer JSON Pointer from the root.
 * @param depth 0 for the root.
 */
export type SchemaVisitor = (schema: JsonObject, pointer: string, depth: number) => void;

/**
 * Checks that keywords have valid values, and that every `$ref` leads to a schema within the root. Fetches nothing.
 *
 * @returns The target of each `$ref`, by the schema object that contains the `$ref`.
 * @throws {SchemaNotCheckableError} `ERR_SCHEMA_NOT_CHECKABLE`: a keyword or reference is invalid; the message says which.
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
    throw new SchemaNotCheckableError(`"$schema" at #${pointer} must name the same dialect as the root schema`, `${pointer}/$schema`);
  if (dialect === '2020-12' && Array.isArray(schema['items']))
    throw new SchemaNotCheckableError(
      `"items" at #${pointer} must be a schema: for an array of schemas use "prefixItems"`,
      `${pointer}/items`,
    );
  for (const [keyword, value] of Object.entries(schema)) if (value !== undefined) checkKeyword(keyword, value, pointer);
}

function checkKeyword(keyword: string, value: JsonValue, pointer: string): void {
  const rule = KEYWORDS.get(keyword);
  if (rule === undefined || rule.test(value)) return;
  const got = JSON.stringify(value).slice(0, 80);
  throw new SchemaNotCheckableError(`"${keyword}" at #${pointer} must be ${rule.noun}, got ${got}`, `${pointer}/${keyword}`);
}

/** The base URI of a root schema without `$id`. */
const ROOT_URI = 'https://schema.invalid/';

/** The schemas of one JSON Schema document by URI, and the references between them. */
class References {
  /** The root schema and schemas with an `$id`, by URI; schemas with an anchor, by URI and anchor. */
  readonly #byUri = new Map<string, JsonObject>();
  /** The base URI of each schema, against which its references are resolved. */
  readonly #bases = new Map<JsonObject, string>();
  readonly #found: { readonly schema: JsonObject; readonly ref: string; readonly pointer: string }[] = [];

  /** Adds a schema and its reference. @returns The base URI for its subschemas. */
  add(schema: JsonObject, pointer: string, around: string, dialect: Dialect | undefined): string {
    const { $ref, $id, $anchor, $dynamicAnchor } = schema;
    // In draft-07, `$ref` makes all keywords beside it ignored.
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
          `"$ref" at #${pointer} leads to ${JSON.stringify(ref.slice(0, 200))}, which is not in the schema. References are not fetched: put the target under "$defs"`,
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

/** Resolves a reference to an absolute URI without fragment; undefined if it is invalid. */
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

/** Tells whether a value is a regular expression, with or without the `u` flag. Some schema libraries write patterns valid only without. */
function isPattern(value: JsonValue): boolean {
  return typeof value === 'string' && ['u', ''].some((flags) => compiles(value, flags));
}

/** Tells whether a pattern is a valid regular expression with the given flags. */
export function compiles(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}

/** Encodes a name as one token of a JSON Pointer. @see RFC 6901 section 3 */
function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Decodes one token of a JSON Pointer in a URI fragment. @see RFC 6901 section 6 */
export function decodePointer(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return token;
  }
}
