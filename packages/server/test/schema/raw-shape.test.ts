import { createJsonSchemaValidator } from '@mortise/protocol/json-schema';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeIssues } from '../../src/schema/describe-issues.ts';
import { toSchemaAdapter } from '../../src/schema/to-schema-adapter.ts';

const adapt = (shape: object) => toSchemaAdapter(shape, 'tool input', 'add');

/** The sentence that a caller reads, or the value that a handler gets. */
async function check(shape: object, value: unknown): Promise<unknown> {
  const outcome = await adapt(shape).validate(value);
  return 'issues' in outcome ? describeIssues(outcome.issues, { owner: 'tool "add"', part: 'argument', value }) : outcome.value;
}

describe('what a handler gets', () => {
  it('fills in defaults and conversions, and leaves out unknown fields', async () => {
    const shape = { a: z.number().default(3), b: z.string().trim(), c: z.string().optional() };
    expect(await check(shape, { b: ' x ', unknown: 1 })).toEqual({ a: 3, b: 'x' });
  });

  it('does not take fields from a prototype', async () => {
    expect(await check({ constructor: z.string().optional(), toString: z.string().optional() }, {})).toEqual({});
  });

  it('stays synchronous where every field is', () => {
    expect(adapt({ a: z.number() }).validate({ a: 1 })).toEqual({ value: { a: 1 } });
  });

  it('tells of fields in their order, whichever check ends first', async () => {
    const late = z.string().refine(async () => Promise.resolve(false), 'must be known');
    expect(await check({ a: late, b: z.number() }, { a: 'x', b: 'x' })).toBe(
      'tool "add": argument "a" must be known, got "x"; argument "b" must be a number, got "x"',
    );
  });

  it('waits for a field that checks asynchronously, together with the others', async () => {
    const shape = { a: z.string().refine(async (text) => Promise.resolve(text === 'ok'), 'must be known'), b: z.number() };
    expect(adapt(shape).validate({ a: 'ok', b: 1 })).toBeInstanceOf(Promise);
    expect(await check(shape, { a: 'ok', b: 1 })).toEqual({ a: 'ok', b: 1 });
    expect(await check(shape, { a: 'no', b: 'x' })).toContain('argument "a" must be known, got "no"');
  });
});

describe('the sentence of a refusal', () => {
  const cases: readonly (readonly [object, unknown, string])[] = [
    [{ a: z.number() }, { a: 'x' }, 'tool "add": argument "a" must be a number, got "x"'],
    [{ a: z.number() }, {}, 'tool "add": argument "a" is required'],
    [{ a: z.any() }, {}, 'tool "add": argument "a" is required'],
    [{ a: z.number(), b: z.string() }, { a: null }, 'tool "add": argument "a" must be a number, got null; argument "b" is required'],
    [{ a: z.array(z.object({ n: z.int() })) }, { a: [{ n: 1 }, { n: 'q' }] }, 'tool "add": argument "a[1].n" must be a number, got "q"'],
    [{ a: z.array(z.string()) }, { a: 'x' }, 'tool "add": argument "a" must be an array, got "x"'],
    [{ a: z.string() }, { a: [1, 2] }, 'tool "add": argument "a" must be a string, got an array of 2'],
    [{ a: z.string() }, { a: { secret: 1 } }, 'tool "add": argument "a" must be a string, got an object'],
    [{ a: z.enum(['x', 'y']) }, { a: 'z' }, 'tool "add": argument "a" must be one of "x", "y", got "z"'],
    [{ a: z.literal(4) }, { a: 5 }, 'tool "add": argument "a" must be 4, got 5'],
    [{ a: z.number().max(3) }, { a: 5 }, 'tool "add": argument "a": Too big: expected number to be <=3, got 5'],
    [{ a: z.number({ error: 'Say how many' }) }, { a: 'x' }, 'tool "add": argument "a": Say how many, got "x"'],
    [{ a: z.string() }, 'text', 'tool "add": arguments must be an object, got "text"'],
    [{ a: z.string() }, [1], 'tool "add": arguments must be an object, got an array of 1'],
    [{ a: z.string() }, null, 'tool "add": arguments must be an object, got null'],
    [{ a: z.string() }, undefined, 'tool "add": arguments are required'],
  ];

  it.each(cases)('[TOOL-046] tells what is wrong (%#)', async (shape, value, sentence) => {
    expect(await check(shape, value)).toBe(sentence);
  });

  it('repeats at most 40 characters of what came, and no half of a character', async () => {
    expect(await check({ a: z.number() }, { a: 'x'.repeat(10_000) })).toBe(
      `tool "add": argument "a" must be a number, got "${'x'.repeat(39)}…"`,
    );
    expect(await check({ a: z.number() }, { a: `${'x'.repeat(38)}😀 and more` })).toBe(
      `tool "add": argument "a" must be a number, got "${'x'.repeat(38)}…"`,
    );
  });

  it('names five issues and counts the rest', async () => {
    const shape = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`f${i}`, z.string()]));
    expect(await check(shape, {})).toMatch(/argument "f4" is required; and 3 more$/);
  });

  it('tells no value of what the reader did not send', () => {
    const issues = [{ message: 'must be a number', path: ['key'] }];
    expect(
      describeIssues(issues, { owner: 'tool "t"', part: 'structuredContent field', value: { key: 'hunter2' }, showValues: false }),
    ).toBe('tool "t": structuredContent field "key" must be a number, got a string');
  });
});

