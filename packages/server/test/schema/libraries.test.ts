import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as z325 } from 'zod-3-25/v4';
import { z as z3 } from 'zod-3-25/v3';
import { z as z40 } from 'zod-4-0';
import { z as z41 } from 'zod-4-1';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { describeIssues } from '../../src/schema/describe-issues.ts';
import { toSchemaAdapter } from '../../src/schema/to-schema-adapter.ts';
import { fromZod, fromZodV3 } from '../../src/zod.ts';

const adapt = (schema: unknown, purpose: 'tool input' | 'tool output' = 'tool input') => toSchemaAdapter(schema, purpose, 'add');

async function sentence(schema: unknown, value: unknown): Promise<string> {
  const outcome = await adapt(schema).validate(value);
  return 'issues' in outcome ? describeIssues(outcome.issues, { owner: 'tool "add"', part: 'argument', value }) : 'accepted';
}

const oldZods = [
  ['zod 4.0', z40],
  ['zod 4.1', z41],
  ['zod/v4 of 3.25', z325],
  ['zod/mini', mini],
] as const;

describe.each(oldZods)('%s', (_name, library) => {
  // The four differ in types that do not matter here; each is used through what they share.
  const old = library as unknown as typeof z40;

  it('is refused without the entry, which the refusal names', () => {
    expect(() => adapt({ a: old.number() })).toThrow(
      /field "a" cannot be converted to JSON Schema: .*fromZod\(z\) of @mortise\/server\/zod/,
    );
    expect(() => adapt(old.object({ a: old.number() }))).toThrow(/@mortise\/server\/zod/);
  });

  it('is converted and checked by the entry, as a shape and as an object', async () => {
    const schema = fromZod(old);
    const shape = { a: old.number(), b: old.optional(old.string()), c: old._default(old.string(), 'x') };
    const told = {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'string' }, c: { type: 'string', default: 'x' } },
      required: ['a'],
    };
    expect(adapt(schema(shape)).jsonSchema).toEqual(told);
    expect(adapt(schema(old.object(shape))).jsonSchema).toEqual(told);
    expect(await adapt(schema(shape)).validate({ a: 1 })).toEqual({ value: { a: 1, c: 'x' } });
    expect(await adapt(schema(old.object(shape))).validate({ a: 1 })).toEqual({ value: { a: 1, c: 'x' } });
  });

  it('refuses through the entry what JSON has no words for', () => {
    expect(() => adapt(fromZod(old)({ when: old.date() }))).toThrow(/field "when" cannot be converted to JSON Schema: Date/);
  });

  it('leaves the original schema as it was', () => {
    const shape = { a: old.number() };
    fromZod(old)(shape);
    expect(() => adapt(shape)).toThrow(/@mortise\/server\/zod/);
  });
});

const converters = [
  ['the converter itself', fromZodV3(zodToJsonSchema)],
  ['a function that calls it', fromZodV3((each) => zodToJsonSchema(each))],
] as const;

