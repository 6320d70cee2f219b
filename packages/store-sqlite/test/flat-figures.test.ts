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

it('[ROBUSTNESS-18] renews the leases of one turn of the event loop in one transaction, and answers each by itself', async () => {
  const { owners, writes, reasons, later, beside } = (await run('renew')) as {
    readonly owners: readonly string[];
    readonly writes: readonly string[];
    readonly reasons: readonly string[];
    readonly later: number;
    readonly beside: readonly string[];
  };
  expect(owners).toEqual(Array.from({ length: 501 }, (_, n) => (n === 7 ? 'none' : n === 500 ? 'none' : 'me')));
  expect(writes).toEqual(['BEGIN', ...Array.from({ length: 501 }, () => 'UPDATE'), 'COMMIT']);
  // A transaction that fails stores none of its leases.
  expect(reasons).toEqual(['the disk is full', 'the disk is full']);
  expect(later).toBe(3);
  // A record that cannot be read fails by itself.
  expect(beside).toEqual(['rejected', 'fulfilled']);
});
