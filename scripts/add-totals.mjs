/** Adds up the totals that several runs left in files, prints them as the closing line, and fails where anything failed. */

import { existsSync, readFileSync } from 'node:fs';
import { reportTotals } from './report-totals.mjs';

const sum = { passed: 0, failed: 0, skipped: 0 };
for (const file of process.argv.slice(2)) {
  // A run that left no totals ended before its end.
  const totals = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { passed: 0, failed: 1, skipped: 0 };
  for (const outcome of Object.keys(sum)) sum[outcome] += totals[outcome];
}
console.log();
reportTotals(sum);
