/** What the memory store keeps at most: with any number of tasks, ended ones included, the process must live. */

import { expect, it, vi } from 'vitest';
import { MemoryTaskStore, type TaskRecord } from '@mortise/tasks';
import { CORE, MODERN, RawPeer } from './support/raw-peer.ts';
import { McpServer } from '@mortise/server';
import { createTasks } from '@mortise/tasks/server';
import { z } from 'zod';

const FOUR_MILLION = 'x'.repeat(4 * 2 ** 20);

const TERMS = { leaseMs: 30_000 };

function newTask(id: string, principal: string, text = ''): Omit<TaskRecord, 'version'> {
  const now = Date.now();
  const call = { tool: 't', arguments: { text }, principal, revision: MODERN, clientCapabilities: {}, scopes: [] };
  const times = { createdAtMs: now, updatedAtMs: now, ttlMs: null };
  return { id, principal, generation: 'g', status: 'working', driver: 'engine', resumable: false, asks: [], call, ...times };
}

async function end(store: MemoryTaskStore, id: string, text: string): Promise<void> {
  const { version = 0 } = (await store.get(id)) ?? {};
  await store.update(id, version, { status: 'completed', result: { text } });
}

it('[ROBUSTNESS-17] keeps the results of a caller up to a bound: what ended first goes first, and nothing of others', async () => {
  const store = new MemoryTaskStore();
  await store.create(newTask('bob', 'bob'), TERMS);
  await end(store, 'bob', 'small');
  for (let n = 0; n < 12; n++) {
    await store.create(newTask(`ann ${n}`, 'ann'), TERMS);
    await end(store, `ann ${n}`, FOUR_MILLION);
  }
  const kept = (await store.list('ann', { limit: 100 })).tasks.map(({ id }) => id);
  expect(kept.toSorted()).toEqual(['ann 10', 'ann 11', 'ann 5', 'ann 6', 'ann 7', 'ann 8', 'ann 9']);
  expect((await store.get('bob'))?.result).toEqual({ text: 'small' });
});

it('[ROBUSTNESS-17] takes no task more of a caller whose unfinished ones hold as much as may be kept', async () => {
  const store = new MemoryTaskStore();
  for (let n = 0; n < 7; n++) await store.create(newTask(`ann ${n}`, 'ann', FOUR_MILLION), TERMS);
  await expect(store.create(newTask('ann 7', 'ann', FOUR_MILLION), TERMS)).rejects.toMatchObject({ code: 'ERR_TASK_LIMIT' });
  await store.create(newTask('bob', 'bob', FOUR_MILLION), TERMS);
  await end(store, 'ann 0', '');
  await store.create(newTask('ann 7', 'ann', FOUR_MILLION), TERMS);
  expect(await store.get('ann 0')).toBeUndefined();
});

it('[ROBUSTNESS-17] counts the steps of a task, and forgets them when it ends', async () => {
  const store = new MemoryTaskStore();
  await store.create(newTask('ann', 'ann'), TERMS);
  for (let n = 0; n < 7; n++) await store.putStep('ann', `step ${n}`, FOUR_MILLION);
  await expect(store.putStep('ann', 'step 7', FOUR_MILLION)).rejects.toMatchObject({ code: 'ERR_TASK_LIMIT' });
  await end(store, 'ann', '');
  expect(await store.getStep('ann', 'step 0')).toBeUndefined();
  await store.create(newTask('next', 'ann', FOUR_MILLION), TERMS);
  for (let n = 0; n < 6; n++) await store.putStep('next', `step ${n}`, FOUR_MILLION);
  expect((await store.get('ann'))?.status).toBe('completed');
});

it('[ROBUSTNESS-17] forgets the arguments of a task when it ends', async () => {
  const store = new MemoryTaskStore();
  const server = new McpServer({ name: 's', version: '1' }, { extensions: [createTasks({ store })] });
  server.registerTool(
    'length',
    { execution: { taskSupport: 'required' }, inputSchema: { text: z.string() } },
    ({ text }) => `${text.length}`,
  );
  const peer = await RawPeer.open(server, { version: MODERN });
  const { taskId } = await peer.start('length', { text: 'a secret' });
  const { result } = await peer.until(taskId, ({ status }) => status === 'completed');
  expect(result.content[0].text).toBe('8');
  expect(JSON.stringify(await store.get(taskId))).not.toContain('secret');
});

it.each([
  ['2025-11-25', CORE, { error: { code: -32602 } }],
  ['2026-07-28', MODERN, { result: { isError: true } }],
] as const)('[ROBUSTNESS-17] stores nothing of a call with invalid arguments, which gets no task: %s', async (_, version, answer) => {
  const store = new MemoryTaskStore();
  const create = vi.spyOn(store, 'create');
  const server = new McpServer({ name: 's', version: '1' }, { extensions: [createTasks({ store })] });
  server.registerTool('length', { execution: { taskSupport: 'required' }, inputSchema: { text: z.string() } }, () => '');
  const peer = await RawPeer.open(server, { version });
  const args = { text: 5, beside: 'x'.repeat(3 * 2 ** 20) };
  expect(await peer.request('tools/call', { name: 'length', arguments: args, task: {} })).toMatchObject(answer);
  expect(create).not.toHaveBeenCalled();
  const { taskId } = await peer.start('length', { text: 'valid' });
  expect(await store.get(taskId)).toBeDefined();
});
