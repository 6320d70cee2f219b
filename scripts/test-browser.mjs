/**
 * `npm run test:browser`: loads every edge-safe entry in Chromium, lets a server and a client talk there, and a page use servers over HTTP,
 * WebSocket and a message port, in both eras. `MORTISE_CHROMIUM` names a Chromium that is not in PATH.
 */

import { browserTests } from './edge/browser-tests.mjs';
import { findChromium } from './find-chromium.mjs';
import { reportTotals, runTests } from './run-tests.mjs';

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
