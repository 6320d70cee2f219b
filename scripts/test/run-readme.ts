/** Runs the first program of a store's README against an engine of the test. */

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the program does then: a value goes through a store, and a message through the bus. */
const THEN = `
const heard = new Promise((resolve) => void stores.bus.subscribe('a', resolve).then(() => stores.bus.publish({ topic: 'a', payload: 'heard' })));
await stores.states.put('a', 'stored', 60_000);
console.log(await stores.states.get('a'), (await heard).payload);
await handler.close();
await server.close();
await stores.close();
`;

/** Runs the program, with its URL replaced. @returns What it printed: `stored heard`. */
export async function runReadme(name: string, url: string): Promise<string> {
  const readme = await readFile(path.join(root, 'packages', name, 'README.md'), 'utf8');
  const [, program = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
  await mkdir(path.join(root, '.cache'), { recursive: true });
  // Below the root, which has all packages.
  const folder = await mkdtemp(path.join(root, '.cache', `${name}-`));
  try {
    const file = path.join(folder, 'program.mts');
    await writeFile(file, program.replace(/url: '[^']*'/, `url: ${JSON.stringify(url)}`) + THEN);
    const { stdout } = await promisify(execFile)(process.execPath, ['--conditions', 'mortise-source', '--import', 'tsx', file], {
      cwd: root,
    });
    return stdout.trim();
  } finally {
    await rm(folder, { recursive: true });
  }
}
