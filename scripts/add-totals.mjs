/** Adds up the totals that several runs left in files, prints each and their sum as the closing line, and fails where anything failed. */

import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { reportTotals } from './report-totals.mjs';

const sum = { passed: 0, failed: 0, skipped: 0, failures: [] };
console.log();
for (const file of process.argv.slice(2)) {
  // A run that left no totals ended before its end.
  const hasEnded = existsSync(file);
  const totals = hasEnded ? JSON.parse(readFileSync(file, 'utf8')) : { passed: 0, failed: 1, skipped: 0, failures: [] };
  const counts = `${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`;
  const name = basename(file, '.json');
  console.log(`${name.padEnd(12)} ${hasEnded ? counts : 'ended before its end: see above'}`);
  for (const outcome of ['passed', 'failed', 'skipped']) sum[outcome] += totals[outcome];
  sum.failures.push(...totals.failures.map((failure) => `${name}: ${failure}`));
}
console.log();
reportTotals(sum);
