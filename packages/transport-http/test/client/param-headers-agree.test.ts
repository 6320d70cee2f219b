/**
 * The server refuses a mark that clients would leave the tool out for, and both read the same headers out of a schema: the two readings
 * stand in packages that know nothing of one another.
 */

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { McpServer } from '@mortise/server';
import { readParamHeaders } from '../../src/client/param-headers.ts';

const mark = (name: unknown, type: unknown = 'string'): JsonObject => ({ type, 'x-mcp-header': name }) as JsonObject;
type ToolSchema = JsonObject & { readonly type: 'object' };
const object = (properties: JsonObject, more: JsonObject = {}): ToolSchema => ({ ...more, type: 'object', properties });

function byServer(inputSchema: ToolSchema): readonly (readonly [string, readonly string[]])[] | 'refused' {
  const server = new McpServer({ name: 'test', version: '1' });
  try {
    server.registerTool('tool', { inputSchema }, () => 'x');
  } catch {
    return 'refused';
  }
  return [...(server.paramHeaders('tool', 'anonymous') ?? [])];
}

function byClient(inputSchema: JsonObject): readonly (readonly [string, readonly string[]])[] | 'refused' {
  const headers = new Map<string, readonly string[]>();
  return readParamHeaders(inputSchema, headers) === undefined ? [...headers] : 'refused';
}

describe('both readings of x-mcp-header', () => {
  it.each<[string, ToolSchema]>([
    ['a string', object({ region: mark('Region') })],
    ['an integer, and a boolean that may be null', object({ a: mark('A', 'integer'), b: mark('B', ['boolean', 'null']) })],
    ['a property of a property', object({ place: object({ region: mark('Region') }), other: { type: 'number' } })],
    ['a property that is called like a keyword', object({ items: mark('Items'), properties: object({ allOf: mark('All') }) })],
    ['no mark at all', object({ a: { type: 'string' } })],
  ])('hold %s for the same', (_, schema) => {
    expect(byServer(schema)).not.toBe('refused');
    expect(byServer(schema)).toEqual(byClient(schema));
  });

  it.each<[string, ToolSchema]>([
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
  ])('refuse %s', (_, schema) => {
    expect([byServer(schema), byClient(schema)]).toEqual(['refused', 'refused']);
  });
});
