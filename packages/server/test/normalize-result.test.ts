import { describe, expect, it } from 'vitest';
import type { SchemaAdapter } from '@mortise/protocol/contracts';
import { z } from 'zod';
import { InvalidHandlerResultError } from '../src/errors.ts';
import { toToolResult } from '../src/registry/tool-result.ts';
import { toSchemaAdapter } from '../src/schema/to-schema-adapter.ts';

const normalize = (value: unknown, output?: SchemaAdapter) => toToolResult(value, 'add', output);
const withOutput = (schema: unknown) => toSchemaAdapter(schema, 'tool output', 'add');
const text = (value: string) => ({ type: 'text', text: value });

describe('short forms', () => {
  it('[TOOL-027] gives every result a content array', () => {
    expect(normalize('hi')).toEqual({ content: [text('hi')] });
    expect(normalize(text('hi'))).toEqual({ content: [text('hi')] });
    expect(normalize([text('a'), text('b')])).toEqual({ content: [text('a'), text('b')] });
    expect(normalize([])).toEqual({ content: [] });
    expect(normalize({ isError: true })).toEqual({ isError: true, content: [] });
  });

  it('[TOOL-039] mirrors structured content as JSON text where there is no content', () => {
    expect(normalize({ structuredContent: { sum: 3 } })).toEqual({
      content: [text('{"sum":3}')],
      structuredContent: { sum: 3 },
    });
    expect(normalize({ structuredContent: { sum: 3 }, content: [text('three')] })).toEqual({
      content: [text('three')],
      structuredContent: { sum: 3 },
    });
  });

  it('[TOOL-033][TOOL-034] keeps null and other plain values as structured content', () => {
    expect(normalize({ structuredContent: null })).toEqual({ content: [text('null')], structuredContent: null });
    expect(normalize({ structuredContent: [1, 2] })).toEqual({ content: [text('[1,2]')], structuredContent: [1, 2] });
    expect(normalize({ structuredContent: undefined, content: [] })).not.toMatchObject({ structuredContent: null });
  });

  it('gives a whole result back as it is, without a copy', () => {
    const result = { content: [text('hi')], _meta: { a: 1 } };
    expect(normalize(result)).toBe(result);
  });

  it('passes on a result of another kind', () => {
    const asking = { resultType: 'input_required', requestState: 'x' };
    expect(normalize(asking, withOutput({ a: z.string() }))).toBe(asking);
  });
});

describe('the check against outputSchema', () => {
  it.each([
    ['zod', { sum: z.number() }],
    ['JSON Schema', { type: 'object', properties: { sum: { type: 'number' } } }],
  ])('[TOOL-037] refuses numbers that JSON has not, which would arrive as null, under %s', async (_, schema) => {
    const attempt = async (sum: number): Promise<unknown> => normalize({ structuredContent: { sum } }, withOutput(schema));
    for (const sum of [Number.NaN, Infinity])
      await expect(attempt(sum)).rejects.toThrow(`tool "add": structuredContent field "sum" must be a number, got ${sum}: `);
  });

  it('[TOOL-037] lets through what fits, in the form that the schema gives it', () => {
    const schema = withOutput({ sum: z.number(), unit: z.string().default('m') });
    expect(normalize({ structuredContent: { sum: 1, extra: 'internal' } }, schema)).toEqual({
      content: [text('{"sum":1,"unit":"m"}')],
      structuredContent: { sum: 1, unit: 'm' },
    });
  });

  it('[TOOL-037] refuses what does not fit, telling types and no values', async () => {
    const attempt = async (value: unknown): Promise<unknown> => normalize(value, withOutput({ sum: z.number() }));
    await expect(attempt({ structuredContent: { sum: 'hunter2' } })).rejects.toThrow(
      'tool "add": structuredContent field "sum" must be a number, got a string: the handler must return what outputSchema describes',
    );
    await expect(attempt({ structuredContent: 3 })).rejects.toThrow('structuredContent must be an object, got a number');
  });

  it('[TOOL-037] refuses a result without structured content', () => {
    expect(() => normalize('3', withOutput({ sum: z.number() }))).toThrow(InvalidHandlerResultError);
    expect(() => normalize('3', withOutput({ sum: z.number() }))).toThrow('the handler gave no structuredContent');
  });

  it('does not check an error result', () => {
    expect(normalize({ content: [text('no')], isError: true }, withOutput({ sum: z.number() }))).toEqual({
      content: [text('no')],
      isError: true,
    });
  });

  it('waits only for a schema that waits', async () => {
    const late = withOutput({ sum: z.number().refine(async () => Promise.resolve(true)) });
    const result = normalize({ structuredContent: { sum: 1 } }, late);
    expect(result).toBeInstanceOf(Promise);
    expect(await result).toMatchObject({ structuredContent: { sum: 1 } });
  });
});

