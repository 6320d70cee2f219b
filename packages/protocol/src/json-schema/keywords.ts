/** The keywords of JSON Schema that say something about a value, by dialect, and what each must be itself. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';

/** The dialects that are supported. */
export type Dialect = '2020-12' | '7';

/** Dialects by their `$schema`, with https and without a closing `#`. */
export const DIALECTS: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['https://json-schema.org/draft-07/schema', '7'],
]);

/** What a keyword's value is. */
export type Keyword =
  | 'schema'
  | 'schemas'
  | 'schema-or-schemas'
  | 'schema-map'
  | 'pattern-map'
  | 'dependencies'
  | 'number'
  | 'positive'
  | 'count'
  | 'boolean'
  | 'string'
  | 'strings'
  | 'strings-map'
  | 'values'
  | 'any'
  | 'type'
  | 'pattern'
  | 'format'
  | 'dialect'
  | 'unsupported';

/** Formats that are checked; all of them in linear time. Others say something to people only, as JSON Schema has it by default. */
export const SAFE_FORMATS: ReadonlySet<string> = new Set([
  'date',
  'time',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uri-reference',
  'uuid',
  'json-pointer',
  'relative-json-pointer',
]);

const BOTH: Readonly<Partial<Record<Keyword, string>>> = {
  schema: 'additionalProperties propertyNames contains not if then else',
  schemas: 'allOf anyOf oneOf',
  'schema-map': '$defs definitions properties',
  'pattern-map': 'patternProperties',
  number: 'maximum minimum exclusiveMaximum exclusiveMinimum',
  positive: 'multipleOf',
  count: 'maxLength minLength maxItems minItems maxProperties minProperties',
  boolean: 'uniqueItems',
  string: '$id $ref',
  strings: 'required',
  values: 'enum',
  any: 'const',
  type: 'type',
  pattern: 'pattern',
  format: 'format',
  dialect: '$schema',
};

const OWN: Readonly<Record<Dialect, Readonly<Partial<Record<Keyword, string>>>>> = {
  '2020-12': {
    schema: 'items unevaluatedItems unevaluatedProperties',
    schemas: 'prefixItems',
    'schema-map': 'dependentSchemas',
    count: 'minContains maxContains',
    string: '$anchor $dynamicAnchor',
    'strings-map': 'dependentRequired',
    unsupported: '$dynamicRef',
  },
  '7': { 'schema-or-schemas': 'items', schema: 'additionalItems', dependencies: 'dependencies' },
};

const TYPES: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const tables = new Map<Dialect, ReadonlyMap<string, Keyword>>();

/** The keywords of a dialect. */
export function keywordsOf(dialect: Dialect): ReadonlyMap<string, Keyword> {
  const known = tables.get(dialect);
  if (known !== undefined) return known;
  const lists = [...Object.entries(BOTH), ...Object.entries(OWN[dialect])] as readonly (readonly [Keyword, string])[];
  const table = new Map(lists.flatMap(([keyword, names]) => names.split(' ').map((name) => [name, keyword] as const)));
  tables.set(dialect, table);
  return table;
}

/** Says what is wrong with a keyword's own value. Schemas within are checked where they are copied. */
export function checkKeyword(keyword: Keyword, value: JsonValue): string | undefined {
  const rule = RULES[keyword];
  return rule === undefined || rule.test(value) ? undefined : `must be ${rule.what}`;
}

interface Rule {
  readonly what: string;
  test(value: JsonValue): boolean;
}

const isString = (value: unknown): boolean => typeof value === 'string';
const areStrings = (value: unknown): boolean => Array.isArray(value) && value.every(isString);
const isObject: Rule = { what: 'an object', test: isJsonObject };
const text: Rule = { what: 'a string', test: isString };

const RULES: Readonly<Partial<Record<Keyword, Rule>>> = {
  schemas: { what: 'an array of at least one schema', test: (value) => Array.isArray(value) && value.length > 0 },
  'schema-map': isObject,
  'pattern-map': isObject,
  dependencies: isObject,
  number: { what: 'a number', test: (value) => typeof value === 'number' },
  positive: { what: 'a number above 0', test: (value) => typeof value === 'number' && value > 0 },
  count: { what: 'an integer from 0 up', test: (value) => Number.isInteger(value) && (value as number) >= 0 },
  boolean: { what: 'a boolean', test: (value) => typeof value === 'boolean' },
  string: text,
  pattern: text,
  format: text,
  dialect: text,
  strings: { what: 'an array of strings', test: areStrings },
  'strings-map': { what: 'an object of arrays of strings', test: (value) => isJsonObject(value) && Object.values(value).every(areStrings) },
  values: { what: 'an array', test: Array.isArray },
  type: {
    what: `one or more of ${TYPES.join(', ')}`,
    test: (value) => (Array.isArray(value) ? value.length > 0 && value.every((each) => TYPES.includes(each)) : TYPES.includes(value)),
  },
};
