/** Someone swaps a directory for a link at the worst moment: between the look at a path and the open, and back again. */

import type * as FileSystem from 'node:fs/promises';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { HandlerContext } from '../src/handler-context.ts';
import { files } from '../src/node.ts';

const around = vi.hoisted(() => ({ beforeOpen: async () => {}, afterOpen: async () => {} }));

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof FileSystem>();
  const open: typeof original.open = async (...args) => {
    await around.beforeOpen();
    const handle = await original.open(...args);
    await around.afterOpen();
    return handle;
  };
  return { ...original, open };
});

it.each(['left in place', 'swapped back'])(
  '[RES-018] reads nothing through a link that is put in while a file is opened, and %s',
  async (how) => {
    const place = await mkdtemp(join(tmpdir(), 'mortise-swap-'));
    for (const directory of ['root/a', 'elsewhere']) await mkdir(join(place, directory), { recursive: true });
    await writeFile(join(place, 'root', 'a', 'f.txt'), 'inside');
    await writeFile(join(place, 'elsewhere', 'f.txt'), 'outside');
    await symlink(join(place, 'elsewhere'), join(place, 'link'));
    const docs = files(join(place, 'root'));
    const read = async (): Promise<unknown> => docs.read(new URL('file:///docs/a/f.txt'), { path: 'a/f.txt' }, {} as HandlerContext);
    expect(await read()).toMatchObject({ text: 'inside' });

    around.beforeOpen = async () => {
      await rename(join(place, 'root', 'a'), join(place, 'aside'));
      await rename(join(place, 'link'), join(place, 'root', 'a'));
    };
    if (how === 'swapped back') {
      around.afterOpen = async () => {
        await rename(join(place, 'root', 'a'), join(place, 'link'));
        await rename(join(place, 'aside'), join(place, 'root', 'a'));
      };
    }
    expect(await read()).toBeUndefined();
    around.beforeOpen = around.afterOpen = async () => {};
    await rm(place, { recursive: true, force: true });
  },
);