it.each(['image', 'audio'])('[TOOL-029] sends %s data in base64, with its type', (type) => {
  for (const data of ['', 'AA==', 'AAA=', 'AAAA', 'q+/9']) {
    const content = [{ type, data, mimeType: 'x/y' }];
    expect(normalize({ content })).toEqual({ content });
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
    ['refuses a bare object', { sum: 3 }, 'put its fields into { structuredContent: ... }, got an object with "sum"'],
    ['refuses an empty object', {}, 'got an object with no fields'],
    ['refuses a list of texts', ['a'], 'content[0] must be an object, got "a"'],
    ['refuses content that is no list', { content: 'x' }, '"content" must be an array of blocks, got string'],
    ['refuses content that comes later', { content: Promise.resolve([]) }, '"content" must be an array of blocks, got a promise: await it'],
    ['refuses a block of no known type', { content: [{ type: 'video', data: '' }] }, 'content[0].type must be one of "text", "image"'],
    ['refuses text without text', { content: [{ type: 'text' }] }, 'content[0].text is missing: it must be a string'],
    [
      '[TOOL-029] refuses an image without a type',
      { content: [{ type: 'image', data: 'AA==' }] },
      'content[0].mimeType is missing: it must be a string',
    ],
    [
      '[TOOL-029] refuses audio without a type',
      { content: [{ type: 'audio', data: 'AA==' }] },
      'content[0].mimeType is missing: it must be a string',
    ],
    ...['image', 'audio'].flatMap((type) =>
      ['%%% not base64', 'data:image/png;base64,AA==', 'AA', 'A-_=', 'AAAA\nAAA', '=AAA'].map(
        (data) =>
          [
            `[TOOL-029] refuses ${type} data ${JSON.stringify(data)}, which is not base64`,
            { content: [{ type, data, mimeType: 'x/y' }] },
            'content[0].data must be padded base64',
          ] as const,
      ),
    ),
    [
      '[TOOL-030] refuses a link without a name',
      { content: [{ type: 'resource_link', uri: 'a:b' }] },
      'content[0].name is missing: it must be a string',
    ],
    [
      'refuses a resource without contents',
      { content: [{ type: 'resource', resource: { uri: 'a:b' } }] },
      'content[0].resource.text is missing: it must be a string',
    ],
    ['refuses a cycle', { structuredContent: cyclic }, 'structuredContent is not JSON: it contains a cycle'],
    [
      'refuses a BigInt',
      { structuredContent: { a: 1, n: 1n, z: 1 } },
      'structuredContent is not JSON: it contains a cycle or a BigInt (convert a BigInt to a string)',
    ],
    ['refuses a BigInt alone', { structuredContent: 1n }, 'structuredContent is not JSON'],
  ];

  it.each(cases)('%s', (_title, value, reason) => {
    expect(() => normalize(value)).toThrow(InvalidHandlerResultError);
    expect(() => normalize(value)).toThrow(reason);
  });
});
