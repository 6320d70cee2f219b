/**
 * `npm run test:nodes`: the whole suite on Node 20, 22 and 24, each at the version that tools/ pins (the oldest supported of 20
 * and 22), with a total for each. `-- 22` runs on that one alone; other words go to vitest.
 */

import { dirname, delimiter } from 'node:path';
import { reportTotals } from './report-totals.mjs';
import { runTests } from './run-tests.mjs';
import { setUp } from './set-up.mjs';
import { installToolNode, toolNodes } from './tool-node.mjs';

const words = process.argv.slice(2);
const chosen = toolNodes.filter((line) => words.includes(line));
const args = words.filter((word) => !toolNodes.includes(word));

await setUp();

const rows = [];
for (const line of chosen.length > 0 ? chosen : toolNodes) {
  const node = await installToolNode(line);
  console.log(`\nNode ${line}: ${node}`);
  // Tests that start `node` by name get the same one.
  const env = { PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` };
  const { totals } = await runTests({ node, args, env, report: `.cache/test-report-node-${line}.json` });
  rows.push({ line, totals });
}

console.log();
for (const { line, totals } of rows) {
  console.log(`Node ${line}: passed ${totals.passed}, failed ${totals.failed}, skipped ${totals.skipped}`);
}
const sum = (outcome) => rows.reduce((total, row) => total + row.totals[outcome], 0);
console.log();
reportTotals({ passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') });
