import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RegistrationError } from '../../src/errors.ts';
import { readParamHeaders } from '../../src/schema/param-headers.ts';
import { toSchemaAdapter } from '../../src/schema/to-schema-adapter.ts';

const read = (schema: unknown) => readParamHeaders(toSchemaAdapter(schema, 'tool input', 'run').jsonSchema, 'run');
const property = (schema: object) => ({ type: 'object', properties: { a: schema } });
const refuses = (schema: unknown, reason: string | RegExp) => {
  expect(() => read(schema)).toThrow(RegistrationError);
  expect(() => read(schema)).toThrow(reason);
};

describe('arguments that travel in headers', () => {
  it('reads them from any library, nested ones too', () => {
    expect(read({ a: z.string() })).toBeUndefined();
    const shape = {
      region: z.string().meta({ 'x-mcp-header': 'Region' }),
      tenant: z.object({ id: z.int().meta({ 'x-mcp-header': 'Tenant-Id' }) }),
    };
    expect([...(read(shape) ?? [])]).toEqual([
      ['Region', ['region']],
      ['Tenant-Id', ['tenant', 'id']],
    ]);
  });

  it.each(['', 'a b', 'a:b', 'ä', 'a\r\nb', '\u0000', 5, null])('[TOOL-018] refuses the name %j', (header) => {
    refuses(property({ type: 'string', 'x-mcp-header': header }), 'must be a header token');
  });

  it('[TOOL-018] refuses a name that differs only in case', () => {
    refuses(
      { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'Region' }, b: { type: 'string', 'x-mcp-header': 'REGION' } } },
      'tool "run": x-mcp-header of "b" must be unique regardless of case, but "REGION" is used twice',
    );
  });

  it.each(['number', 'object', 'array', 'null', undefined])('[TOOL-019] refuses it at a property of type %s', (type) => {
    refuses(
      property({ ...(type === undefined ? {} : { type }), 'x-mcp-header': 'A' }),
      'must be on a property of type integer, string or boolean',
    );
  });

  it.each(['integer', 'string', 'boolean'])('[TOOL-019] takes it at a property of type %s', (type) => {
    expect(read(property({ type, 'x-mcp-header': 'A' }))?.get('A')).toEqual(['a']);
    expect(read(property({ type: [type, 'null'], 'x-mcp-header': 'A' }))?.get('A')).toEqual(['a']);
  });

  it('[TOOL-019] refuses an integer whose bounds leave the safe range', () => {
    refuses(property({ type: 'integer', maximum: 2 ** 53, 'x-mcp-header': 'A' }), 'within ±(2^53 − 1)');
    refuses(property({ type: 'integer', minimum: -(2 ** 53), 'x-mcp-header': 'A' }), 'within ±(2^53 − 1)');
    expect(read(property({ type: 'integer', minimum: -(2 ** 53 - 1), maximum: 2 ** 53 - 1, 'x-mcp-header': 'A' }))?.size).toBe(1);
  });

  const marked = { type: 'string', 'x-mcp-header': 'A' };
  it.each([
    ['the items of a list', property({ type: 'array', items: marked })],
    ['an alternative', property({ anyOf: [marked, { type: 'null' }] })],
    ['a branch', { type: 'object', allOf: [{ properties: { a: marked } }] }],
    ['a condition', { type: 'object', if: { properties: { a: marked } }, then: {} }],
    ['a definition', { type: 'object', properties: { a: { $ref: '#/$defs/x' } }, $defs: { x: marked } }],
    ['additional properties', { type: 'object', additionalProperties: marked }],
    ['a pattern', { type: 'object', patternProperties: { '^a$': marked } }],
    ['the root itself', { type: 'object', 'x-mcp-header': 'A' }],
  ])('[TOOL-020] refuses it in %s', (_title, schema) => {
    refuses(schema, 'must be on a property that is reached only through "properties"');
  });

  it('[TOOL-020] refuses a zod schema that a registry turns into a reference', () => {
    refuses({ a: z.string().meta({ id: 'S2Marked', 'x-mcp-header': 'A' }) }, 'reached only through "properties"');
  });
});
