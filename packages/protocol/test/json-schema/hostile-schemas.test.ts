/** Schemas and values that a peer may send to keep a program busy (ROBUSTNESS rule 6): each check ends soon. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createJsonSchemaValidator } from '../../src/json-schema.ts';
import { countCpuMs } from '../../../../scripts/test/cpu-time.ts';

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
const members = (count: number, value: JsonValue = 1): Record<string, JsonValue> =>
  Object.fromEntries(times(count, (index) => [`k${index}`, value]));
const patterns = (count: number): Record<string, JsonValue> => Object.fromEntries(times(count, (index) => [`^z${index}$`, true]));
const unlike = (count: number): JsonValue[] => times(count, (index) => ({ ...members(100), last: index }));

const maxCheckMs = 2000;
/** What one step may take beyond the bound. */
const graceMs = 4000;
const fromPeer = createJsonSchemaValidator({ from: 'peer' });
const tooLong = [{ message: 'takes too long to check against its schema', path: [] }];

const dependent = Object.fromEntries(times(50_000, (index) => [`k${index}`, []]));

const nestedUnevaluated = (): JsonValue => {
  let schema: JsonValue = { unevaluatedItems: { type: 'number' } };
  for (let level = 0; level < 15; level += 1) schema = { allOf: [schema, { contains: {} }], unevaluatedItems: true };
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

describe('rule 6: a hostile schema', () => {
  const cases: readonly (readonly [string, () => JsonValue, () => JsonValue])[] = [
    ['patternProperties x members of one object', () => ({ patternProperties: patterns(4000) }), () => members(100_000)],
    ['uniqueItems over large objects', () => ({ allOf: times(100, () => ({ uniqueItems: true })) }), () => unlike(4000)],
    ['enum x items', () => ({ items: { enum: times(19_000, (index) => `v${index}`) } }), () => times(100_000, () => 'v18999')],
    ['allOf x items', () => ({ items: { allOf: times(4900, () => ({ type: 'object' })) } }), () => times(100_000, () => ({}))],
    ['types x items', () => ({ items: { type: times(100_000, () => 'string') } }), () => times(100_000, () => 'x')],
    ['dependentRequired x items', () => ({ items: { dependentRequired: dependent } }), () => times(100_000, () => ({}))],
    ['minProperties x a large object', () => ({ allOf: times(4900, () => ({ minProperties: 1 })) }), () => members(200_000)],
    ['formats x a long text', () => ({ allOf: times(4000, () => ({ format: 'uri' })) }), () => `http://${'a'.repeat(1_000_000)}`],
    ['lengths x a long text', () => ({ allOf: times(4000, () => ({ minLength: 1 })) }), () => 'a'.repeat(1_000_000)],
    ['unevaluatedItems within one another', nestedUnevaluated, () => times(200_000, (index) => index)],
    ['a const x members', () => ({ allOf: times(1000, () => ({ not: { const: {} } })) }), () => members(50_000)],
  ];
  afterEach(() => vi.restoreAllMocks());

  it.each(cases)('[JSCH-007][SCHEMA-011] rule 6: ends %s by the number of steps', (_, schema, value) => {
    const check = fromPeer.compile(schema());
    const given = value();
    const cpuMs = countCpuMs();
    expect(check(given)).toEqual(tooLong);
    expect(cpuMs()).toBeLessThan(maxCheckMs + graceMs);
  });

  it('[JSCH-007][SCHEMA-011] rule 6: ends a check by the clock, at which a short one does not look', () => {
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1000));
    const check = fromPeer.compile({ items: { type: 'number' } });
    expect(check(times(100, (index) => index))).toEqual([]);
    expect(clock).not.toHaveBeenCalled();
    expect(check(times(10_000, (index) => index))).toEqual(tooLong);
  });

  it.each([
    ['anyOf within one another over many members', () => nestedAnyOf(60), () => members(200_000)],
    ['anyOf within one another over many items of a member', () => ({ items: nestedAnyOf(60) }), () => [members(200_000)]],
    [
      'properties x items',
      () => ({ items: { properties: Object.fromEntries(times(4900, (index) => [`p${index}`, true])) } }),
      () => times(100_000, () => ({})),
    ],
    ['objects of an enum x members', () => ({ not: { enum: times(1000, (index) => ({ [`k${index}`]: 1 })) } }), () => members(50_000)],
  ] as const)('[JSCH-007] rule 6: checks %s soon', (_, schema, value) => {
    // The clock stands still: a busy machine must not end the check.
    vi.spyOn(performance, 'now').mockReturnValue(0);
    const check = fromPeer.compile(schema());
    const given = value();
    const cpuMs = countCpuMs();
    expect(check(given)).toEqual([]);
    expect(cpuMs()).toBeLessThan(maxCheckMs + graceMs);
  });

  it('rule 6: tells of a value that no long const is in no time, whatever that holds', () => {
    const like = { of: times(1900, (index) => `${'x'.repeat(500)} ${index} property `) };
    const cpuMs = countCpuMs();
    const [issue] = fromPeer.compile({ const: like })(1);
    expect(issue?.message).toMatch(/^must be \{"of":\["xxx/);
    expect(cpuMs()).toBeLessThan(1000);
  });

  it.each([
    ['const that is a text', (long: string): JsonValue => ({ const: long })],
    ['const that holds a text', (long: string): JsonValue => ({ const: { of: [long] } })],
    ['enum', (long: string): JsonValue => ({ enum: ['short', long] })],
    ['const of values within one another under empty names', (): JsonValue => ({ const: ['xxx', withinEmptyNames(2000)] })],
  ])('rule 6: writes a long %s into no error', (_, schemaOf) => {
    const long = 'x'.repeat(900_000);
    const check = fromPeer.compile({ patternProperties: { '^k': schemaOf(long) } });
    const cpuMs = countCpuMs();
    expect(check(members(5000))[0]).toMatchObject({ message: expect.stringContaining('xxx') as string, path: ['k0'] });
    expect(cpuMs()).toBeLessThan(1000);
  });

  it('compares with a long const, alone and beside an enum', () => {
    const long = 'x'.repeat(1000);
    const holds = (schema: JsonValue, value: JsonValue): boolean =>
      createJsonSchemaValidator({ from: 'author' }).compile(schema)(value).length === 0;
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
    const [issue] = createJsonSchemaValidator({ from: 'author' }).compile({ enum: times(10_000, (index) => index) })('no');
    expect(issue?.message).toMatch(/^must be one of \[0,1,2,/);
    expect(issue?.message.length).toBeLessThan(300);
  });
});

describe('rule 6: what is large and harmless', () => {
  beforeEach(() => void vi.spyOn(performance, 'now').mockReturnValue(0));
  afterEach(() => vi.restoreAllMocks());
  const validator = createJsonSchemaValidator({ from: 'author' });

  it('still compares a thousand objects with one another', () => {
    const items = times(1000, (index) => ({ id: index, name: 'same' }));
    const check = validator.compile({ uniqueItems: true });
    expect(check(items)).toEqual([]);
    expect(check([...items, { name: 'same', id: 5 }])).toHaveLength(1);
  });

  it('finds what is wrong in a large value', () => {
    const check = validator.compile({ properties: { tags: { uniqueItems: true } }, patternProperties: { '^k': { type: 'number' } } });
    const rows = times(3000, (index) => ({ id: index, name: 'n', size: 1 }));
    expect(check(Object.freeze({ rows, tags: Object.freeze(['a', 'b']) }))).toEqual([]);
    expect(check({ rows, tags: ['a', 'a'] })).toEqual([{ message: 'must not have the same item twice', path: ['tags'] }]);
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

  it('takes a name that is half a character as it is', () => {
    const half = JSON.parse('{"\\ud800":1}') as JsonValue;
    expect(validator.compile({ additionalProperties: { type: 'number' } })(half)).toEqual([]);
    expect(validator.compile({ additionalProperties: { type: 'string' } })(half)).toEqual([
      { message: 'must be a string', path: ['\ud800'] },
    ]);
  });

  it('says of what a false schema refuses that it is not allowed', () => {
    expect(validator.compile({ properties: { a: false } })({ a: 1 })).toEqual([{ message: 'is not allowed', path: ['a'] }]);
    expect(validator.compile(false)(1)).toEqual([{ message: 'is not allowed', path: [] }]);
    expect(validator.compile(true)(1)).toEqual([]);
  });
});
