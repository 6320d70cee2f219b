/**
 * `npm run test:browser`: loads every edge-safe entry in Chromium, lets a server and a client talk there, and a page use servers over HTTP,
 * WebSocket and a message port, in both eras. `MORTISE_CHROMIUM` names a Chromium that is not in PATH.
 */

import { browserTests } from './edge/browser-tests.mjs';
import { runCommand } from './run-command.mjs';
import { reportTotals, runTests } from './run-tests.mjs';

/** Debian's package comes where this machine has none and this process may install it. */
const find = 'which chromium chromium-browser google-chrome google-chrome-stable | grep .';
const install = 'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium';

let passed = 0;
const failures = [];
const chromium = await findChromium();
for await (const { title, error } of browserTests(chromium)) {
  if (error === undefined) passed += 1;
  else failures.push(title);
  console.log(`${error === undefined ? 'ok    ' : 'FAILED'} ${title}${error === undefined ? '' : `\n${error}`}`);
}
const { totals: signIns } = await runTests({
  args: ['apps/protected'],
  env: { MORTISE_CHROMIUM: chromium },
  report: '.cache/browser-tests.json',
});
reportTotals({ passed: passed + signIns.passed, failures: [...failures, ...signIns.failures] });

async function findChromium() {
  if (process.env.MORTISE_CHROMIUM !== undefined) return process.env.MORTISE_CHROMIUM;
  const { stdout, stderr } = await runCommand('sh', ['-c', `${find} || (${install} >&2 && ${find})`]);
  const [path] = stdout.split('\n');
  if (path === '') throw new Error(`There is no Chromium in PATH: install it, or name one in MORTISE_CHROMIUM\n${stderr}`);
  return path;
}
