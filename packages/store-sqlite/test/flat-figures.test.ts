/** What an operation costs, however much is stored. */

import { beforeAll, expect, it, vi } from 'vitest';
import { prepareProgram, type RunProgram } from './run-program.ts';

// npm may have to bring a Node first.
vi.setConfig({ testTimeout: 120_000 });

let run: RunProgram;
beforeAll(async () => {
  run = await prepareProgram('flat');
});

interface Appends {
  readonly cpuMs: number;
  readonly most: number;
  readonly left: number;
}

it('[ROBUSTNESS-18] appends an event as fast beside 100,000 events as beside 100, and deletes few expired ones at a time', async () => {
  const { few, many, expired } = (await run('append')) as { readonly few: Appends; readonly many: Appends; readonly expired: Appends };
  expect(many.cpuMs).toBeLessThan(4 * few.cpuMs + 50);
  // 2,048 appends look for expired events eight times.
  expect([expired.left, expired.most]).toEqual([50_000 - 8 * 1024, 1024]);
});

it('[ROBUSTNESS-16] keeps little more of each stream than its limit, in whatever turn the streams get their events', async () => {
  for (const kept of (await run('trim')) as readonly number[]) expect(kept).toBeLessThan(10 + 64);
});

it('[ROBUSTNESS-17] starts a task as fast beside 45,000 finished ones as beside ten', async () => {
  const { few, many } = (await run('start')) as { readonly few: number; readonly many: number };
  expect(many).toBeLessThan(4 * few + 50);
});

it('[ROBUSTNESS-18] renews the leases of any number of tasks by one row, and rejects where it cannot be written', async () => {
  const { held, writes, most, failed } = (await run('renew')) as { readonly [name: string]: unknown };
  expect({ held, writes, most }).toEqual({ held: 499, writes: ['BEGIN', 'INSERT', 'COMMIT'], most: 1 });
  expect(failed).toBe('the disk is full');
});

it('[ROBUSTNESS-18] deletes expired sessions and tasks in batches as it writes', async () => {
  const { most, left } = (await run('sweep')) as { readonly [name: string]: unknown };
  expect({ most, left }).toEqual({ most: 1024, left: [[{ count: 768 }], [{ count: 768 }]] });
});

it('[ROBUSTNESS-18] looks for orphans as fast beside 100,000 open tasks as beside 100', async () => {
  const { few, many } = (await run('orphans')) as { readonly few: number; readonly many: number };
  expect(many).toBeLessThan(4 * few + 50);
});
