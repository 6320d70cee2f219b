/**
 * `npm test`: installs, builds, runs every gate and every test, and ends with one line of totals; a gate that fails counts as one failure.
 * Words after `--` go to vitest: then nothing is built that no test asks for, and the gates are left out.
 * Whatever is random in a test takes the same seed in every run. `MORTISE_SEED=random npm test` takes another, and prints it.
 */

import { setUp } from './set-up.mjs';
import { reportTotals, runTests } from './run-tests.mjs';

const args = process.argv.slice(2);
const everything = args.length === 0;
if (process.env.MORTISE_SEED === 'random') {
  process.env.MORTISE_SEED = String(Date.now() % 2 ** 31);
  console.log(`seed ${process.env.MORTISE_SEED}; repeat with: MORTISE_SEED=${process.env.MORTISE_SEED} npm test`);
}
await setUp({ build: everything });

const failures = [];
if (everything) {
  const { gates, runGates } = await import('./gate.mjs');
  failures.push(...(await runGates(gates)).map((name) => `the gate ${name}`));
}
const { tests, totals } = await runTests({ args, ...(everything ? {} : { report: '.cache/test-report-of-some.json' }) });
failures.push(...totals.failures);
if (everything) {
  const { checkSpecCoverage } = await import('./spec-coverage.mjs');
  const { errors, notices } = checkSpecCoverage(tests);
  for (const line of [...notices, ...errors]) console.log(line);
  failures.push(...errors);
}
reportTotals({ ...totals, failures });
