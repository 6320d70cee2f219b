/** Runs vitest, reads its report, and prints the totals that a run ends with. */

import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { root, runCommand } from './run-command.mjs';

/** Where the last run's report lies, below the root. */
const reportFile = '.cache/test-report.json';

/**
 * @typedef {{ title: string, file: string, outcome: 'passed' | 'failed' | 'skipped', failure?: string }} TestOutcome
 *   `failure`: one line for a test that failed.
 */

/**
 * @param {{ args?: readonly string[], node?: string, env?: Record<string, string>, report?: string }} [options]
 *   `args` as for vitest, `node` the Node to run under, `report` where the JSON report goes.
 * @returns {Promise<{ tests: TestOutcome[], totals: { passed: number, failed: number, skipped: number, failures: string[] } }>}
 *   A run that fails without a failing test (an unhandled rejection, a filter that no test matches) counts as one failure.
 */
export async function runTests({ args = [], node = process.execPath, env = {}, report = reportFile } = {}) {
  mkdirSync(`${root}.cache`, { recursive: true });
  rmSync(root + report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { code } = await runCommand(node, ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args], {
    env: { ...(process.stdout.isTTY ? {} : { NO_COLOR: '1', FORCE_COLOR: undefined }), ...env },
    show: true,
  });
  const tests = readTestReport(report) ?? [];
  const count = (outcome) => tests.filter((test) => test.outcome === outcome).length;
  const failures = tests.flatMap(({ failure }) => failure ?? []);
  if (code !== 0 && failures.length === 0) failures.push(`vitest ended with ${code} though no test failed: see its last lines above`);
  return { tests, totals: { passed: count('passed'), failed: failures.length, skipped: count('skipped'), failures } };
}

/** @returns {TestOutcome[] | undefined} Nothing where there is no report. A file that could not be loaded counts as one failed test. */
export function readTestReport(report = reportFile) {
  if (!existsSync(root + report)) return undefined;
  return JSON.parse(readFileSync(root + report, 'utf8')).testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name).split(sep).join('/');
    const toFailure = (title, text = '') => `${file} > ${title}: ${text.split('\n', 1)[0].slice(0, 300)}`;
    if (assertionResults.length === 0 && status === 'failed')
      return [{ title: '', file, outcome: 'failed', failure: toFailure('the file loads', message) }];
    return assertionResults.map((test) => ({
      title: test.title,
      file,
      outcome: test.status === 'passed' || test.status === 'failed' ? test.status : 'skipped',
      ...(test.status === 'failed' ? { failure: toFailure(test.fullName, test.failureMessages?.[0]) } : {}),
    }));
  });
}

/** Prints what failed, then `N passed, N failed` alone on the last line, and sets the exit code. */
export function reportTotals({ passed, skipped = 0, failures }) {
  console.log();
  for (const failure of failures) console.log(`failed: ${failure}`);
  if (skipped > 0) console.log(`${skipped} skipped`);
  console.log(`${passed} passed, ${failures.length} failed`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}
