/**
 * `npm run conformance`: measures apps/conformance with the official conformance suite, both roles, in the pinned pre-release (both
 * requirement sets, what is reported and not scored, and what is in no set) and in the stable release; then plays each client
 * scenario alone, because a suite run does not look at the client's exit code. `-- --alone` does only that last part.
 *
 * Fails on every failing check, warning or non-zero exit that apps/conformance/baseline.json does not list with its reason, and on
 * every entry there that nothing needs any more. What the suite printed is kept in .cache/conformance/.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { judge } from './conformance/judge.mjs';
import { planRuns } from './conformance/plan.mjs';
import { printTable } from './conformance/print-table.mjs';
import { runSuites } from './conformance/run-suites.mjs';
import { reportTotals } from './run-tests.mjs';
import { root } from './run-command.mjs';
import { installToolNode } from './tool-node.mjs';
import { installTool } from './install-tool.mjs';

const onlyAlone = process.argv.includes('--alone');

const node = await installToolNode('24');
await installTool('conformance');

const runs = (await planRuns(node)).filter((run) => !onlyAlone || run.kind === 'alone');
const outcomes = await runSuites(node, runs);

const baseline = JSON.parse(readFileSync(join(root, 'apps/conformance/baseline.json'), 'utf8'));
const verdict = judge(outcomes, baseline, { isComplete: !onlyAlone });
printTable(outcomes, verdict);
reportTotals({ passed: outcomes.length, failures: verdict.problems });
