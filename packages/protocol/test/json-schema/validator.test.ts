/** The default validator of JSON Schemas: what it checks, and what it refuses to run. */

import { readFileSync } from 'node:fs';
import type { JsonValue } from '@mortise/jsonrpc-core';
import { SchemaNotCheckableError } from '@mortise/protocol';
import { checkSchema, createJsonSchemaValidator } from '@mortise/protocol/json-schema';
import { afterEach, describe, expect, it, vi } from 'vitest';

const validator = createJsonSchemaValidator();
const issues = (schema: JsonValue, value: unknown): readonly string[] =>
  validator
    .compile(schema)(value)
    .map(({ path, message }) => `${path.join('.')}: ${message}`);
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';
const DRAFT_2020 = 'https://json-schema.org/draft/2020-12/schema';

/** A schema that fits `value` and does not fit `other`. */
const keywords: readonly (readonly [string, JsonValue, JsonValue, JsonValue])[] = [
  ['type', { type: ['string', 'null'] }, null, 5],
  ['integer', { type: 'integer' }, 5, 5.5],
  ['const', { const: { a: [1] } }, { a: [1] }, { a: [2] }],
  ['const null', { const: null }, null, 0],
  ['enum', { enum: ['a', 1] }, 1, '1'],
  ['minimum', { minimum: 1 }, 1, 0],
  ['exclusiveMaximum', { exclusiveMaximum: 1 }, 0.9, 1],
  ['multipleOf', { multipleOf: 0.1 }, 0.3, 0.35],
  ['maxLength in characters', { maxLength: 2 }, '😀😀', 'abc'],
  ['pattern', { pattern: '^[a-z]+$' }, 'abc', 'ABC'],
  ['prefixItems and items', { prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['a', 1, 2], ['a', 'b']],
  ['contains', { contains: { const: 1 }, maxContains: 1 }, [1, 2], [1, 1]],
  ['uniqueItems', { uniqueItems: true }, [1, '1', [1]], [{ a: 1 }, { a: 1 }]],
  ['maxItems', { maxItems: 1 }, [1], [1, 2]],
  ['required', { required: ['a'] }, { a: 1 }, {}],
  [
    'additionalProperties',
    { properties: { a: true }, patternProperties: { '^x-': true }, additionalProperties: false },
    { a: 1, 'x-b': 2 },
    { b: 1 },
  ],
  ['propertyNames', { propertyNames: { maxLength: 1 } }, { a: 1 }, { ab: 1 }],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }, { a: 1, b: 1 }, { a: 1 }],
  ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }, { b: 1 }, { a: 1 }],
  ['minProperties', { minProperties: 1 }, { a: 1 }, {}],
  ['allOf', { allOf: [{ minimum: 1 }, { maximum: 2 }] }, 1, 3],
  ['anyOf', { anyOf: [{ type: 'string' }, { minimum: 5 }] }, 'a', 1],
  ['oneOf', { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, 4, 6],
  ['not', { not: { type: 'string' } }, 1, 'a'],
  ['if', { if: { type: 'string' }, then: { minLength: 1 }, else: { minimum: 1 } }, 'a', 0],
  ['unevaluatedProperties', { allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, { a: 1 }, { a: 1, b: 1 }],
  ['unevaluatedItems', { prefixItems: [true], unevaluatedItems: false }, [1], [1, 2]],
  ['false', { properties: { a: false } }, {}, { a: 1 }],
  ['format', { format: 'date' }, '2024-02-29', '2023-02-29'],
];

describe('checking', () => {
  it.each(keywords)('[SCHEMA-001][JSCH-001] knows %s of 2020-12, the dialect of a schema that names none', (_, schema, value, other) => {
    expect(issues(schema, value)).toEqual([]);
    expect(issues(schema, other)).not.toEqual([]);
    expect(issues({ ...(schema as object), $schema: DRAFT_2020 }, other)).not.toEqual([]);
  });

  it('[SCHEMA-002][JSCH-002] reads a schema in the dialect that it names', () => {
    const tuple = { type: 'array', items: [{ type: 'string' }], additionalItems: false };
    expect(issues({ ...tuple, $schema: DRAFT_07 }, ['a', 1])).not.toEqual([]);
    expect(issues({ ...tuple, $schema: DRAFT_07 }, ['a'])).toEqual([]);
    expect(checkSchema(tuple)).toMatch(/"\/items" must be an object or a boolean|must be/);
    // Beside $ref, draft-07 reads nothing; 2020-12 does.
    const besides = { definitions: { a: { type: 'string' } }, $ref: '#/definitions/a', minLength: 5 };
    expect(issues({ ...besides, $schema: DRAFT_07 }, 'a')).toEqual([]);
    expect(issues(besides, 'a')).not.toEqual([]);
  });

  it.each([
    'http://json-schema.org/draft-04/schema#',
    'http://json-schema.org/draft-06/schema#',
    'https://json-schema.org/draft/2019-09/schema',
    'https://example.com/own',
    '',
  ])('[SCHEMA-003][JSCH-002] says that the dialect %s is not supported', (dialect) => {
    expect(() => validator.compile({ $schema: dialect, type: 'string' })).toThrow(SchemaNotCheckableError);
    expect(checkSchema({ $schema: dialect })).toContain('not supported: use 2020-12 or draft-07');
    expect(checkSchema({ properties: { a: { $schema: dialect } } })).toContain('not supported');
  });

  it('[SCHEMA-004] supports, and says in the README that it does, draft-07 beside 2020-12', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    expect(readme).toMatch(/JSON Schema: 2020-12 \(the default\) and draft-07/);
    expect(checkSchema({ $schema: DRAFT_07, items: [{}] })).toBeUndefined();
  });

  it('takes the spellings of a dialect', () => {
    for (const dialect of [DRAFT_2020, `${DRAFT_2020}#`, DRAFT_07, 'https://json-schema.org/draft-07/schema'])
      expect(checkSchema({ $schema: dialect })).toBeUndefined();
  });

  it('[SCHEMA-010] follows references within the schema: pointers, $defs, anchors, ids, recursion', () => {
    expect(issues({ $defs: { 'a/b~c%': { type: 'string' } }, $ref: '#/$defs/a~1b~0c%25' }, 5)).not.toEqual([]);
    expect(issues({ $defs: { x: { $anchor: 'here', type: 'string' } }, $ref: '#here' }, 5)).not.toEqual([]);
    expect(
      issues({ $id: 'https://example.com/s', $defs: { x: { $id: 'x', type: 'string' } }, $ref: 'https://example.com/x' }, 5),
    ).not.toEqual([]);
    const tree = {
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, value: { type: 'number' } } } },
      $ref: '#/$defs/node',
    };
    expect(issues(tree, { next: { next: { value: 'x' } } })).toEqual(['next.next.value: must be a number']);
  });

  it('[SCHEMA-012] reads composition beside properties', () => {
    const schema = {
      type: 'object',
      properties: { kind: { type: 'string' } },
      required: ['kind'],
      oneOf: [{ properties: { kind: { const: 'a' } }, required: ['x'] }, { properties: { kind: { const: 'b' } } }],
    };
    expect(issues(schema, { kind: 'a', x: 1 })).toEqual([]);
    expect(issues(schema, { kind: 'a' })).not.toEqual([]);
  });

  it('[TOOL-034] tells null from nothing', () => {
    expect(issues({ type: 'null' }, null)).toEqual([]);
    expect(issues({ type: 'null' }, undefined)).toEqual([': is required']);
  });

  it('says in one short sentence what is wrong where', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'number' }, list: { items: { properties: { b: { enum: ['x', 'y'] } }, required: ['b'] } } },
      required: ['a'],
      additionalProperties: false,
    };
    expect(issues(schema, {})).toEqual(['a: is required']);
    expect(issues(schema, { a: 'x' })).toEqual(['a: must be a number']);
    expect(issues(schema, { a: 1, z: 1 })).toEqual(['z: is not an allowed property']);
    for (const keyword of ['additionalProperties', 'unevaluatedProperties']) {
      expect(issues({ [keyword]: { type: 'number' } }, { 'a" does': 'x' })).toEqual(['a" does: must be a number']);
      expect(issues({ [keyword]: { [keyword]: false } }, { a: { b: 1 } })).toEqual(['a.b: is not an allowed property']);
    }
    expect(issues({ prefixItems: [true], unevaluatedItems: false }, [1, 2])).toEqual(['1: is not allowed']);
    expect(issues({ unevaluatedItems: { type: 'string' } }, [1])).toEqual(['0: must be a string']);
    expect(issues(schema, { a: 1, list: [{ b: 'x' }, { b: 'z' }] })).toEqual(['list.1.b: must be one of ["x","y"]']);
    expect(issues(schema, [])).toEqual([': must be an object']);
    expect(validator.compile(schema)({ a: 1, list: [{}] })).toEqual([{ message: 'is required', path: ['list', 0, 'b'] }]);
  });

  it('takes a member that is undefined for one that is not there, as JSON does', () => {
    expect(issues({ type: 'object', properties: { at: { type: 'string' } } }, { at: 'x', not: undefined })).toEqual([]);
    expect(issues({ required: ['a'] }, { a: undefined })).toEqual(['a: is required']);
    expect(issues({ items: { type: 'string' } }, [new Date(0)])).toEqual([]);
    expect(issues({ type: 'object' }, { a: 1n })).not.toEqual([]);
  });

  it.each([Number.NaN, Infinity, -Infinity])('takes %s for null, as JSON does, wherever it stands', (value) => {
    expect(issues({ type: 'number' }, value)).toEqual([': must be a number']);
    expect(issues({ items: { type: 'number' } }, [1, value])).toEqual(['1: must be a number']);
    expect(issues({ properties: { a: { type: 'integer', minimum: 0 } } }, { a: value })).toEqual(['a: must be an integer']);
    expect(issues({ type: ['number', 'null'] }, value)).toEqual([]);
  });

  it('changes neither schema nor value', () => {
    const schema = Object.freeze({ $defs: Object.freeze({ a: Object.freeze({ type: 'string' }) }), $ref: '#/$defs/a' });
    validator.compile(schema)(Object.freeze({}));
    expect(Reflect.ownKeys(schema)).toEqual(['$defs', '$ref']);
  });

  it('knows members named like those of every object', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["__proto__"]}',
    ) as JsonValue;
    expect(issues(schema, JSON.parse('{"__proto__":5}'))).toEqual(['__proto__: must be a string']);
    expect(issues(schema, {})).toEqual(['__proto__: is required']);
  });
});

