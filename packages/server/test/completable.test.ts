import { type } from 'arktype';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-3-25/v3';
import { completable, getCompleter, getFieldCompleter } from '../src/completable.ts';
import { McpServer } from '@mortise/server';
import type { CompleteReturn } from '@mortise/server/types';
import { type Loose, MODERN, RawPeer } from './raw-peer.ts';
import { rank } from '../src/rank.ts';
import { countCpuMs } from '../../../scripts/test/cpu-time.ts';

describe('completable', () => {
  const complete = (): string[] => ['a'];

  it('marks the schema, which has one completer', () => {
    const schema = z.string();
    expect(completable(schema, complete)).toBe(schema);
    expect(getCompleter(schema)).toBe(complete);
    expect(() => completable(schema, complete)).toThrow(/must not have suggestions yet/);
  });

  it('leaves the schema as good as it was', () => {
    const field = completable(z.string().min(2).describe('A word'), complete);
    expect(field['~standard'].validate('x')).toHaveProperty('issues');
    expect(field['~standard'].validate('xx')).toEqual({ value: 'xx' });
    expect(z.toJSONSchema(z.object({ field }))).toMatchObject({
      properties: { field: { type: 'string', minLength: 2, description: 'A word' } },
    });
  });

  it('is found behind what is put around it afterwards', () => {
    expect(getCompleter(completable(z.string(), complete).optional())).toBe(complete);
    expect(getCompleter(completable(z.string(), complete).default('x').describe('D'))).toBe(complete);
  });

  it('works with zod 3, put around the rest', () => {
    const field = completable(z3.string().optional(), complete);
    expect(getCompleter(field)).toBe(complete);
    expect(field['~standard'].validate(undefined)).toEqual({ value: undefined });
  });

  it('works with a library whose schemas are functions', () => {
    const field = completable(type('string'), complete);
    expect(getCompleter(field)).toBe(complete);
    expect(field['~standard'].validate('x')).toEqual({ value: 'x' });
  });

  it('is found by field in a shape and in a whole object', () => {
    const shape = { language: completable(z.string(), complete), plain: z.string() };
    for (const schema of [shape, z.object(shape)]) {
      expect(getFieldCompleter(schema, 'language')).toBe(complete);
      expect(getFieldCompleter(schema, 'plain')).toBeUndefined();
      expect(getFieldCompleter(schema, 'toString')).toBeUndefined();
    }
    expect(getFieldCompleter(undefined, 'language')).toBeUndefined();
  });
});

describe('what a completer gives', () => {
  const many = Array.from({ length: 250 }, (_, i) => `v${i}`);
  const completionOf = async (answer: CompleteReturn): Promise<Loose> => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerPrompt('p', { argsSchema: { a: completable(z.string(), () => answer) } }, () => 'x');
    const peer = await RawPeer.open(server, MODERN);
    const ref = { type: 'ref/prompt', name: 'p' };
    return (await peer.call('completion/complete', { ref, argument: { name: 'a', value: '' } })).completion;
  };

  it('[COMP-005] is cut at 100 values and says how many there are', async () => {
    expect(await completionOf(many)).toEqual({ values: many.slice(0, 100), total: 250, hasMore: true });
    expect(await completionOf(many.slice(0, 100))).toEqual({ values: many.slice(0, 100), total: 100, hasMore: false });
    expect(await completionOf([])).toEqual({ values: [], total: 0, hasMore: false });
  });

  it('keeps what it knows of values that it did not give', async () => {
    expect(await completionOf({ values: ['a'], total: 900 })).toEqual({ values: ['a'], total: 900, hasMore: true });
    expect(await completionOf({ values: ['a'], hasMore: true })).toEqual({ values: ['a'], hasMore: true });
    expect(await completionOf({ values: many, total: 900 })).toMatchObject({ total: 900, hasMore: true });
  });
});

describe('rank', () => {
  it('[COMP-006] puts the whole word first, then beginnings, word starts, parts, and characters in order', () => {
    const candidates = ['subpython', 'pxyxtxhxoxn', 'ipython', 'my python', 'Python 3', 'java', 'python'];
    expect(rank('python', candidates)).toEqual(['python', 'Python 3', 'my python', 'subpython', 'ipython', 'pxyxtxhxoxn']);
  });

  it('[COMP-006] matches fuzzily, tighter matches first', () => {
    expect(rank('rds', ['readings', 'reads', 'words', 'none'])).toEqual(['words', 'reads', 'readings']);
    expect(rank('abc', ['a1b1c', 'a11b11c'])).toEqual(['a1b1c', 'a11b11c']);
  });

  it('keeps the order of equals, and everything where nothing was typed', () => {
    expect(rank('', ['b', 'a'])).toEqual(['b', 'a']);
    expect(rank('x', ['xb', 'xa'])).toEqual(['xb', 'xa']);
  });

  it('makes no difference of case and accents, and knows words within names', () => {
    expect(rank('MUN', ['München', 'Bremen'])).toEqual(['München']);
    expect(rank('list', ['stylist', 'toolsList', 'tools_list'])).toEqual(['toolsList', 'tools_list', 'stylist']);
  });

  it('takes time linear in what it is given', () => {
    const hostile = Array.from({ length: 200 }, () => 'a'.repeat(100_000));
    const cpuMs = countCpuMs();
    expect(rank(`${'a'.repeat(300)}b`, hostile)).toEqual([]);
    expect(cpuMs()).toBeLessThan(2_000);
  });
});
