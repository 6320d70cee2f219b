/** Where this machine's Chromium is. Installs Debian's package where there is none and this process may. */

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runCommand } from './run-command.mjs';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome', 'chrome.exe'];

/** @returns {Promise<string>} The path of the program. `MORTISE_CHROMIUM` names one that lies elsewhere. */
export async function findChromium() {
  const found = lookAround();
  if (found !== undefined) return found;
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Error('No Chromium on this machine: install it, or name one: MORTISE_CHROMIUM=/path/to/chrome');
  console.log('chromium  apt-get install chromium (some 100 MB)');
  const script = 'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium';
  const { output } = await runCommand('sh', ['-c', script], { env: { DEBIAN_FRONTEND: 'noninteractive' } });
  const path = lookAround();
  if (path === undefined) throw new Error(`apt-get brought no Chromium:\n${output}`);
  return path;
}

function lookAround() {
  const named = process.env.MORTISE_CHROMIUM;
  if (named !== undefined && !existsSync(named)) throw new Error(`MORTISE_CHROMIUM names ${named}, which does not exist.`);
  if (named !== undefined) return named;
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
}
