/** Which runs of the suites there are: read from what the suites themselves list, so that a new scenario is never left out. */

import { runCommand } from '../run-command.mjs';

/** The two releases of the suite that are pinned in tools/conformance. */
const suites = {
  0.2: 'tools/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js',
  '0.1.16': 'tools/conformance/node_modules/conformance-stable/dist/index.js',
};

/** The sets of scenarios that a revision requires, which the pre-release knows. */
const requirementSets = ['2025-11-25', '2026-07-28'];

/**
 * @param {string} node The Node to run it on.
 * @param {keyof typeof suites} suite
 * @param {readonly string[]} args
 */
export const runSuite = (node, suite, args) =>
  runCommand(node, [suites[suite], ...args], { env: { NODE_NO_WARNINGS: '1', NO_COLOR: '1' } });

/**
 * One start of a suite.
 *
 * @typedef {object} Run
 * @property {keyof typeof suites} suite
 * @property {'server' | 'client'} role
 * @property {string} column The table's column.
 * @property {readonly string[]} scenarios What it must report.
 * @property {readonly string[]} args
 */

/**
 * A client plays each scenario in a run of its own: a run of a whole set starts all its clients at once, which makes them late, and does
 * not look at their exit codes.
 *
 * @returns {Promise<Run[]>}
 */
export async function planRuns(node) {
  const all = await list(node, '0.2');
  const stable = await list(node, '0.1.16');
  const sets = [];
  for (const name of requirementSets) sets.push({ name, lists: await list(node, '0.2', '--requirements', name) });
  const inNone = (role) => all[role].filter((scenario) => sets.every(({ lists }) => !lists[role].includes(scenario)));
  const one =
    (suite, role, column, ...args) =>
    (scenario) => ({ suite, role, column, scenarios: [scenario], args: ['--scenario', scenario, ...args] });
  const many = (suite, column, scenarios, ...args) => ({ suite, role: 'server', column, scenarios, args });
  return [
    ...sets.map(({ name, lists }) => many('0.2', name, lists.server, '--requirements', name)),
    ...inNone('server').map(one('0.2', 'server', 'in no set')),
    many('0.1.16', '0.1.16', stable.server, '--suite', 'all'),
    // Tasks outlive the call that began them, so their scenarios are also run each by itself.
    ...all.server.filter((scenario) => scenario.startsWith('tasks-')).map(one('0.2', 'server', 'tasks alone')),
    ...sets.flatMap(({ name, lists }) => lists.client.map(one('0.2', 'client', name, '--spec-version', name, '--force'))),
    ...inNone('client').map(one('0.2', 'client', 'in no set')),
    ...stable.client.map(one('0.1.16', 'client', '0.1.16')),
  ];
}

/** Reads `list`: headings for each role, a line for each scenario, and at the end of a set those that are reported and not scored. */
async function list(node, suite, ...args) {
  const { code, output } = await runSuite(node, suite, ['list', ...args]);
  const found = { server: [], client: [] };
  let role;
  for (const line of output.split('\n')) {
    const heading = /^(Server|Client|Authorization|Run and reported)/.exec(line)?.[1];
    if (heading !== undefined) role = heading.toLowerCase();
    const [, name, own] = /^\s+- (\S+)(?: \[(\w+)\b.*\])?/.exec(line) ?? [];
    if (name !== undefined) found[role === 'run and reported' ? own : role]?.push(name);
  }
  if (code !== 0 || found.server.length === 0 || found.client.length === 0)
    throw new Error(`the conformance suite ${suite} cannot list its scenarios:\n${output}`);
  return found;
}
