import type { JsonSchemaValidator } from '@mortise/protocol/contracts';
import { createJsonSchemaValidator } from '@mortise/protocol/json-schema';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { McpServer } from '../../src/index.ts';
import { describeIssues } from '../../src/schema/describe-issues.ts';
import { toSchemaAdapter } from '../../src/schema/to-schema-adapter.ts';
import { RawPeer } from '../raw-peer.ts';

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'number' }, kind: { enum: ['x', 'y'] }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['a'],
  additionalProperties: false,
};

async function check(schema: object, value: unknown, validator?: JsonSchemaValidator): Promise<unknown> {
  const outcome = await toSchemaAdapter(schema, 'tool input', 'add', validator).validate(value);
  return 'issues' in outcome ? describeIssues(outcome.issues, { owner: 'tool "add"', part: 'argument', value }) : outcome.value;
}

describe('a plain JSON Schema', () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [{ a: 'x' }, 'tool "add": argument "a" must be a number, got "x"'],
    [{}, 'tool "add": argument "a" is required'],
    [{ a: 1, b: 2 }, 'tool "add": argument "b" is not an allowed property, got 2'],
    [{ a: 1, tags: ['t', 5] }, 'tool "add": argument "tags[1]" must be a string, got 5'],
    ['text', 'tool "add": arguments must be an object, got "text"'],
  ];

  it.each(cases)('[TOOL-046] is checked by the default validator (%#)', async (value, sentence) => {
    expect(await check(SCHEMA, value)).toBe(sentence);
    expect(await check(SCHEMA, value, createJsonSchemaValidator({ from: 'author' }))).toBe(sentence);
  });

  it('gives what fits as it came', async () => {
    const value = { a: 1, kind: 'x' };
    expect(await check(SCHEMA, value)).toBe(value);
  });

  it('waits for the default validator once, and for one that was given never', async () => {
    const lazy = toSchemaAdapter(SCHEMA, 'tool input', 'add');
    expect(lazy.validate({ a: 1 })).toBeInstanceOf(Promise);
    await lazy.validate({ a: 1 });
    expect(lazy.validate({ a: 1 })).toEqual({ value: { a: 1 } });
    const eager = toSchemaAdapter(SCHEMA, 'tool input', 'add', createJsonSchemaValidator({ from: 'author' }));
    expect(eager.validate({ a: 1 })).toEqual({ value: { a: 1 } });
  });

  it('[SCHEMA-003][JSCH-002] is refused in a dialect that cannot be checked, not read as another', () => {
    const schema = { ...SCHEMA, $schema: 'https://json-schema.org/draft/2019-09/schema' };
    expect(() => toSchemaAdapter(schema, 'tool input', 'add')).toThrow(
      /is written in the dialect "https:\/\/json-schema.org\/draft\/2019-09\/schema"/,
    );
    expect(() => toSchemaAdapter(schema, 'tool input', 'add', createJsonSchemaValidator({ from: 'author' }))).toThrow('dialect');
  });

  it('[SCHEMA-002] is checked under the dialect that it names', async () => {
    const tuple = { type: 'object', properties: { t: { type: 'array', items: [{ type: 'string' }], additionalItems: false } } };
    const draft07 = { $schema: 'http://json-schema.org/draft-07/schema#', ...tuple };
    expect(await check(draft07, { t: ['x'] })).toEqual({ t: ['x'] });
    expect(await check(draft07, { t: ['x', 'y'] })).toContain('argument "t');
    expect(await check(draft07, { t: [1] })).toContain('argument "t[0]" must be a string, got 1');
  });

  it('is refused at registration where the given validator cannot check it', () => {
    const schema = { type: 'object', properties: { a: { type: 'string', $dynamicRef: '#x' } } };
    expect(() => toSchemaAdapter(schema, 'tool input', 'add', createJsonSchemaValidator({ from: 'author' }))).toThrow(
      'tool "add": inputSchema cannot be checked',
    );
  });
});

describe("[ROBUSTNESS-6] an author's pattern", () => {
  const email = { type: 'string', pattern: '^[^@]+@[^@]+\\.[^@]+$' };
  const schema = { type: 'object', properties: { to: email }, required: ['to'] } as const;
  const long = `${'x'.repeat(20_000)}@example.com`;

  const open = async (): Promise<RawPeer> => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('send', { inputSchema: schema }, ({ to }) => `sent to ${String(to)}`);
    server.registerTool('find', { inputSchema: { to: z.string() }, outputSchema: schema }, ({ to }) => ({ structuredContent: { to } }));
    return RawPeer.open(server, '2026-07-28');
  };

  it('runs as it is written, in an input and in an output', async () => {
    const peer = await open();
    expect(await peer.callTool('send', { to: 'ada@example.com' })).toMatchObject({ content: [{ text: 'sent to ada@example.com' }] });
    expect(await peer.callTool('find', { to: 'ada@example.com' })).toMatchObject({ structuredContent: { to: 'ada@example.com' } });
    expect(await peer.callTool('send', { to: 'ada' })).toMatchObject({
      isError: true,
      content: [{ text: 'tool "send": argument "to" must match the pattern ^[^@]+@[^@]+\\.[^@]+$, got "ada"' }],
    });
    expect(await peer.callTool('find', { to: 'ada' })).toMatchObject({ isError: true });
  });

  it('is not tried on a text of more than 10,000 characters, and the error names the option', async () => {
    const peer = await open();
    const { content } = await peer.callTool('send', { to: long });
    expect(JSON.stringify(content)).toContain('has more than 10000 characters, the limit for strings');
    expect(JSON.stringify(content)).toContain('maxPatternCharacters of createJsonSchemaValidator');
    expect(await peer.callTool('find', { to: long })).toMatchObject({ isError: true });
  });
});