describe('bounds', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('[SCHEMA-006][JSCH-004][JSCH-005] never fetches', () => {
    const fetched = vi.fn();
    vi.stubGlobal('fetch', fetched);
    vi.stubGlobal('XMLHttpRequest', fetched);
    expect(() => validator.compile({ $ref: 'https://example.com/schema.json' })).toThrow(SchemaNotCheckableError);
    expect(() => validator.compile({ properties: { a: { $ref: 'http://169.254.169.254/latest' } } })).toThrow(SchemaNotCheckableError);
    expect(fetched).not.toHaveBeenCalled();
  });

  it('[SCHEMA-007] has no option that would fetch', () => {
    expect(createJsonSchemaValidator.length).toBe(0);
    expect(() => createJsonSchemaValidator({ loadSchema: () => ({}) } as object).compile({ $ref: 'https://example.com/x' })).toThrow(
      SchemaNotCheckableError,
    );
  });

  it.each(['https://example.com/x', 'other.json', '#/$defs/none', '#none', 'urn:x:y'])(
    '[SCHEMA-009][JSCH-006] refuses a schema with the reference %s, which leads nowhere',
    (ref) => {
      expect(checkSchema({ anyOf: [{ type: 'string' }, { $ref: ref }] })).toContain('leads out of the schema');
    },
  );

  it('[SCHEMA-011][JSCH-007] bounds depth, number and expansion', () => {
    let deep: JsonValue = {};
    for (let level = 0; level < 70; level += 1) deep = { items: deep };
    expect(checkSchema(deep)).toBe('Schema is deeper than 64');
    expect(checkSchema({ anyOf: Array.from({ length: 6000 }, () => ({})) })).toBe('Schema has more than 5000 subschemas');
    const $defs: Record<string, JsonValue> = { d0: {} };
    for (let level = 1; level < 40; level += 1)
      $defs[`d${level}`] = { allOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] };
    expect(checkSchema({ $defs, $ref: '#/$defs/d39' })).toBe('Schema has more than 5000 subschemas for one place of a value');
    expect(checkSchema({ enum: Array.from({ length: 30_000 }, (_, index) => index) })).toContain('more than 20000 values');
    expect(checkSchema({ items: {} }, { maxDepth: 0 })).toBe('Schema is deeper than 0');
  });

  it.each(['maxDepth', 'maxSubschemas', 'maxExpandedSubschemas', 'maxValues', 'maxSteps', 'maxCheckMs'])(
    '[ROBUSTNESS-7] refuses a %s that is no number, where there would be no bound at all',
    (name) => {
      for (const value of [NaN, -1, '64']) {
        const message = `"${name}" must be a number, 0 or more`;
        expect(() => createJsonSchemaValidator({ [name]: value })).toThrow(message);
        expect(() => checkSchema({}, { [name]: value })).toThrow(message);
      }
    },
  );

  it('takes a limit that is given as undefined for one that is not given', () => {
    const none = { maxDepth: undefined, maxSubschemas: undefined, maxExpandedSubschemas: undefined, maxValues: undefined };
    let deep: JsonValue = {};
    for (let level = 0; level < 70; level += 1) deep = { items: deep };
    expect(checkSchema(deep, none)).toBe('Schema is deeper than 64');
    expect(checkSchema({ anyOf: Array.from({ length: 6000 }, () => ({})) }, none)).toBe('Schema has more than 5000 subschemas');
    expect(checkSchema({ enum: Array.from({ length: 30_000 }, (_, index) => index) }, none)).toContain('more than 20000 values');
  });

  it.each([
    ['itself', { $ref: '#' }],
    ['a circle', { $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' }],
  ])('[SCHEMA-011][JSCH-007] refuses a reference to %s that goes no deeper', (_, schema) => {
    expect(checkSchema(schema)).toBe('Schema refers to itself without going deeper into the value');
  });

  it('[SCHEMA-011][JSCH-007] ends a check that branches without end', () => {
    const branch = (name: string): JsonValue => ({ properties: { a: { $ref: '#/$defs/n' } }, required: [name] });
    const check = createJsonSchemaValidator({ maxSteps: 10_000 }).compile({
      $defs: { n: { anyOf: [branch('x'), branch('y')] } },
      $ref: '#/$defs/n',
    });
    let value: JsonValue = {};
    for (let level = 0; level < 60; level += 1) value = { a: value };
    expect(check(value)).toEqual([{ message: 'takes too long to check against its schema', path: [] }]);
    expect(check({ x: 1 })).toEqual([]);
    const hundred = Array.from({ length: 100 }, () => 1);
    expect(createJsonSchemaValidator({ maxSteps: 100 }).compile({ items: { type: 'number' } })(hundred)).toHaveLength(1);
    expect(createJsonSchemaValidator({ maxSteps: 101 }).compile({ items: { type: 'number' } })(hundred)).toEqual([]);
  });

  it('[JSCH-007] ends a check by the clock', () => {
    const check = createJsonSchemaValidator({ maxCheckMs: 0 }).compile({ items: { type: 'number' } });
    expect(check(Array.from({ length: 200_000 }, () => 1))).toEqual([{ message: 'takes too long to check against its schema', path: [] }]);
  });

  it('survives a value that is deep, and long arrays of unique items', () => {
    let deep: JsonValue = {};
    for (let level = 0; level < 100_000; level += 1) deep = { a: deep };
    const check = validator.compile({ $defs: { n: { properties: { a: { $ref: '#/$defs/n' } } } }, $ref: '#/$defs/n' });
    expect(check(deep)).toHaveLength(1);
    expect(
      issues(
        { uniqueItems: true },
        Array.from({ length: 5000 }, (_, index) => index),
      )[0],
    ).toContain('too many to compare');
  });

  it.each([
    [{ type: 'strin' }, '"type" at the root must be'],
    [{ properties: [] }, '"properties" at the root must be an object'],
    [{ properties: { a: { minimum: 'x' } } }, '"minimum" at "/properties/a" must be a number'],
    [{ properties: { a: 5 } }, 'must be an object or a boolean'],
    [{ required: 'a' }, '"required" at the root must be an array of strings'],
    [{ allOf: [] }, 'at least one schema'],
    [{ multipleOf: 0 }, 'a number above 0'],
    [{ minLength: -1 }, 'an integer from 0 up'],
    [{ pattern: '(' }, 'is not a regular expression'],
    [{ $dynamicRef: '#a' }, '"$dynamicRef" is not supported'],
    [5, 'must be an object or a boolean'],
  ] as readonly (readonly [JsonValue, string])[])('[SCHEMA-005][JSCH-003] refuses %j, which is no schema', (schema, reason) => {
    expect(checkSchema(schema)).toContain(reason);
  });

  it('says where in the schema', () => {
    try {
      validator.compile({ properties: { 'a/b': { type: 5 } } });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_SCHEMA_NOT_CHECKABLE', pointer: '/properties/a~1b/type' });
    }
  });

  it('passes over keywords and formats that say nothing to it', () => {
    expect(
      issues(
        { 'x-mcp-header': 'A', example: { $ref: 'nowhere' }, format: 'colour', contentEncoding: 'base64', __absolute_ref__: 'x' },
        'a',
      ),
    ).toEqual([]);
  });
});
