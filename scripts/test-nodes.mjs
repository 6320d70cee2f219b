/**
 * `npm run test:nodes`: every test (not the gates) on Node 20, 22 and 24, each at the version that tools/ pins (the oldest supported
 * of 20 and 22), with a total for each. `-- 22` runs on that one alone; other words go to vitest: `-- 22 packages/jsonrpc-core`.
 * What ran under a Node is kept in .cache/test-report-node-<line>.json.
 */

import { dirname, delimiter } from 'node:path';
import { reportTotals } from './report-totals.mjs';
import { runCommand } from './run-command.mjs';
import { runTests } from './run-tests.mjs';
import { setUp } from './set-up.mjs';
import { installToolNode, toolNodes } from './tool-node.mjs';

const words = process.argv.slice(2);
const named = toolNodes.filter((line) => words.includes(line));
const chosen = named.length > 0 ? named : toolNodes;
const args = words.filter((word) => !toolNodes.includes(word));

await setUp();

const rows = [];
for (const [index, line] of chosen.entries()) {
  console.log(`\n== Node ${line}, ${index + 1} of ${chosen.length} (${new Date().toTimeString().slice(0, 8)})`);
  rows.push(await runUnder(line));
}

const sum = { passed: 0, failed: 0, skipped: 0, failures: [] };
console.log(args.length > 0 ? `\nonly ${args.join(' ')}` : '');
for (const { version, totals, minutes } of rows) {
  for (const outcome of ['passed', 'failed', 'skipped']) sum[outcome] += totals[outcome];
  sum.failures.push(...totals.failures.map((failure) => `Node ${version}: ${failure}`));
  console.log(
    `Node ${version.padEnd(8)} ${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped, in ${minutes.toFixed(1)} min`,
  );
}
console.log();
reportTotals(sum);

/** A Node that cannot be had is one failure, and the others still run. */
async function runUnder(line) {
  const started = performance.now();
  const minutes = () => (performance.now() - started) / 60_000;
  try {
    const node = await installToolNode(line);
    const version = (await runCommand(node, ['--version'])).output.trim().replace(/^v/, '');
    // Tests that start `node` by name get the same one.
    const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` };
    const { totals } = await runTests({ node, args, env, report: `.cache/test-report-node-${line}.json` });
    return { version, totals, minutes: minutes() };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return { version: line, totals: { passed: 0, failed: 1, skipped: 0, failures: ['this Node could not be had'] }, minutes: minutes() };
  }
}
