/** Where this machine's Chromium is. Installs Debian's package where there is none and this session may. */

import { existsSync } from 'node:fs';
import { runCommand } from './run-command.mjs';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const fixedPlaces = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/**
 * `MORTISE_CHROMIUM` names one that lies elsewhere.
 *
 * @returns {Promise<string>} The path of the program.
 */
export async function findChromium() {
  const found = await lookAround();
  if (found !== undefined) return found;
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    throw new Error(
      'No Chromium on this machine. Install it (Debian: apt-get install chromium), or name one: MORTISE_CHROMIUM=/path/to/chrome.',
    );
  }
  console.log('chromium  apt-get install chromium (some 100 MB)');
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  const update = await runCommand('apt-get', ['update', '-qq'], { env: quiet });
  const install = await runCommand('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], { env: quiet });
  const path = await lookAround();
  if (path === undefined) throw new Error(`apt-get brought no Chromium:\n${update.output}${install.output}`);
  console.log(`chromium  done in ${(update.seconds + install.seconds).toFixed(1)} s`);
  return path;
}

async function lookAround() {
  const named = process.env.MORTISE_CHROMIUM;
  if (named !== undefined) {
    if (!existsSync(named)) throw new Error(`MORTISE_CHROMIUM names ${named}, which does not exist.`);
    return named;
  }
  const fixed = fixedPlaces.find((path) => existsSync(path));
  if (fixed !== undefined) return fixed;
  for (const name of names) {
    const { code, output } = await runCommand(process.platform === 'win32' ? 'where' : 'which', [name]);
    if (code === 0) return output.split(/\r?\n/)[0];
  }
  return undefined;
}
