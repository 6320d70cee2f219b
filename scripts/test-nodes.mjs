/**
 * `npm run test:nodes`: every test (not the gates) on Node 20, 22 and 24, each at the version that tools/ pins (the oldest supported
 * of 20 and 22), with a total for each. `-- 22` runs on that one alone; other words go to vitest: `-- 22 packages/jsonrpc-core`.
 * What ran under a Node is kept in .cache/test-report-node-<line>.json.
 */

import { dirname, delimiter } from 'node:path';
import { reportTotals, runTests } from './run-tests.mjs';
import { installToolNode, toolNodes } from './tool-node.mjs';

const words = process.argv.slice(2);
const named = toolNodes.filter((line) => words.includes(line));
const chosen = named.length > 0 ? named : toolNodes;
const args = words.filter((word) => !toolNodes.includes(word));

const sum = { passed: 0, skipped: 0, failures: [] };
for (const line of chosen) {
  const started = performance.now();
  const node = await installToolNode(line);
  console.log(`\n== Node ${line}`);
  // Tests that start `node` by name get the same one.
  const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` };
  const { totals } = await runTests({ node, args, env, report: `.cache/test-report-node-${line}.json` });
  sum.passed += totals.passed;
  sum.skipped += totals.skipped;
  sum.failures.push(...totals.failures.map((failure) => `Node ${line}: ${failure}`));
  console.log(
    `Node ${line}: ${totals.passed} passed, ${totals.failed} failed, in ${((performance.now() - started) / 60_000).toFixed(1)} min`,
  );
}
reportTotals(sum);
