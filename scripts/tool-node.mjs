/**
 * Another version of Node, from the npm package `node`, in a folder of its own under tools/ so that it never shadows the
 * machine's. `node scripts/tool-node.mjs 24` prints where it is, installing it where it is missing.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root, runCommand } from './run-command.mjs';

const binary = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';

/** The lines of Node that tools/ can bring, oldest first. */
export const toolNodes = readdirSync(join(root, 'tools'))
  .map((name) => /^node-(\d+)$/.exec(name)?.[1])
  .filter((line) => line !== undefined)
  .sort((a, b) => Number(a) - Number(b));

/**
 * Installs the line's pinned version where it is not there yet.
 *
 * @param {string} line `20`, `22` or `24`.
 * @returns {Promise<string>} The path of the program.
 */
export async function installToolNode(line) {
  const folder = join(root, 'tools', `node-${line}`);
  if (!existsSync(join(folder, 'package.json'))) throw new Error(`tools/ brings no Node ${line}; it brings ${toolNodes.join(', ')}.`);
  const path = join(folder, 'node_modules/node', binary);
  const wanted = `v${JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies.node}`;
  if ((await versionOf(path)) === wanted) return path;
  const flags = ['--no-audit', '--no-fund', '--no-update-notifier', '--ignore-scripts=false'];
  const { code, output } = await runCommand('npm', ['ci', ...flags], { cwd: folder });
  const found = await versionOf(path);
  if (code !== 0 || found !== wanted)
    throw new Error(`npm ci in tools/node-${line} brought ${found ?? 'no Node'}, not ${wanted}:\n${output}`);
  return path;
}

async function versionOf(path) {
  if (!existsSync(path)) return undefined;
  const { code, output } = await runCommand(path, ['--version']);
  return code === 0 ? output.trim() : undefined;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(await installToolNode(process.argv[2] ?? toolNodes.at(-1) ?? ''));
}
