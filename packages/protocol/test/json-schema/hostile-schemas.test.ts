/** Schemas and values that a peer may send to keep a program busy (ROBUSTNESS rule 6): each check ends soon after its bound. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { describe, expect, it } from 'vitest';
import { SchemaNotCheckableError } from '../../src/index.ts';
import { checkSchema, createJsonSchemaValidator } from '../../src/json-schema.ts';
import { countCpuMs } from '../../../../scripts/test/cpu-time.ts';

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
const members = (count: number, value: JsonValue = 1): Record<string, JsonValue> =>
  Object.fromEntries(times(count, (index) => [`k${index}`, value]));
/** Items that are one object, so that many of them are made fast. */
const sameMembers = (items: number, count: number): JsonValue => {
  const one = members(count);
  return times(items, () => one);
};
const patterns = (count: number): Record<string, JsonValue> => Object.fromEntries(times(count, (index) => [`^z${index}$`, true]));
const unlike = (count: number): JsonValue[] => times(count, (index) => ({ ...members(100), last: index }));

const maxCheckMs = 200;
/** What one step may take beyond the bound. */
const graceMs = 4000;
/** For what is measured by its CPU time: no busy machine ends it. */
const unhurried = { maxCheckMs: 600_000 };
const tooLong = [{ message: 'takes too long to check against its schema', path: [] }];

const nestedUnevaluated = (): JsonValue => {
  let schema: JsonValue = { unevaluatedItems: { type: 'number' } };
  for (let level = 0; level < 50; level += 1) schema = { allOf: [schema, { contains: {} }], unevaluatedItems: true };
  return schema;
};

const nestedAnyOf = (levels: number): JsonValue => {
  let schema: JsonValue = { additionalProperties: true };
  for (let level = 0; level < levels; level += 1) schema = { anyOf: [schema] };
  return schema;
};

const withinEmptyNames = (levels: number): JsonValue => {
  let value: JsonValue = 1;
  for (let level = 0; level < levels; level += 1) value = { '': value };
  return value;
};

const chainOfDefinitions = (length: number): JsonValue => ({
  $defs: Object.fromEntries(
    times(length, (index) => [
      `d${index}`,
      index === length - 1 ? { additionalProperties: true } : { allOf: [{ $ref: `#/$defs/d${index + 1}` }] },
    ]),
  ),
  $ref: '#/$defs/d0',
});

