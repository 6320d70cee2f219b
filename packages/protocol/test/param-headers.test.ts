/** How `x-mcp-header` is read, by servers and by clients. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { readParamHeaders } from '@mortise/protocol/checks';
import { describe, expect, it } from 'vitest';

const mark = (name: unknown, type: unknown = 'string'): JsonObject => ({ type, 'x-mcp-header': name }) as JsonObject;
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ ...more, type: 'object', properties });
const read = (schema: JsonObject): readonly unknown[] | string => {
  const headers = new Map<string, readonly string[]>();
  return readParamHeaders(schema, headers) ?? [...headers];
};

describe('x-mcp-header', () => {
  it.each<[string, JsonObject, readonly unknown[]]>([
    ['a string', object({ region: mark('Region') }), [['Region', ['region']]]],
    ['an integer', object({ a: mark('A', 'integer') }), [['A', ['a']]]],
    ['a boolean that may be null', object({ b: mark('B', ['boolean', 'null']) }), [['B', ['b']]]],
    ['a property of a property', object({ place: object({ region: mark('Region') }) }), [['Region', ['place', 'region']]]],
    [
      'a property that is called like a keyword',
      object({ items: mark('Items'), properties: object({ allOf: mark('All') }) }),
      [
        ['Items', ['items']],
        ['All', ['properties', 'allOf']],
      ],
    ],
    ['nothing', object({ a: { type: 'string' } }), []],
  ])('is read of %s', (_, schema, headers) => {
    expect(read(schema)).toEqual(headers);
  });

  it.each<[string, JsonObject]>([
    ['a name with a space', object({ a: mark('A b') })],
    ['an empty name', object({ a: mark('') })],
    ['a name that is no text', object({ a: mark(7) })],
    ['a number', object({ a: mark('A', 'number') })],
    ['an object', object({ a: mark('A', 'object') })],
    ['two types', object({ a: mark('A', ['string', 'integer']) })],
    ['no type', object({ a: { 'x-mcp-header': 'A' } })],
    ['one name twice, in other cases', object({ a: mark('Name'), b: mark('NAME') })],
    ['the schema itself', { type: 'object', 'x-mcp-header': 'A' }],
    ['an item of a list', object({ list: { type: 'array', items: mark('A') } })],
    ['an alternative', object({}, { anyOf: [object({ a: mark('A') })] })],
    ['a definition', object({}, { $defs: { a: mark('A') } })],
    ['a further property', object({}, { additionalProperties: mark('A') })],
    ['a condition', object({}, { if: object({ a: mark('A') }) })],
    ['a pattern', object({}, { patternProperties: { '^a': mark('A') } })],
    ['a dependency', object({}, { dependentSchemas: { a: object({ b: mark('B') }) } })],
  ])('is refused at %s', (_, schema) => {
    expect(read(schema)).toMatch(/^x-mcp-header of (?:"|the inputSchema itself)/);
  });
});
