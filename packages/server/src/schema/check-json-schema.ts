/** Checks that a schema which peers will be told is a JSON Schema at all: words of the right kind, references that lead somewhere. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { unsupported, type SchemaPlace } from './schema-purpose.ts';
import { forEachSubschema } from './walk-json-schema.ts';

/** Far more than schemas have that people write, far less than would keep a reader busy. */
const MAX_DEPTH = 64;
const MAX_SUBSCHEMAS = 10_000;

const TYPES: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** What the value of a keyword must be, told as the end of "must be". Keywords that are not here may hold anything. */
interface Rule {
  readonly noun: string;
  readonly holds: (value: JsonValue) => boolean;
}

const isText = (value: JsonValue): boolean => typeof value === 'string';
const isSchema = (value: JsonValue): boolean => typeof value === 'boolean' || isJsonObject(value);
const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value);

const TEXT: Rule = { noun: 'a string', holds: isText };
const FLAG: Rule = { noun: 'a boolean', holds: (value) => typeof value === 'boolean' };
const NUMBER: Rule = { noun: 'a number', holds: (value) => typeof value === 'number' };
const COUNT: Rule = { noun: 'a whole number of at least 0', holds: (value) => Number.isInteger(value) && Number(value) >= 0 };
const TEXTS: Rule = {
  noun: 'an array of different strings',
  holds: (value) => isList(value) && value.every(isText) && new Set(value).size === value.length,
};
const SCHEMA: Rule = { noun: 'a schema', holds: isSchema };
const SCHEMAS: Rule = {
  noun: 'a list of at least one schema',
  holds: (value) => isList(value) && value.length > 0 && value.every(isSchema),
};
const SCHEMAS_BY_NAME: Rule = {
  noun: 'an object of schemas',
  holds: (value) => isJsonObject(value) && Object.values(value).every((each) => each === undefined || isSchema(each)),
};
const TYPE: Rule = {
  noun: `one of ${TYPES.join(', ')}, or a list of them`,
  holds: (value) => TYPES.includes(value) || (isList(value) && value.length > 0 && value.every((each) => TYPES.includes(each))),
};

/** @see JSON Schema 2020-12, core, applicator, validation and meta-data vocabularies; older words where they still differ */
const RULES: Readonly<Record<string, Rule>> = {
  $schema: TEXT,
  $id: TEXT,
  $ref: TEXT,
  $anchor: TEXT,
  $dynamicRef: TEXT,
  $dynamicAnchor: TEXT,
  $comment: TEXT,
  $defs: SCHEMAS_BY_NAME,
  definitions: SCHEMAS_BY_NAME,
  type: TYPE,
  enum: { noun: 'an array', holds: isList },
  required: TEXTS,
  properties: SCHEMAS_BY_NAME,
  patternProperties: SCHEMAS_BY_NAME,
  dependentSchemas: SCHEMAS_BY_NAME,
  additionalProperties: SCHEMA,
  propertyNames: SCHEMA,
  unevaluatedProperties: SCHEMA,
  unevaluatedItems: SCHEMA,
  contains: SCHEMA,
  items: { noun: 'a schema', holds: (value) => isSchema(value) || (isList(value) && value.every(isSchema)) },
  not: SCHEMA,
  if: SCHEMA,
  then: SCHEMA,
  else: SCHEMA,
  contentSchema: SCHEMA,
  allOf: SCHEMAS,
  anyOf: SCHEMAS,
  oneOf: SCHEMAS,
  prefixItems: SCHEMAS,
  minLength: COUNT,
  maxLength: COUNT,
  minItems: COUNT,
  maxItems: COUNT,
  minProperties: COUNT,
  maxProperties: COUNT,
  minContains: COUNT,
  maxContains: COUNT,
  minimum: NUMBER,
  maximum: NUMBER,
  multipleOf: { noun: 'a number above 0', holds: (value) => typeof value === 'number' && value > 0 },
  exclusiveMinimum: { noun: 'a number', holds: (value) => typeof value === 'number' || typeof value === 'boolean' },
  exclusiveMaximum: { noun: 'a number', holds: (value) => typeof value === 'number' || typeof value === 'boolean' },
  pattern: { noun: 'a regular expression', holds: isPattern },
  title: TEXT,
  description: TEXT,
  format: TEXT,
  contentEncoding: TEXT,
  contentMediaType: TEXT,
  uniqueItems: FLAG,
  readOnly: FLAG,
  writeOnly: FLAG,
  deprecated: FLAG,
  examples: { noun: 'an array', holds: isList },
};

/**
 * @throws {SchemaUnsupportedError} Naming the place in the schema, what is wrong there, and what to do.
 * @see 2026-07-28 basic/index#schema-validation
 */
export function checkJsonSchema(root: JsonObject, place: SchemaPlace): void {
  const references: { readonly ref: string; readonly at: string }[] = [];
  const ids = new Set<string>();
  let count = 0;
  const visit = (schema: JsonValue, at: string, depth: number): void => {
    count += 1;
    if (depth > MAX_DEPTH || count > MAX_SUBSCHEMAS)
      throw unsupported(place, `nests deeper than ${MAX_DEPTH} or has more than ${MAX_SUBSCHEMAS} subschemas: make it smaller`);
    if (!isJsonObject(schema)) return;
    checkKeywords(schema, at, place);
    if (typeof schema['$ref'] === 'string') references.push({ ref: schema['$ref'], at });
    if (typeof schema['$id'] === 'string') ids.add(schema['$id']);
    forEachSubschema(schema, (sub, keyword, key) => visit(sub, `${at}/${keyword}${key === undefined ? '' : `/${key}`}`, depth + 1));
  };
  visit(root, '#', 0);
  if (ids.size === 0) for (const { ref, at } of references) checkReference(root, ref, at, place);
}

function checkKeywords(schema: JsonObject, at: string, place: SchemaPlace): void {
  for (const [keyword, value] of Object.entries(schema)) {
    const rule = Object.hasOwn(RULES, keyword) ? RULES[keyword] : undefined;
    if (rule !== undefined && value !== undefined && !rule.holds(value)) {
      throw unsupported(
        place,
        `is not a valid JSON Schema: "${keyword}" at ${at} must be ${rule.noun}, got ${JSON.stringify(value).slice(0, 80)}`,
      );
    }
  }
}

/** Peers resolve nothing outside the schema itself, so a reference to elsewhere says nothing to them. Where `$id`s set bases, the reader's library decides. */
function checkReference(root: JsonObject, ref: string, at: string, place: SchemaPlace): void {
  if (!ref.startsWith('#'))
    throw unsupported(place, `refers to "${ref}" at ${at}, which no peer fetches: put the definition under "$defs"`);
  const isPointer = ref === '#' || ref.startsWith('#/');
  if (isPointer && !leadsSomewhere(root, ref)) throw unsupported(place, `refers to "${ref}" at ${at}, which is not in the schema`);
}

function leadsSomewhere(root: JsonObject, ref: string): boolean {
  let at: JsonValue | undefined = root;
  for (const token of ref.split('/').slice(1)) {
    const key = decodeURIComponentOr(token).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as Readonly<Record<string, JsonValue | undefined>>)[key];
  }
  return at !== undefined;
}

function decodeURIComponentOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isPattern(value: JsonValue): boolean {
  if (typeof value !== 'string') return false;
  try {
    return new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return isLoosePattern(value);
  }
}

/** Libraries write some patterns (an escaped `-` outside a class) that only the form without the `u` flag reads. */
function isLoosePattern(value: string): boolean {
  try {
    return new RegExp(value) instanceof RegExp;
  } catch {
    return false;
  }
}
