/** What a program installs: an empty folder, the packed packages and what they need, counted on disk. */

import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { packPackages } from './pack-packages.mjs';
import { runCommand } from './run-command.mjs';

/**
 * Installs packages from their tarballs as npm would from a registry.
 *
 * @param {readonly string[]} names Such as `@mortise/server`, or a package of others as `zod@^4`.
 * @returns {Promise<{ folder: string, names: readonly string[], packages: number, bytes: number, ours: number, remove: () => void }>}
 *   `names`, `packages` and `bytes` of everything below node_modules, `ours` the bytes of `@mortise/*`. Call `remove` when done.
 */
export async function installPacked(names) {
  const tarballs = new Map((await packPackages()).map(({ name, tarball }) => [name, `file:${tarball}`]));
  const dependencies = Object.fromEntries(
    names.map((name) => [name.replace(/(?<=.)@.*$/, ''), tarballs.get(name) ?? /(?<=.)@(.*)$/.exec(name)?.[1] ?? '*']),
  );
  const overrides = Object.fromEntries([...tarballs].filter(([name]) => !(name in dependencies)));
  const folder = mkdtempSync(join(tmpdir(), 'mortise-install-'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies, overrides }, null, 2));
  const flags = ['--no-audit', '--no-fund', '--no-update-notifier', '--no-package-lock', '--omit=dev', '--prefer-offline'];
  const { code, output } = await runCommand('npm', ['install', ...flags], { cwd: folder });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  if (code !== 0) {
    remove();
    throw new Error(`npm install of ${names.join(', ')} failed:\n${output}`);
  }
  const modules = join(folder, 'node_modules');
  const installed = packagesIn(modules);
  const bytes = installed.reduce((sum, each) => sum + bytesOf(each), 0);
  const ours = installed.filter((each) => each.includes('@mortise')).reduce((sum, each) => sum + bytesOf(each), 0);
  const found = installed.map((each) => relative(modules, each).split(sep).join('/'));
  return { folder, names: found, packages: installed.length, bytes, ours, remove };
}

/** The folders of all packages below a node_modules, nested ones too. */
function packagesIn(modules) {
  if (!existsSync(modules)) return [];
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'));
  const folders = names.flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((inner) => join(name, inner)) : [name],
  );
  return folders.flatMap((name) => [join(modules, name), ...packagesIn(join(modules, name, 'node_modules'))]);
}

/** The bytes of a package's own files; packages nested in it are counted by themselves. */
function bytesOf(folder) {
  let total = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    total += entry.isDirectory() ? bytesOf(path) : statSync(path).size;
  }
  return total;
}
