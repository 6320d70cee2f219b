import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { InvalidHandlerResultError } from '../src/errors.ts';
import { normalizeToolResult } from '../src/registry/tool-result.ts';
import { toSchemaAdapter } from '../src/schema/to-schema-adapter.ts';

const owner = { name: 'add' };
const withOutput = (schema: unknown) => ({ name: 'add', output: toSchemaAdapter(schema, 'tool output', 'add') });
const text = (value: string) => ({ type: 'text', text: value });

describe('short forms', () => {
  it('[TOOL-027] gives every result a content array', () => {
    expect(normalizeToolResult('hi', owner)).toEqual({ content: [text('hi')] });
    expect(normalizeToolResult(text('hi'), owner)).toEqual({ content: [text('hi')] });
    expect(normalizeToolResult([text('a'), text('b')], owner)).toEqual({ content: [text('a'), text('b')] });
    expect(normalizeToolResult([], owner)).toEqual({ content: [] });
    expect(normalizeToolResult({ isError: true }, owner)).toEqual({ isError: true, content: [] });
  });

  it('[TOOL-039] mirrors structured content as JSON text where there is no content', () => {
    expect(normalizeToolResult({ structuredContent: { sum: 3 } }, owner)).toEqual({
      content: [text('{"sum":3}')],
      structuredContent: { sum: 3 },
    });
    expect(normalizeToolResult({ structuredContent: { sum: 3 }, content: [text('three')] }, owner)).toEqual({
      content: [text('three')],
      structuredContent: { sum: 3 },
    });
  });

  it('[TOOL-033][TOOL-034] keeps null and other plain values as structured content', () => {
    expect(normalizeToolResult({ structuredContent: null }, owner)).toEqual({ content: [text('null')], structuredContent: null });
    expect(normalizeToolResult({ structuredContent: [1, 2] }, owner)).toEqual({ content: [text('[1,2]')], structuredContent: [1, 2] });
    expect(normalizeToolResult({ structuredContent: undefined, content: [] }, owner)).not.toMatchObject({ structuredContent: null });
  });

  it('gives a whole result back as it is, without a copy', () => {
    const result = { content: [text('hi')], _meta: { a: 1 } };
    expect(normalizeToolResult(result, owner)).toBe(result);
  });

  it('passes on a result of another kind', () => {
    const asking = { resultType: 'input_required', requestState: 'x' };
    expect(normalizeToolResult(asking, withOutput({ a: z.string() }))).toBe(asking);
  });
});

describe('the check against outputSchema', () => {
  it.each([
    ['zod', { sum: z.number() }],
    ['JSON Schema', { type: 'object', properties: { sum: { type: 'number' } } }],
  ])('[TOOL-037] refuses numbers that JSON has not, which would arrive as null, under %s', async (_, schema) => {
    const normalize = async (sum: number): Promise<unknown> => normalizeToolResult({ structuredContent: { sum } }, withOutput(schema));
    for (const sum of [Number.NaN, Infinity])
      await expect(normalize(sum)).rejects.toThrow(`tool "add": structuredContent field "sum" must be a number, got ${sum}: `);
  });

  it('[TOOL-037] lets through what fits, in the form that the schema gives it', () => {
    const schema = withOutput({ sum: z.number(), unit: z.string().default('m') });
    expect(normalizeToolResult({ structuredContent: { sum: 1, extra: 'internal' } }, schema)).toEqual({
      content: [text('{"sum":1,"unit":"m"}')],
      structuredContent: { sum: 1, unit: 'm' },
    });
  });

  it('[TOOL-037] refuses what does not fit, telling types and no values', async () => {
    // The first refusal of a process waits for what phrases it.
    const normalize = async (value: unknown): Promise<unknown> => normalizeToolResult(value, withOutput({ sum: z.number() }));
    await expect(normalize({ structuredContent: { sum: 'hunter2' } })).rejects.toThrow(
      'tool "add": structuredContent field "sum" must be a number, got a string: the handler must give what outputSchema says',
    );
    await expect(normalize({ structuredContent: 3 })).rejects.toThrow('structuredContent must be an object, got a number');
  });

  it('[TOOL-037] refuses a result without structured content', () => {
    expect(() => normalizeToolResult('3', withOutput({ sum: z.number() }))).toThrow(InvalidHandlerResultError);
    expect(() => normalizeToolResult('3', withOutput({ sum: z.number() }))).toThrow('the handler gave no structuredContent');
  });

  it('does not check an error result', () => {
    expect(normalizeToolResult({ content: [text('no')], isError: true }, withOutput({ sum: z.number() }))).toEqual({
      content: [text('no')],
      isError: true,
    });
  });

  it('waits only for a schema that waits', async () => {
    const late = withOutput({ sum: z.number().refine(async () => Promise.resolve(true)) });
    const result = normalizeToolResult({ structuredContent: { sum: 1 } }, late);
    expect(result).toBeInstanceOf(Promise);
    expect(await result).toMatchObject({ structuredContent: { sum: 1 } });
  });
});

