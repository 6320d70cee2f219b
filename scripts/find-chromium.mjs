/** Finds the Chromium of this machine, for the tests that need a browser. */

import { runCommand } from './run-command.mjs';

/** Debian's package comes where this machine has none and this process may install it. */
const find = 'which chromium chromium-browser google-chrome google-chrome-stable | grep .';
const install = 'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium';

/** @returns {Promise<string>} Its path: what `MORTISE_CHROMIUM` says, or else the one in PATH. Rejects where there is none. */
export async function findChromium() {
  if (process.env.MORTISE_CHROMIUM !== undefined) return process.env.MORTISE_CHROMIUM;
  const { stdout, stderr } = await runCommand('sh', ['-c', `${find} || (${install} >&2 && ${find})`]);
  const [path] = stdout.split('\n');
  if (path === '') throw new Error(`There is no Chromium in PATH: install it, or name one in MORTISE_CHROMIUM\n${stderr}`);
  return path;
}