describe('rule 6: a hostile schema', () => {
  const cases: readonly (readonly [string, () => JsonValue, () => JsonValue])[] = [
    ['patternProperties x members of one object', () => ({ patternProperties: patterns(4000) }), () => members(100_000)],
    [
      'patternProperties x members of many objects',
      () => ({ items: { patternProperties: patterns(4000) } }),
      () => times(300, () => members(300)),
    ],
    ['uniqueItems over large objects', () => ({ uniqueItems: true }), () => unlike(4000)],
    ['uniqueItems over many arrays', () => ({ items: { uniqueItems: true } }), () => times(100, () => times(4000, (index) => index))],
    ['enum x items', () => ({ items: { enum: times(19_000, (index) => `v${index}`) } }), () => times(100_000, () => 'v18999')],
    [
      'contains of an enum that none fits',
      () => ({ contains: { enum: times(19_000, (index) => `v${index}`) } }),
      () => times(100_000, () => 'no'),
    ],
    [
      'properties x items',
      () => ({ items: { properties: Object.fromEntries(times(4900, (index) => [`p${index}`, true])) } }),
      () => times(100_000, () => ({})),
    ],
    ['patterns x a long text', () => ({ allOf: times(4000, (index) => ({ pattern: `^[a-y]*${index}?$` })) }), () => 'a'.repeat(1_000_000)],
    ['formats x a long text', () => ({ allOf: times(4000, () => ({ format: 'uri' })) }), () => `http://${'a'.repeat(1_000_000)}`],
    [
      'unevaluatedProperties over many branches',
      () => ({ allOf: times(400, () => ({ unevaluatedProperties: true })), unevaluatedProperties: false }),
      () => members(20_000),
    ],
    ['unevaluatedItems within one another', nestedUnevaluated, () => times(50_000, (index) => index)],
    [
      'propertyNames against a long enum',
      () => ({ propertyNames: { enum: times(19_000, (index) => `e${index}`) } }),
      () => members(200_000),
    ],
    ['objects of an enum x members of one object', () => ({ enum: times(1000, (index) => ({ [`k${index}`]: 1 })) }), () => members(50_000)],
    [
      'objects within those of an enum x members of one object',
      () => ({ enum: times(1000, (index) => ({ of: { [`k${index}`]: 1 } })) }),
      () => ({ of: members(50_000) }),
    ],
    ['anyOf within one another over many members', () => nestedAnyOf(60), () => members(50_000)],
    ['anyOf within one another over many items of a member', () => ({ items: nestedAnyOf(60) }), () => [members(50_000)]],
    ['a chain of definitions over a few members', () => chainOfDefinitions(1200), () => members(300)],
    ['any schema against a value that alone takes long to look at', () => true, () => sameMembers(2000, 20_000)],
  ];
  it.each(cases)('[JSCH-007][SCHEMA-011] rule 6: ends %s by the clock', (_, schema, value) => {
    const check = createJsonSchemaValidator({ maxCheckMs }).compile(schema());
    const given = value();
    const cpuMs = countCpuMs();
    expect(check(given)).toEqual(tooLong);
    expect(cpuMs()).toBeLessThan(maxCheckMs + graceMs);
  });

  it.each([
    [
      'arrays of names in dependencies',
      { $schema: 'http://json-schema.org/draft-07/schema#', dependencies: { a: times(30_000, String) } },
      '20000 values',
    ],
    ['long names that lead to a subschema', { properties: { ['x'.repeat(10_000)]: { type: 'string' } } }, 'too long an address'],
    ['long identifiers', { $id: `https://a.example/${'x'.repeat(10_000)}` }, 'more than 8192 characters'],
  ] as readonly (readonly [string, JsonValue, string])[])('[JSCH-007][SCHEMA-011] rule 6: refuses %s', (_, schema, reason) => {
    expect(checkSchema(schema)).toContain(reason);
  });

  it.each([
    ['a loop over many alternatives', `^(?:${times(250, (index) => String.fromCodePoint(0x4e00 + index)).join('|')})*$`, 'takes too long'],
    [
      'a loop over many parts that may be left out',
      `^(?:${times(250, (index) => `${String.fromCodePoint(0x4e00 + index)}?`).join('')}z)*$`,
      'takes too long',
    ],
    ['many groups within one another', `${'('.repeat(3000)}a${')'.repeat(3000)}`, 'is not proven to be fast'],
    ['many characters', `^${'a'.repeat(10_000)}$`, 'more than 8192 characters'],
  ])('[JSCH-007][SCHEMA-011] rule 6: refuses a pattern of %s', (_, pattern, reason) => {
    expect(checkSchema({ pattern })).toContain(reason);
  });

  it('[JSCH-007][SCHEMA-011] rule 6: looks at repetitions within one another in no time', () => {
    const groups = `${'(?:'.repeat(200)}a${'){1}'.repeat(200)}`;
    expect(checkSchema({ pattern: `^${groups}$` })).toBeUndefined();
  });

  it('[JSCH-007][SCHEMA-011] rule 6: refuses more references in a row than there is stack for', () => {
    const $defs = Object.fromEntries(times(30_000, (index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]));
    const schema = { $defs: { ...$defs, d30000: true }, $ref: '#/$defs/d0' };
    const limits = { maxSubschemas: Infinity, maxExpandedSubschemas: Infinity, maxValues: Infinity };
    expect(() => createJsonSchemaValidator(limits).compile(schema)).toThrow(SchemaNotCheckableError);
    expect(checkSchema(schema, limits)).toContain('too many references');
  });

  it.each([
    ['loops', `^(?:${times(60, (index) => String.fromCodePoint(0x4e00 + index)).join('|')})*$`],
    ['repetitions within one another', `^${'(?:'.repeat(600)}a${'){1}'.repeat(600)}$`],
    ['choices within one another', `^${times(250, (index) => `(?:${String.fromCodePoint(0x4e00 + index)}|`).join('')}a${')'.repeat(250)}$`],
    ['long classes', `^[^${'ab'.repeat(3900)}]$`],
  ])('[JSCH-007][SCHEMA-011] rule 6: bounds what the proofs of all patterns of a schema cost together: %s', (_, pattern) => {
    const withPatterns = (count: number): JsonValue => ({ allOf: times(count, () => ({ pattern })) });
    expect(checkSchema(withPatterns(3))).toBeUndefined();
    const cpuMs = countCpuMs();
    expect(checkSchema(withPatterns(1000))).toContain('takes too long');
    expect(cpuMs()).toBeLessThan(4000);
  });

  it('rule 6: tells of a value that no long const is in no time, whatever that holds', () => {
    const like = { of: times(19_000, (index) => `${'x'.repeat(500)} ${index} property `) };
    const cpuMs = countCpuMs();
    const [issue] = createJsonSchemaValidator(unhurried).compile({ const: like })(1);
    expect(issue?.message).toMatch(/^must be \{"of":\["xxx/);
    expect(cpuMs()).toBeLessThan(1000);
  });

  it.each([
    ['const that is a text', (long: string): JsonValue => ({ const: long })],
    ['const that holds a text', (long: string): JsonValue => ({ const: { of: [long] } })],
    ['enum', (long: string): JsonValue => ({ enum: ['short', long] })],
    ['const of values within one another under empty names', (): JsonValue => ({ const: ['xxx', withinEmptyNames(2000)] })],
  ])('rule 6: writes a long %s into no error', (_, schemaOf) => {
    const long = 'x'.repeat(1_000_000);
    const check = createJsonSchemaValidator(unhurried).compile({ patternProperties: { '^k': schemaOf(long) } });
    const cpuMs = countCpuMs();
    expect(check(members(5000))[0]).toMatchObject({ message: expect.stringContaining('xxx') as string, path: ['k0'] });
    expect(cpuMs()).toBeLessThan(1000);
  });

  it('compares with a long const, alone and beside an enum', () => {
    const long = 'x'.repeat(1000);
    const holds = (schema: JsonValue, value: JsonValue): boolean => createJsonSchemaValidator().compile(schema)(value).length === 0;
    for (const value of [long, { of: [long] }] as const) {
      expect([holds({ const: value }, value), holds({ const: value }, `${long}x`), holds({ const: value }, { of: ['x'] })]).toEqual([
        true,
        false,
        false,
      ]);
      expect([holds({ const: value, enum: [1, value] }, value), holds({ enum: [1], const: value }, value)]).toEqual([true, false]);
      expect(holds({ const: value, enum: [1, value] }, 1)).toBe(false);
    }
  });

  it('rule 6: an issue shows the start of a long enum', () => {
    const [issue] = createJsonSchemaValidator().compile({ enum: times(10_000, (index) => index) })('no');
    expect(issue?.message).toMatch(/^must be one of \[0,1,2,/);
    expect(issue?.message.length).toBeLessThan(300);
  });
});

describe('rule 6: what is large and harmless', () => {
  const validator = createJsonSchemaValidator(unhurried);

  it('still compares a thousand objects with one another', () => {
    const items = times(1000, (index) => ({ id: index, name: 'same' }));
    const check = validator.compile({ uniqueItems: true });
    expect(check(items)).toEqual([]);
    expect(check([...items, { name: 'same', id: 5 }])).toHaveLength(1);
  });

  it('finds what is wrong in a value that is watched', () => {
    const check = validator.compile({ properties: { tags: { uniqueItems: true } }, patternProperties: { '^k': { type: 'number' } } });
    const rows = times(3000, (index) => ({ id: index, name: 'n', size: 1 }));
    expect(check(Object.freeze({ rows, tags: Object.freeze(['a', 'b']) }))).toEqual([]);
    expect(check({ rows, tags: ['a', 'a'] })).toEqual([{ message: expect.stringContaining('Duplicate items'), path: ['tags'] }]);
    expect(check({ rows, tags: [{ a: [1] }, { a: [1] }] })).toHaveLength(1);
    expect(check({ rows, k1: 'x' })).toEqual([{ message: 'must be a number', path: ['k1'] }]);
  });

  it('checks many members against branches within a few others', () => {
    const check = validator.compile({ ...(nestedAnyOf(6) as object), unevaluatedProperties: false });
    expect(check(members(50_000))).toEqual([]);
  });

  it('compares a wide object with the objects of an enum', () => {
    const wide = members(400);
    const check = validator.compile({ enum: [...times(1000, (index) => ({ other: index })), wide] });
    expect(check({ ...wide })).toEqual([]);
    expect(check({ ...wide, k0: 2 })).toHaveLength(1);
  });

  it('tells of a name that is half a character that it is not valid, and takes it where no schema looks at it', () => {
    const half = JSON.parse('{"\\ud800":1}') as JsonValue;
    expect(validator.compile({ type: 'object' })(half)).toEqual([]);
    expect(validator.compile({ additionalProperties: { type: 'number' } })(half)).toEqual([
      { message: 'has a member whose name is not valid Unicode', path: [] },
    ]);
  });

  it('says of what a false schema refuses that it is not allowed', () => {
    expect(validator.compile({ properties: { a: false } })({ a: 1 })).toEqual([{ message: 'is not allowed', path: ['a'] }]);
    expect(validator.compile(false)(1)).toEqual([{ message: 'is not allowed', path: [] }]);
    expect(validator.compile(true)(1)).toEqual([]);
  });
});
