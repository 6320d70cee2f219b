/**
 * Another version of Node, from the npm package `node`, in a folder of its own under tools/ so that it never shadows the
 * machine's. `node scripts/tool-node.mjs 24` prints where it is, installing it where it is missing.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { installTool } from './install-tool.mjs';
import { root } from './run-command.mjs';

/** The lines of Node that tools/ can bring, oldest first. */
export const toolNodes = readdirSync(join(root, 'tools'))
  .flatMap((name) => /^node-(\d+)$/.exec(name)?.[1] ?? [])
  .sort((a, b) => Number(a) - Number(b));

/**
 * Installs the line's pinned version where it is not there yet.
 *
 * @param {string} line `20`, `22` or `24`.
 * @returns {Promise<string>} The path of the program.
 */
export async function installToolNode(line) {
  if (!toolNodes.includes(line)) throw new Error(`tools/ brings no Node ${line}; it brings ${toolNodes.join(', ')}.`);
  // The package fetches the program by its install script.
  const modules = await installTool(`node-${line}`, { runsScripts: true });
  return join(modules, 'node', process.platform === 'win32' ? 'bin/node.exe' : 'bin/node');
}

if (process.argv[1] === import.meta.filename) console.log(await installToolNode(process.argv[2] ?? ''));
