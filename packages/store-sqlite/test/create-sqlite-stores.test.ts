/** Opening files: migrations, drivers, several processes, and what goes wrong. */

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSqliteStores } from '@mortise/store-sqlite';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { prepareProgram, type RunProgram } from './run-program.ts';

// npm may have to bring a Node first.
vi.setConfig({ testTimeout: 120_000 });

let run: RunProgram;
beforeAll(async () => {
  run = await prepareProgram('scenarios');
});

async function newFile(): Promise<string> {
  const temporary = await mkdtemp(path.join(tmpdir(), 'mortise-sqlite-'));
  onTestFinished(() => rm(temporary, { recursive: true, force: true }));
  return path.join(temporary, 'stores.db');
}

it('finds again what another process wrote', async () => {
  const file = await newFile();
  expect(await run('write', file)).toBe(true);
  expect(await run('read', file)).toEqual({ task: 'completed', step: 7, session: 'ada', handles: ['T1'] });
});

it('brings a new file to its layout once, where eight processes open it at once', async () => {
  const file = await newFile();
  const counts = await Promise.all(Array.from({ length: 8 }, () => run('claim', file)));
  expect(counts.toSorted()).toEqual([false, false, false, false, false, false, false, true]);
  expect(await run('layout', file)).toEqual({ versions: [1], mode: 'wal' });
});

it('[ROBUSTNESS-17] counts the ended tasks and the characters of each principal and of all', async () => {
  const { before, after } = (await run('sums', await newFile())) as Readonly<
    Record<string, readonly [readonly object[], readonly object[]]>
  >;
  for (const sums of [before, after]) expect(sums?.[0]).toEqual(sums?.[1]);
  expect(before?.[0]).toMatchObject([
    { owner: '*', ended: 1 },
    { owner: '=ada', ended: 0 },
    { owner: '=bob', ended: 1 },
  ]);
  expect(after?.[0]).toMatchObject([
    { owner: '*', ended: 1 },
    { owner: '=ada', ended: 1 },
  ]);
});

it('refuses a file of a newer version, and leaves it as it is', async () => {
  const file = await newFile();
  await run('write', file);
  await run('make-newer', file);
  expect(await run('open', file)).toMatchObject({ code: 'ERR_SQLITE_SCHEMA' });
  expect(await run('layout', file)).toEqual({ versions: [99], mode: 'wal' });
});

it('says which file cannot be opened', async () => {
  const file = path.join(path.dirname(await newFile()), 'no-such-folder', 'stores.db');
  expect(await run('open', file)).toEqual({ code: 'ERR_SQLITE_DRIVER' });
  expect(await run('told', file)).toContain(`the database ${file} cannot be opened: `);
});

it('leaves a database open that was handed over, and refuses what is not a database', async () => {
  expect(await run('handed-over')).toEqual({ isOpen: true, none: 'TypeError', both: 'TypeError', unknown: 'ERR_SQLITE_DRIVER' });
});

it('waits for a process that writes, and goes on', async () => {
  const file = await newFile();
  await run('write', file);
  const [, waited] = await Promise.all([run('hold', file, '700'), run('write-late', file, '300')]);
  expect(waited).toBe(true);
});

it('forgets what has expired without being asked', async () => {
  expect(await run('clearing')).toEqual({ states: 1, claims: 1, sessions: 1, events: 100 });
});

it.each([...['maxEventsPerStream', 'maxAgeMs'].map((name) => ['events', name] as const), [undefined, 'busyTimeoutMs'] as const])(
  '[ROBUSTNESS-7] opens nothing where %s %s is not a number',
  async (part, name) => {
    const file = await newFile();
    for (const value of [NaN, -1, '64']) {
      const given = part === undefined ? { [name]: value } : { [part]: { [name]: value } };
      await expect(createSqliteStores({ path: file, ...given })).rejects.toThrow(new RegExp(`: "${name}" must be a number, [01] or more`));
    }
    expect(existsSync(file)).toBe(false);
  },
);

it('takes Infinity as no bound, rounds a fraction down, and undefined as left out', async () => {
  expect(await run('bounds')).toEqual([
    { timeout: 2_147_483_647, replayed: 1, listed: 1 },
    { timeout: 2, replayed: 1, listed: 1 },
    { timeout: 5000, replayed: 1, listed: 1 },
  ]);
});
