/** Runs vitest over the whole tree, or over what its arguments name, and gives the outcomes by test. */

import { mkdirSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { root } from './run-command.mjs';
import { countOutcomes, listFailures, readTestReport, reportFile } from './read-test-report.mjs';

/**
 * @param {{ args?: readonly string[], node?: string, env?: Record<string, string>, report?: string }} [options]
 *   `node` is the Node to run under, `report` where the JSON report goes.
 * @returns {Promise<{ tests: import('./read-test-report.mjs').TestOutcome[], totals: ReturnType<typeof countOutcomes> & { failures: string[] } }>}
 *   `failures` is a line for each test that failed. A run that fails without a failing test (a crash, an unhandled rejection, a filter that no test matches) counts as one failure.
 */
export async function runTests({ args = [], node = process.execPath, env = {}, report = reportFile } = {}) {
  mkdirSync(`${root}.cache`, { recursive: true });
  rmSync(root + report, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const colors = process.stdout.isTTY ? {} : { NO_COLOR: '1', FORCE_COLOR: undefined };
  const code = await new Promise((resolve) => {
    const child = spawn(node, ['node_modules/vitest/vitest.mjs', 'run', ...reporters, ...args], {
      cwd: root,
      env: { ...process.env, ...colors, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.on('error', () => resolve(1));
    child.on('close', (exitCode) => resolve(exitCode ?? 1));
  });
  const tests = [...(readTestReport(report) ?? [])];
  const totals = { ...countOutcomes(tests), failures: listFailures(tests) };
  if (code !== 0 && totals.failed === 0) {
    totals.failed = 1;
    totals.failures.push(`vitest ended with ${code} though no test failed: see "Unhandled Errors" or its last lines above`);
  }
  return { tests, totals };
}

/** Prints how many tests of each package passed, failed and were skipped. */
export function printTable(tests) {
  const folders = [...new Set(tests.map((test) => test.folder))].sort();
  const rows = folders.map((folder) => [folder, countOutcomes(tests.filter((test) => test.folder === folder))]);
  const width = Math.max(12, ...folders.map((folder) => folder.length));
  console.log(`${'tests of'.padEnd(width)}   passed   failed  skipped`);
  for (const [folder, { passed, failed, skipped }] of [...rows, ['all', countOutcomes(tests)]]) {
    console.log(`${folder.padEnd(width)} ${[passed, failed, skipped].map((count) => String(count).padStart(8)).join(' ')}`);
  }
}