describe('references inside fields', () => {
  const tree = z.object({
    name: z.string(),
    get children() {
      return z.array(tree);
    },
  });
  const leaf = z.object({
    size: z.number(),
    get parts() {
      return z.array(leaf);
    },
  });

  it('[SCHEMA-005] count from the place of the field', () => {
    expect(adapt({ a: z.array(tree), c: leaf }).jsonSchema).toMatchObject({
      properties: {
        a: {
          items: { $ref: '#/properties/a/$defs/__schema0' },
          $defs: { __schema0: { properties: { children: { items: { $ref: '#/properties/a/$defs/__schema0' } } } } },
        },
        c: { properties: { parts: { items: { $ref: '#/properties/c' } } } },
      },
    });
  });

  it('write names that JSON Pointer must escape', () => {
    const told = adapt({ 'a/b~c d': tree }).jsonSchema;
    expect(told).toMatchObject({
      properties: { 'a/b~c d': { properties: { children: { items: { $ref: '#/properties/a~1b~0c%20d' } } } } },
    });
  });

  it('are followed by the check of a peer', async () => {
    const { jsonSchema } = adapt({ a: z.array(tree), 'b/c': leaf });
    const check = createJsonSchemaValidator({ from: 'peer' }).compile(jsonSchema);
    expect(check({ a: [{ name: 'x', children: [{ name: 'y', children: [] }] }], 'b/c': { size: 1, parts: [] } })).toEqual([]);
    expect(check({ a: [{ name: 'x', children: [{ name: 5, children: [] }] }], 'b/c': { size: 1, parts: [] } })).not.toEqual([]);
    expect(check({ a: [], 'b/c': { size: 1, parts: [{ size: 'x', parts: [] }] } })).not.toEqual([]);
  });

  it('[SCHEMA-005][JSCH-003] tells schemas that a validator of their dialect takes', () => {
    const validator = createJsonSchemaValidator({ from: 'author' });
    const shapes = [
      { a: z.array(tree), b: tree, c: z.array(leaf) },
      { 'a/b~c d': tree, $ref: z.string() },
      { a: z.lazy(() => tree), b: z.union([tree, leaf]).optional() },
      {},
    ];
    for (const shape of shapes) {
      for (const purpose of ['tool input', 'tool output'] as const)
        expect(validator.compile(toSchemaAdapter(shape, purpose, 'add').jsonSchema)).toBeTypeOf('function');
    }
  });

  it('leaves data that looks like a reference alone', () => {
    const told = adapt({ node: tree, like: z.any().meta({ default: { $ref: '#' } }) }).jsonSchema;
    expect(told['properties']).toMatchObject({ like: { default: { $ref: '#' } } });
  });
});
