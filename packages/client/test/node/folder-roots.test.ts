/** Folders of this machine as roots. */

import { access, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, it, vi } from 'vitest';
import { folderRoots } from '../../src/node.ts';
import { startAsking } from '../answers/asking.ts';

/** `access` as a test sets it: a superuser may read folders of any mode. */
vi.mock('node:fs/promises', async (importOriginal) => {
  const fs = await importOriginal<{ access: typeof access }>();
  return { ...fs, access: vi.fn(fs.access) };
});

const made: string[] = [];
afterEach(async () => {
  vi.useRealTimers();
  vi.mocked(access).mockReset();
  for (const path of made.splice(0)) await rm(path, { recursive: true, force: true });
});

async function makeFolder(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'roots-')));
  made.push(path);
  return path;
}

it('[ROOT-007] tells of folders that are there and may be read, by where they really are, and of nothing else', async () => {
  const base = await makeFolder();
  await mkdir(join(base, 'real'));
  await symlink(join(base, 'real'), join(base, 'link'));
  await writeFile(join(base, 'file'), '');
  const closed = join(base, 'closed');
  await mkdir(closed);
  vi.mocked(access).mockImplementation(async (path) => {
    if (path === closed) throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
  });
  const left: string[] = [];
  const roots = folderRoots([join(base, 'link'), { path: base, name: 'all' }, join(base, 'file'), join(base, 'gone'), closed], {
    onUnavailable: (path) => left.push(path),
  });
  const { client, ask } = await startAsking('legacy', { roots });
  const told = (await ask('roots/list')).answer;
  await client.close();
  expect(told).toEqual({
    roots: [{ uri: pathToFileURL(join(base, 'real')).href }, { uri: pathToFileURL(base).href, name: 'all' }],
  });
  expect(left.sort()).toEqual([closed, join(base, 'file'), join(base, 'gone')]);
});

it('[ROOT-007] tells the server when a folder has gone', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const [kept, gone] = [await makeFolder(), await makeFolder()];
  expect(() => folderRoots([kept], { onUnavailble: () => undefined } as never)).toThrow(/unknown option "onUnavailble"/);
  const roots = folderRoots([kept, gone]);
  let told: () => void = () => undefined;
  const wasTold = new Promise<void>((resolve) => {
    told = resolve;
  });
  const stop = roots.announce({ sendRootsListChanged: () => Promise.resolve(told()) }, { intervalMs: 1000 });
  while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));
  await rm(gone, { recursive: true });
  vi.advanceTimersByTime(1000);
  await wasTold;
  stop();
  expect(await roots()).toEqual([{ uri: pathToFileURL(kept).href }]);
  expect(vi.getTimerCount()).toBe(0);
});
