/** Which runs of the suites there are: read from what the suites themselves list, so that a new scenario is never left out. */

import { requirementSets, runSuite } from './suites.mjs';

/**
 * One start of a suite.
 *
 * @typedef {object} Run
 * @property {'0.2' | '0.1.16'} suite
 * @property {'server' | 'client'} role
 * @property {string} column The table's column.
 * @property {'set' | 'alone'} kind `alone` looks at the exit code, which says how the client ended.
 * @property {readonly string[]} scenarios What it must report.
 * @property {readonly string[]} args
 */

/** @returns {Promise<Run[]>} */
export async function planRuns(node) {
  const all = await list(node, '0.2', []);
  const stable = await list(node, '0.1.16', []);
  const sets = new Map();
  for (const set of requirementSets) sets.set(set, await list(node, '0.2', ['--requirements', set]));
  return ['server', 'client'].flatMap((role) => {
    const inSets = new Set([...sets.values()].flatMap((set) => set[role]));
    const inNone = all[role].filter((name) => !inSets.has(name));
    /** @type {Run[]} */
    const runs = [...sets].map(([set, lists]) => toSetRun('0.2', role, set, lists[role], ['--requirements', set]));
    runs.push(...inNone.map((name) => toSingleRun('0.2', role, 'in no set', 'set', name, [])));
    runs.push(toSetRun('0.1.16', role, '0.1.16', stable[role], ['--suite', 'all']));
    return [...runs, ...(role === 'client' ? toAloneRuns(sets, inNone, stable) : toTaskRuns(all))];
  });
}

/** Tasks outlive the call that began them, so their scenarios are also run each by itself. */
function toTaskRuns({ server }) {
  const names = server.filter((name) => name.startsWith('tasks-'));
  return names.map((name) => toSingleRun('0.2', 'server', 'tasks alone', 'set', name, []));
}

function toAloneRuns(sets, inNone, stable) {
  return [
    ...[...sets].flatMap(([set, { client }]) =>
      client.map((name) => toSingleRun('0.2', 'client', `${set} alone`, 'alone', name, ['--spec-version', set, '--force'])),
    ),
    ...inNone.map((name) => toSingleRun('0.2', 'client', 'in no set alone', 'alone', name, [])),
    ...stable.client.map((name) => toSingleRun('0.1.16', 'client', '0.1.16 alone', 'alone', name, [])),
  ];
}

const toSetRun = (suite, role, column, scenarios, args) => ({ suite, role, column, kind: 'set', scenarios, args });

const toSingleRun = (suite, role, column, kind, name, args) => ({
  suite,
  role,
  column,
  kind,
  scenarios: [name],
  args: ['--scenario', name, ...args],
});

/** Reads `list`: headings for each role, a line for each scenario, and at the end of a set those that are reported and not scored. */
async function list(node, suite, args) {
  const { code, output } = await runSuite(node, suite, ['list', ...args]);
  if (code !== 0) throw new Error(`the conformance suite ${suite} cannot list its scenarios:\n${output}`);
  const found = { server: [], client: [] };
  let role;
  for (const line of output.split('\n')) {
    const heading = /^(Server|Client|Authorization|Run and reported)/.exec(line)?.[1];
    if (heading !== undefined) role = heading.toLowerCase();
    const [, name, own] = /^\s+- (\S+)(?: \[(\w+)\b.*\])?/.exec(line) ?? [];
    if (name !== undefined) found[role === 'run and reported' ? own : role]?.push(name);
  }
  if (found.server.length === 0 || found.client.length === 0) throw new Error(`the conformance suite ${suite} lists nothing:\n${output}`);
  return found;
}
