/** Puts the tarballs that npm would get of all packages into `packed/`, for programs that install them while no registry has them. Build first: `npm run pack` does. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-command.mjs';
import { runPnpm } from './set-up.mjs';

/** @param {string} folder Emptied first. */
export async function packPackages(folder) {
  rmSync(folder, { recursive: true, force: true });
  const { code, output } = await runPnpm(['--recursive', '--filter', './packages/*', 'pack', '--pack-destination', folder]);
  if (code !== 0) throw new Error(`pnpm pack failed:\n${output}`);
}

if (process.argv[1] === import.meta.filename) {
  await packPackages(join(root, 'packed'));
  console.log(`npm install ${join(root, 'packed')}/*.tgz`);
}
