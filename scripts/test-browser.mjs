/**
 * `npm run test:browser`: loads every edge-safe entry in Chromium, lets a server and a client talk there, and a page use servers over HTTP,
 * WebSocket and a message port, in both eras.
 * The suite itself lies in `browser-tests.mjs`, which needs what is installed first.
 */

import { setUp } from './set-up.mjs';
import { reportTotals } from './report-totals.mjs';
import { findChromium } from './find-chromium.mjs';

await setUp();
const { browserTests } = await import('./edge/browser-tests.mjs');

const { runTests } = await import('./run-tests.mjs');

const totals = { passed: 0, failed: 0, failures: [] };
const chromium = await findChromium();
for await (const { title, error } of browserTests(chromium)) {
  totals[error === undefined ? 'passed' : 'failed'] += 1;
  if (error !== undefined) totals.failures.push(title);
  console.log(`${error === undefined ? 'ok    ' : 'FAILED'} ${title}${error === undefined ? '' : `\n${error}`}`);
}
const { totals: signIns } = await runTests({
  args: ['apps/protected'],
  env: { MORTISE_CHROMIUM: chromium },
  report: '.cache/browser-tests.json',
});
totals.passed += signIns.passed;
totals.failed += signIns.failed;
totals.failures.push(...signIns.failures);
console.log();
reportTotals(totals);
