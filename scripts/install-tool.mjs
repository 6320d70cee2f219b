/** Installs what a folder of tools/, or docs/, pins, where it is not there yet. */

import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runCommand } from './run-command.mjs';

/**
 * @param {string} name A folder below tools/, or `../docs`.
 * @param {{ runsScripts?: boolean }} [options] `runsScripts`: its packages' install scripts run.
 * @returns {Promise<string>} Its node_modules.
 */
export async function installTool(name, { runsScripts = false } = {}) {
  const folder = join(root, 'tools', name);
  const lock = join(folder, 'package-lock.json');
  // A copy of the lockfile says what is installed.
  const installed = join(folder, 'node_modules/.installed-lock.json');
  if (!existsSync(installed) || readFileSync(installed, 'utf8') !== readFileSync(lock, 'utf8')) {
    const flags = ['--no-audit', '--no-fund', '--no-update-notifier', `--ignore-scripts=${!runsScripts}`];
    const { code, output } = await runCommand('npm', ['ci', ...flags], { cwd: folder });
    if (code !== 0) throw new Error(`npm ci in tools/${name} failed:\n${output}`);
    copyFileSync(lock, installed);
  }
  return join(folder, 'node_modules');
}
