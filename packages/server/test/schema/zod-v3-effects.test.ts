/** Refinements and transforms of zod 3 that throw or reject (ROBUSTNESS rule 5). */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod-3-25/v3';
import { zodToJsonSchema } from 'zod-to-json-schema';
import { completable, McpServer } from '../../src/index.ts';
import { fromZodV3 } from '../../src/zod.ts';
import { toSchemaAdapter } from '../../src/schema/to-schema-adapter.ts';
import { RawPeer } from '../raw-peer.ts';

const version = '2026-07-28';
const unhandled: unknown[] = [];
const keep = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => process.on('unhandledRejection', keep));
afterAll(() => process.off('unhandledRejection', keep));

const schema = fromZodV3((each) => zodToJsonSchema(each));
const adapt = (given: object) => toSchemaAdapter(given, 'tool input', 't');
const rejects = (reason: string) => () => Promise.reject(new Error(reason));
const late = async (): Promise<boolean> => {
  await new Promise((resolve) => setImmediate(resolve));
  return true;
};
const text = z.string();

describe('zod 3', () => {
  it.each([
    ['an object', z.object({ a: text.refine(rejects('gone')) })],
    ['a list in a branch', z.object({ a: z.union([z.number(), z.array(z.number()), text.refine(rejects('gone'))]) })],
    ['what an optional field holds', z.object({ a: text.refine(rejects('gone')).optional() })],
  ])('[ROBUSTNESS-5] an effect of %s that rejects fails its call and nothing else', async (_what, inputSchema) => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('t', { inputSchema: schema(inputSchema as z.AnyZodObject) }, () => 'ran');
    const peer = await RawPeer.open(server, version);
    const result = await peer.callTool('t', { a: 'x', b: 'y' });
    expect(result.isError).toBe(true);
    await late();
    await late();
    expect(unhandled).toEqual([]);
    expect((await peer.request('tools/list', {})).result?.tools).toHaveLength(1);
  });

  it('[ROBUSTNESS-5] an effect of a field with suggestions that rejects fails its call and nothing else', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    const field = completable(text.refine(rejects('gone')).optional(), () => ['a']);
    server.registerPrompt('p', { argsSchema: schema(z.object({ a: field })) }, () => 'ran');
    const peer = await RawPeer.open(server, version);
    expect(await peer.request('prompts/get', { name: 'p', arguments: { a: 'x' } })).toHaveProperty('error');
    expect(await peer.request('prompts/get', { name: 'p' })).toHaveProperty('result');
    await late();
    await late();
    expect(unhandled).toEqual([]);
    const ref = { type: 'ref/prompt', name: 'p' };
    const { completion } = await peer.call('completion/complete', { ref, argument: { name: 'a', value: '' } });
    expect(completion.values).toEqual(['a']);
  });

  it('runs effects wherever they stand, and leaves the schema as it was', async () => {
    interface Node {
      readonly name: string;
      readonly children: readonly Node[];
    }
    const node: z.ZodType<Node> = z.lazy(() =>
      z.object({ name: text.refine((name) => name !== 'bad', 'is bad'), children: z.array(node) }),
    );
    const kind = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('n'), n: z.number().refine(async (n) => Promise.resolve(n > 0), 'must be positive') }),
      z.object({ kind: z.literal('e'), e: z.enum(['a', 'b']) }),
    ]);
    const given = z.object({
      node,
      kind,
      pair: z.tuple([text, z.number()]).rest(z.boolean()).optional(),
      both: z.object({ x: z.number() }).and(kind),
    });
    const adapter = adapt(schema(given));
    const good = {
      node: { name: 'r', children: [{ name: 'c', children: [] }] },
      kind: { kind: 'e', e: 'a' },
      pair: ['a', 1, true],
      both: { x: 1, kind: 'n', n: 2 },
    };
    expect(await adapter.validate(good)).toEqual({ value: await given.parseAsync(good) });
    const bad = { ...good, node: { name: 'r', children: [{ name: 'bad', children: [] }] }, both: { x: 1, kind: 'n', n: -2 } };
    expect(await adapter.validate(bad)).toMatchObject({
      issues: [
        { message: 'is bad', path: ['node', 'children', 0, 'name'] },
        { message: 'must be positive', path: ['both', 'n'] },
      ],
    });
    const failing = z.object({ a: text.refine(rejects('gone')) });
    schema(failing);
    await expect(failing.parseAsync({ a: 'x' })).rejects.toThrow('gone');
  });

  it('lets a field be left out whose schema has effects', async () => {
    const adapter = adapt(
      schema(z.object({ a: text.refine((value) => value.length > 1, 'is short').optional(), b: text.transform(Number).default('7') })),
    );
    expect(adapter.jsonSchema['required']).toBeUndefined();
    expect(await adapter.validate({})).toEqual({ value: { b: 7 } });
    expect(await adapter.validate({ a: 'x' })).toMatchObject({ issues: [{ message: 'is short', path: ['a'] }] });
  });

  it('runs an async refinement once a call', async () => {
    let runs = 0;
    const adapter = adapt(schema(z.object({ a: text.refine(async () => Promise.resolve((runs += 1) > 0)) })));
    runs = 0;
    await adapter.validate({ a: 'x' });
    expect(runs).toBe(1);
  });
});
