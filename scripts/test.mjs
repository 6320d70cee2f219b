/**
 * `npm test`: installs, builds, runs every gate and every test, writes docs/spec-coverage.md, and ends with the tests by
 * package and one line of totals. A gate that fails counts as one failure. Words after `--` go to vitest and leave the gates out.
 */

import { setUp } from './set-up.mjs';
import { printTable, runTests } from './run-tests.mjs';
import { reportTotals } from './report-totals.mjs';

await setUp();
const { gates, runGates } = await import('./gates.mjs');
const { writeSpecCoverage } = await import('./spec-coverage.mjs');

const filters = process.argv.slice(2);
const everything = filters.length === 0;

console.log();
const failedGates = everything ? await runGates(gates) : [];

console.log('\ntests');
const { tests, totals } = await runTests({ args: filters });

const failures = [...failedGates.map(({ gate }) => `the gate ${gate.name}`), ...totals.failures];
if (everything) {
  const coverage = writeSpecCoverage(tests);
  console.log(`\n${coverage.summary}`);
  if (!coverage.ok) failures.push('the coverage of the specification, docs/spec-coverage.md');
}

console.log();
printTable(tests);
if (everything)
  console.log(
    `\ngates: ${gates.length - failedGates.length} hold, ${failedGates.length} failed${failedGates.map(({ gate }) => ` ${gate.name}`).join('')}`,
  );
console.log('not run here: the suite on Node 22 and 24 (npm run test:nodes), the browser (npm run test:browser)\n');
reportTotals({ ...totals, failed: failures.length, failures });
