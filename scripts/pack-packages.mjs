/** Packs every package as `pnpm publish` would: `publishConfig.exports` applied, `workspace:` replaced by versions. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-command.mjs';
import { runPnpm } from './set-up.mjs';

/** Of this process alone: two may pack at a time. */
const target = join(root, '.cache/pack', String(process.pid));

/** @typedef {{ name: string, folder: string, tarball: string }} PackedPackage */

/** @type {Promise<readonly PackedPackage[]> | undefined} */
let packed;

/**
 * Packs once a process, whoever asks.
 *
 * @returns {Promise<readonly PackedPackage[]>}
 */
export function packPackages() {
  packed ??= packForThisProcess();
  return packed;
}

function packForThisProcess() {
  process.once('exit', () => rmSync(target, { recursive: true, force: true }));
  return packInto(target);
}

/**
 * Packs into a folder, which is made where it is missing. Tarballs of ours that lie there already go: an older one would be
 * installed in place of the new one.
 *
 * @param {string} folder
 * @returns {Promise<readonly PackedPackage[]>}
 */
export async function packInto(folder) {
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder)) if (/^mortise-.*\.tgz$/.test(file)) rmSync(join(folder, file));
  const { code, output } = await runPnpm(['--recursive', '--filter', './packages/*', 'pack', '--pack-destination', folder]);
  if (code !== 0) throw new Error(`pnpm pack failed:\n${output}`);
  const tarballs = new Set(readdirSync(folder));
  return readdirSync(join(root, 'packages'))
    .filter((name) => existsSync(join(root, 'packages', name, 'package.json')))
    .map((name) => {
      const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
      const file = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`;
      if (!tarballs.has(file)) throw new Error(`pnpm pack gave no ${file}`);
      return { name: manifest.name, folder: `packages/${name}`, tarball: join(folder, file) };
    });
}