describe.each(converters)('zod 3 by %s', (_name, schema) => {
  it('is refused without the entry, which the refusal names', () => {
    expect(() => adapt({ a: z3.number() })).toThrow(/field "a" cannot be converted to JSON Schema: .*@mortise\/server\/zod/);
    expect(() => adapt(z3.object({ a: z3.number() }))).toThrow(/zod 3 schema.*fromZodV3\(convert\) of @mortise\/server\/zod/);
  });

  it('is converted and checked with the entry, under the dialect that the converter writes', async () => {
    const object = schema(z3.object({ a: z3.number(), b: z3.string().optional().describe('B'), c: z3.string().default('x') }));
    expect(adapt(object).jsonSchema).toMatchObject({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'string', description: 'B' }, c: { type: 'string', default: 'x' } },
      required: ['a'],
    });
    expect(await adapt(object).validate({ a: 1 })).toEqual({ value: { a: 1, c: 'x' } });
    expect(await sentence(object, { a: 'q' })).toBe('tool "add": argument "a" must be a number, got "q"');
    expect(await sentence(object, {})).toBe('tool "add": argument "a" is required');
  });

  it('checks asynchronously where a refinement does', async () => {
    const object = schema(z3.object({ a: z3.string().refine(async (text) => Promise.resolve(text === 'ok'), 'must be known') }));
    expect(await adapt(object).validate({ a: 'ok' })).toEqual({ value: { a: 'ok' } });
    expect(await sentence(object, { a: 'no' })).toContain('must be known');
  });

  it('serves a zod 3 that is no Standard Schema yet', async () => {
    const object = z3.object({ a: z3.string() });
    const before324 = Object.assign(Object.create({ safeParseAsync: object.safeParseAsync.bind(object) }) as object, { _def: object._def });
    const adapter = adapt(schema(before324 as typeof object));
    expect(adapter.jsonSchema['properties']).toEqual({ a: { type: 'string' } });
    expect(await adapter.validate({ a: 'x' })).toEqual({ value: { a: 'x' } });
    expect(await adapter.validate({ a: 1 })).toMatchObject({ issues: [{ message: 'must be a string', path: ['a'] }] });
  });

  it('says that a shape is wrapped as a whole', () => {
    expect(() => schema({ a: z3.number() } as never)).toThrow(/For a shape, pass z.object/);
  });
});

it('zod 3: tells the converter which side of a pipe is wanted', () => {
  const given = fromZodV3(zodToJsonSchema)(z3.object({ n: z3.string().pipe(z3.coerce.number()) }));
  expect(adapt(given).jsonSchema['properties']).toEqual({ n: { type: 'string' } });
  expect(adapt(given, 'tool output').jsonSchema['properties']).toEqual({ n: { type: 'number' } });
});

describe('other libraries', () => {
  it('names the way out where a library gives no JSON Schema by itself', () => {
    expect(() => adapt(v.object({ a: v.number() }))).toThrow(
      /it has no "~standard.jsonSchema" \(library: valibot\)\. Use the library's adapter/,
    );
  });

  it('takes valibot through its own adapter', async () => {
    const shape = { a: toStandardJsonSchema(v.number()), b: toStandardJsonSchema(v.optional(v.string(), 'q')) };
    expect(adapt(shape).jsonSchema).toMatchObject({
      properties: { a: { type: 'number' }, b: { type: 'string', default: 'q' } },
      required: ['a'],
    });
    expect(await adapt(shape).validate({ a: 1 })).toEqual({ value: { a: 1, b: 'q' } });
    expect(await sentence(shape, { a: 'x' })).toBe('tool "add": argument "a" must be a number, got "x"');
    const whole = toStandardJsonSchema(v.object({ a: v.number() }));
    expect(adapt(whole).jsonSchema).toMatchObject({ type: 'object', required: ['a'] });
    expect(await sentence(whole, {})).toBe('tool "add": argument "a" is required');
  });

  it('takes arktype as it is', async () => {
    const schema = type({ a: 'number', 'b?': 'string', c: 'string = "q"' });
    expect(adapt(schema).jsonSchema).toMatchObject({ type: 'object', required: ['a'] });
    expect(await adapt(schema).validate({ a: 1 })).toEqual({ value: { a: 1, c: 'q' } });
    expect(await sentence(schema, { a: 'x' })).toBe('tool "add": argument "a" must be a number, got "x"');
    const shape = { a: type('number'), b: type('string|undefined') };
    expect(await sentence(shape, { a: 'x' })).toBe('tool "add": argument "a" must be a number, got "x"');
  });

  it('mixes libraries in one shape', async () => {
    const shape = { a: z.number(), b: toStandardJsonSchema(v.string()), c: type('boolean') };
    expect(adapt(shape).jsonSchema).toMatchObject({
      properties: { a: { type: 'number' }, b: { type: 'string' }, c: { type: 'boolean' } },
      required: ['a', 'b', 'c'],
    });
    expect(await adapt(shape).validate({ a: 1, b: 'x', c: true })).toEqual({ value: { a: 1, b: 'x', c: true } });
  });
});
