/** Reads what vitest's JSON reporter wrote: each test with its file, its package and how it ended. */

import { existsSync, readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { root } from './run-command.mjs';

/** Where the last run's report lies, below the root. */
export const reportFile = '.cache/test-report.json';

/**
 * @typedef {{ title: string, fullTitle: string, file: string, folder: string, outcome: 'passed' | 'failed' | 'skipped', message?: string }} TestOutcome
 *   `folder` is the package, the app, or the top folder of anything else; `message` the first line of what a failed one said.
 */

/**
 * @param {string} [file] Below the root.
 * @returns {readonly TestOutcome[] | undefined} Nothing where there is no report. A file that could not be loaded counts as one failed test.
 */
export function readTestReport(file = reportFile) {
  if (!existsSync(root + file)) return undefined;
  const report = JSON.parse(readFileSync(root + file, 'utf8'));
  return report.testResults.flatMap((suite) => {
    const path = relative(root, suite.name).split(sep).join('/');
    const folder = path
      .split('/')
      .slice(0, /^(?:packages|apps)\//.test(path) ? 2 : 1)
      .join('/');
    if (suite.assertionResults.length === 0 && suite.status === 'failed') {
      return [
        { title: 'the file loads', fullTitle: 'the file loads', file: path, folder, outcome: 'failed', message: firstLine(suite.message) },
      ];
    }
    return suite.assertionResults.map((test) => ({
      title: test.title,
      fullTitle: test.fullName,
      file: path,
      folder,
      outcome: test.status === 'passed' ? 'passed' : test.status === 'failed' ? 'failed' : 'skipped',
      message: test.status === 'failed' ? firstLine(test.failureMessages?.[0]) : undefined,
    }));
  });
}

function firstLine(text) {
  return text?.split('\n', 1)[0].slice(0, 300);
}

/** The failed tests, a line for each. */
export function listFailures(tests) {
  const failed = tests.filter(({ outcome }) => outcome === 'failed');
  return failed.map(({ file, fullTitle, message }) => `${file} > ${fullTitle}${message === undefined ? '' : `: ${message}`}`);
}

/**
 * @param {readonly TestOutcome[]} tests
 * @returns {{ passed: number, failed: number, skipped: number }}
 */
export function countOutcomes(tests) {
  const totals = { passed: 0, failed: 0, skipped: 0 };
  for (const test of tests) totals[test.outcome] += 1;
  return totals;
}