it.each(['image', 'audio'])('[TOOL-029] sends %s data in base64, with its type', (type) => {
  for (const data of ['', 'AA==', 'AAA=', 'AAAA', 'q+/9']) {
    const content = [{ type, data, mimeType: 'x/y' }];
    expect(normalizeToolResult({ content }, owner)).toEqual({ content });
  }
});

describe('what is no result', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['refuses undefined', undefined, 'the handler gave undefined: return text'],
    ['refuses null', null, 'the handler gave null'],
    ['refuses a number', 42, 'the handler gave a number: return text'],
    ['refuses a function', () => 1, 'the handler gave a function: return text'],
    ['refuses a bare object', { sum: 3 }, 'put its fields into { structuredContent: ... }, got "sum"'],
    ['refuses an empty object', {}, 'got no fields'],
    ['refuses a list of texts', ['a'], 'content[0] is not a block'],
    ['refuses content that is no list', { content: 'x' }, 'content must be an array of blocks, got string'],
    ['refuses content that comes later', { content: Promise.resolve([]) }, 'content must be an array of blocks, got a promise: await it'],
    ['refuses a block of no known type', { content: [{ type: 'video', data: '' }] }, 'content[0] is not a block'],
    ['refuses text without text', { content: [{ type: 'text' }] }, 'content[0] of type "text" must have "text" as a string'],
    ['[TOOL-029] refuses an image without a type', { content: [{ type: 'image', data: 'AA==' }] }, 'must have "mimeType" as a string'],
    ['[TOOL-029] refuses audio without a type', { content: [{ type: 'audio', data: 'AA==' }] }, 'must have "mimeType" as a string'],
    ...['image', 'audio'].flatMap((type) =>
      ['%%% not base64', 'data:image/png;base64,AA==', 'AA', 'A-_=', 'AAAA\nAAA', '=AAA'].map(
        (data) =>
          [
            `[TOOL-029] refuses ${type} data ${JSON.stringify(data)}, which is not base64`,
            { content: [{ type, data, mimeType: 'x/y' }] },
            'must have "data" as padded base64',
          ] as const,
      ),
    ),
    ['[TOOL-030] refuses a link without a name', { content: [{ type: 'resource_link', uri: 'a:b' }] }, 'must have "name" as a string'],
    [
      'refuses a resource with both texts',
      { content: [{ type: 'resource', resource: { uri: 'a:b', text: '', blob: '' } }] },
      'either "text" or "blob"',
    ],
    ['refuses a cycle', { structuredContent: cyclic }, 'cannot be written as JSON at "self": take out what leads back to itself'],
    ['refuses a BigInt', { structuredContent: { a: 1, n: 1n, z: 1 } }, 'cannot be written as JSON at "n": give the BigInt as text'],
    ['refuses a BigInt alone', { structuredContent: 1n }, 'structuredContent cannot be written as JSON: give the BigInt as text'],
  ];

  it.each(cases)('%s', (_title, value, reason) => {
    expect(() => normalizeToolResult(value, owner)).toThrow(InvalidHandlerResultError);
    expect(() => normalizeToolResult(value, owner)).toThrow(reason);
  });
});
