/** The default validator of JSON Schemas: what it checks, and what it refuses to run. */

import { readFileSync } from 'node:fs';
import type { JsonValue } from '@mortise/jsonrpc-core';
import { SchemaNotCheckableError } from '@mortise/protocol';
import { createJsonSchemaValidator } from '@mortise/protocol/json-schema';
import { countCpuMs } from '../../../../scripts/test/cpu-time.ts';
import { afterEach, describe, expect, it, vi } from 'vitest';

const validator = createJsonSchemaValidator({ from: 'author' });
const fromPeer = createJsonSchemaValidator({ from: 'peer' });
/** Why a schema cannot be checked; undefined where it can. */
const fault = (schema: JsonValue, by = validator): string | undefined => {
  try {
    by.compile(schema);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaNotCheckableError);
    return (error as Error).message;
  }
};
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
    expect(fault(tuple)).toContain('"items" at # must be a schema: for an array of schemas use "prefixItems"');
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
    expect(fault({ $schema: dialect })).toContain('not supported: use 2020-12 or draft-07');
    expect(fault({ properties: { a: { $schema: dialect } } })).toContain('must name the same dialect as the root');
  });

  it('[SCHEMA-004] supports, and says in the reference that it does, draft-07 beside 2020-12', () => {
    const source = readFileSync(new URL('../../src/json-schema.ts', import.meta.url), 'utf8');
    expect(source).toMatch(/JSON Schema 2020-12 \(the default\) and draft-07/);
    expect(fault({ $schema: DRAFT_07, items: [{}] })).toBeUndefined();
  });

  it('takes the spellings of a dialect', () => {
    for (const dialect of [DRAFT_2020, `${DRAFT_2020}#`, DRAFT_07, 'https://json-schema.org/draft-07/schema'])
      expect(fault({ $schema: dialect })).toBeUndefined();
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
    expect(() => createJsonSchemaValidator({ from: 'peer', loadSchema: () => ({}) } as never)).toThrow('unknown option "loadSchema"');
    expect(() => createJsonSchemaValidator({ from: 'author' }).compile({ $ref: 'https://example.com/x' })).toThrow(SchemaNotCheckableError);
  });

  it.each(['https://example.com/x', 'other.json', '#/$defs/none', '#none', 'urn:x:y'])(
    '[SCHEMA-009][JSCH-006] refuses a schema with the reference %s, which leads nowhere',
    (ref) => {
      for (const by of [validator, fromPeer]) {
        const schema = { anyOf: [{ type: 'string' }, { $ref: ref }] };
        expect(fault(schema, by)).toContain(`"$ref" at #/anyOf/1 leads to ${JSON.stringify(ref)}, which is not in the schema`);
        expect(fault({ $id: 'https://example.com/own', ...schema }, by)).toContain('which is not in the schema');
      }
    },
  );

  it("[SCHEMA-011][JSCH-007] bounds depth, number and expansion of a peer's schema, and runs an author's", () => {
    let deep: JsonValue = {};
    for (let level = 0; level < 70; level += 1) deep = { items: deep };
    const wide = { anyOf: Array.from({ length: 6000 }, () => ({})) };
    const expanded = (levels: number): JsonValue => {
      const $defs: Record<string, JsonValue> = { d0: {} };
      for (let level = 1; level < levels; level += 1)
        $defs[`d${level}`] = { allOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] };
      return { $defs, $ref: `#/$defs/d${levels - 1}` };
    };
    expect(fault(deep, fromPeer)).toBe('the JSON Schema is too large: it is deeper than 64, the limit for schemas from peers');
    expect(fault(wide, fromPeer)).toContain('larger than 5000 subschemas');
    expect(fault(expanded(16), fromPeer)).toContain('larger than 5000 subschemas for one place of a value');
    expect(fault({ enum: ['x'.repeat(4_000_000)] }, fromPeer)).toContain('longer than 4000000 characters');
    expect(fault({ $id: `https://a.example/${'x'.repeat(10_000)}` }, fromPeer)).toContain('named by an "$id" of more than 2000');
    let nested: JsonValue = {};
    for (let level = 0; level < 20; level += 1) nested = { anyOf: [nested] };
    expect(fault(nested, fromPeer)).toBeUndefined();
    for (const schema of [deep, wide, nested, expanded(10)]) expect(fault(schema)).toBeUndefined();
  });

  it('[SCHEMA-011][JSCH-007] refuses a chain of references of a peer that is longer than there is stack for', () => {
    const $defs = Object.fromEntries(Array.from({ length: 4000 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]));
    expect(fault({ $defs: { ...$defs, d4000: true }, $ref: '#/$defs/d0' }, fromPeer)).toContain('a chain of too many references');
  });

  it.each([undefined, {}, { from: 'anyone' }, { from: 'author', maxPatternCharacters: NaN }, { from: 'author', maxSteps: 5 }])(
    'refuses the options %j',
    (options) => {
      expect(() => createJsonSchemaValidator(options as never)).toThrow(TypeError);
    },
  );

  it.each([
    ['itself', { $ref: '#' }],
    ['a circle', { $defs: { a: { $ref: '#/$defs/b' }, b: { anyOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' }],
  ])('[SCHEMA-011][JSCH-007] refuses a reference to %s that goes no deeper', (_, schema) => {
    expect(fault(schema, fromPeer)).toBe('the JSON Schema refers to itself endlessly: put the "$ref" under "properties" or "items"');
    expect(issues(schema, 1)).toEqual([': takes too long to check against its schema']);
  });

  it('[SCHEMA-011][JSCH-007] ends a check that branches without end', () => {
    const branch = { properties: { a: { $ref: '#/$defs/n' } } };
    const check = fromPeer.compile({ $defs: { n: { type: 'object', anyOf: [branch, branch] } }, $ref: '#/$defs/n' });
    let value: JsonValue = 1;
    for (let level = 0; level < 60; level += 1) value = { a: value };
    expect(check(value)).toEqual([{ message: 'takes too long to check against its schema', path: [] }]);
    expect(check({ x: 1 })).toEqual([]);
  });

  it('survives a value that is deep, and long arrays of unique items', () => {
    let deep: JsonValue = {};
    for (let level = 0; level < 100_000; level += 1) deep = { a: deep };
    const check = validator.compile({ $defs: { n: { properties: { a: { $ref: '#/$defs/n' } } } }, $ref: '#/$defs/n' });
    expect(check(deep)).toHaveLength(1);
    const items = Array.from({ length: 100_000 }, (_, index) => index);
    expect(issues({ uniqueItems: true }, items)).toEqual([]);
    expect(issues({ uniqueItems: true }, [...items, 5])).toEqual([': must not have the same item twice']);
  });

  it.each([
    [{ type: 'strin' }, '"type" at # must be one of'],
    [{ properties: [] }, '"properties" at # must be an object of schemas'],
    [{ properties: { a: { minimum: 'x' } } }, '"minimum" at #/properties/a must be a number, got "x"'],
    [{ properties: { a: 5 } }, '"properties" at # must be an object of schemas'],
    [{ required: 'a' }, '"required" at # must be an array of different strings'],
    [{ allOf: [] }, 'at least one schema'],
    [{ multipleOf: 0 }, 'a number above 0'],
    [{ minLength: -1 }, 'an integer, 0 or more'],
    [{ pattern: '(' }, '"pattern" at # must be a regular expression'],
    [{ patternProperties: { '(': true } }, '"patternProperties" at # must be an object of schemas by regular expressions'],
    [{ $dynamicRef: '#a' }, '"$dynamicRef" is not supported'],
    [5, 'must be an object or a boolean'],
  ] as readonly (readonly [JsonValue, string])[])('[SCHEMA-005][JSCH-003] refuses %j, which is no schema', (schema, reason) => {
    for (const by of [validator, fromPeer]) expect(fault(schema, by)).toContain(reason);
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

describe('patterns', () => {
  const email = '^[^@]+@[^@]+\\.[^@]+$';
  const long = 'x'.repeat(20_000);

  it("runs an author's pattern as it is written, whatever it may cost", () => {
    for (const pattern of [email, '^(a+)+$', '^(a|b)*\\1?$', '.*.*x']) {
      expect(fault({ pattern })).toBeUndefined();
      expect(issues({ patternProperties: { [pattern]: { type: 'number' } } }, {})).toEqual([]);
    }
    expect(issues({ pattern: email }, 'ada@example.com')).toEqual([]);
    expect(issues({ pattern: email }, 'ada@example')).toEqual([`: must match the pattern ${email}`]);
    expect(issues({ type: 'object', properties: { to: { type: 'string', pattern: email } } }, { to: 5 })).toEqual(['to: must be a string']);
    expect(issues({ pattern: email }, 5)).toEqual([]);
  });

  it("refuses a text that is too long for an author's pattern, and names the option", () => {
    const told = [
      'to: has more than 10000 characters, the limit for strings with a "pattern" (option maxPatternCharacters of createJsonSchemaValidator)',
    ];
    const schema = { properties: { to: { pattern: email } } };
    expect(issues(schema, { to: long })).toEqual(told);
    expect(issues({ properties: { to: { pattern: '^x+$', maxLength: 30_000 } } }, { to: long })).toEqual(told);
    const longer = createJsonSchemaValidator({ from: 'author', maxPatternCharacters: 30_000 });
    expect(longer.compile({ pattern: '^x+$' })(long)).toEqual([]);
    const [name] = issues({ patternProperties: { '^x+$': true } }, { [long]: 1 });
    expect(name).toMatch(/^: has more than 10000 characters, .* maxPatternCharacters/);
  });

  it('counts a pattern that is not tried the other way within a not', () => {
    const schema = { not: { pattern: '^ ' } };
    expect(issues(schema, 'x')).toEqual([]);
    expect(issues(schema, ' x')).toHaveLength(1);
    expect(issues(schema, long)).toHaveLength(1);
    expect(fromPeer.compile(schema)(long)).toEqual([]);
    expect(fromPeer.compile({ not: { pattern: '^(a+)+$' } })('b')).toEqual([]);
    expect(fromPeer.compile({ not: { not: { pattern: '^(a+)+$' } } })('b')).toEqual([]);
  });

  it("[ROBUSTNESS-6] tries a peer's pattern on texts up to 1,000 characters, and lets longer ones pass", () => {
    const check = fromPeer.compile({ pattern: '^[a-w]+$' });
    expect(check('x'.repeat(1000))).toHaveLength(1);
    expect(check('x'.repeat(1001))).toEqual([]);
    const checkEmail = fromPeer.compile({ pattern: email });
    expect(checkEmail('ada@example.com')).toEqual([]);
    expect(checkEmail('x'.repeat(1000))).toHaveLength(1);
  });

  it.each([
    '^(a+)+$',
    '^(a*b?)*$',
    '(a|ab)+$',
    '^(?:a{2,})*$',
    '^(a)\\1$',
    '(?<n>a)\\k<n>',
    'a?'.repeat(30),
    '^[\\w-.]+$',
    `^${'x'.repeat(1100)}$`,
  ])("[ROBUSTNESS-6] leaves out a peer's pattern that may take too long, %j, with a warning", (pattern) => {
    const warnings: string[] = [];
    const careful = createJsonSchemaValidator({ from: 'peer', onWarning: (message) => warnings.push(message) });
    expect(careful.compile({ type: 'string', pattern, maxLength: 5 })('!')).toEqual([]);
    expect(careful.compile({ type: 'string', pattern, maxLength: 5 })('123456')).toHaveLength(1);
    expect(careful.compile({ patternProperties: { [pattern]: { type: 'number' } }, additionalProperties: false })({ '!': 'x' })).toEqual(
      [],
    );
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toContain('is not checked');
  });

  it.each([
    email,
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^(\\d{3}-){2}\\d+$',
    '^[a-z0-9-]+(\\.[a-z]+)?$',
    '^(red|green|blue)$',
    '^https?://[^/]+/',
    '^\\p{L}+$',
  ])("runs a peer's pattern that is plain, %j", (pattern) => {
    const onWarning = vi.fn();
    expect(createJsonSchemaValidator({ from: 'peer', onWarning }).compile({ pattern })('!!')).toHaveLength(1);
    expect(onWarning).not.toHaveBeenCalled();
  });

  it.each(['.*.*.*.*=', '^(?:.*,){3}$', 'a+b+c+d+e+f+$'])("[ROBUSTNESS-6] ends a match of a peer's pattern %j soon", (pattern) => {
    const check = fromPeer.compile({ pattern });
    const cpuMs = countCpuMs();
    for (const text of ['a'.repeat(1000), ','.repeat(1000), 'abcdef'.repeat(160)]) check(text);
    expect(cpuMs()).toBeLessThan(5000);
  });
});
