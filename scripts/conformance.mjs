/**
 * `npm run conformance`: measures apps/conformance with the official conformance suite, both roles, in the pinned pre-release (both
 * requirement sets, what is reported and not scored, and what is in no set) and in the stable release.
 *
 * Fails on every failing check, warning or non-zero exit of the client that apps/conformance/baseline.json does not list with its reason,
 * and on every entry there that nothing needs any more. What the suite printed is kept in .cache/conformance/.
 * A scenario in which no check was made shows nothing: it counts as not run, and is no failure.
 */

import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { planRuns, runSuite } from './conformance/plan.mjs';
import { installTool } from './install-tool.mjs';
import { root, startNode } from './run-command.mjs';
import { reportTotals } from './run-tests.mjs';
import { installToolNode } from './tool-node.mjs';

/**
 * What one scenario came to in one run.
 *
 * @typedef {object} Outcome
 * @property {import('./conformance/plan.mjs').Run} run
 * @property {string} scenario
 * @property {number} passed How many checks.
 * @property {boolean} [isNotRun] The suite skipped every check, or has none.
 * @property {{ id: string, status: 'FAILURE' | 'WARNING', message: string, isListed: boolean }[]} faults
 *
 * One reason why scenarios may fail, as baseline.json has it.
 * @typedef {object} BaselineEntry
 * @property {string} reason
 * @property {'server' | 'client'} role
 * @property {readonly string[]} scenarios
 * @property {'0.2' | '0.1.16'} [suite] Left out, in either.
 * @property {'legacy' | 'modern'} [through] Only through a gateway that speaks this era with the server. Left out, whatever it speaks.
 */

const outputFolder = join(root, '.cache/conformance');
const client = `${process.execPath} apps/conformance/dist/client.js`;
/** Only what stops a client that hangs: a busy machine takes its time. */
const clientTimeoutMs = 900_000;

/** With `--through legacy` or `--through modern` the server's scenarios run through a gateway that speaks that era with the server. */
const { through } = parseArgs({ options: { through: { type: 'string' } } }).values;
const node = await installToolNode('24');
await installTool('conformance');
const roles = through === undefined ? ['server', 'client'] : ['server'];
const outcomes = await play((await planRuns(node)).filter(({ role }) => roles.includes(role)));
const baseline = through === undefined ? 'baseline.json' : 'baseline-gateway.json';
const entries = JSON.parse(readFileSync(join(root, 'apps/conformance', baseline), 'utf8'));
const problems = judge(
  outcomes,
  entries.filter((entry) => (entry.through ?? through) === through),
);
for (const each of roles) printTable(outcomes.filter(({ run }) => run.role === each));
console.log(
  '"8" is eight checks that passed; "1-7" adds seven faults that the baseline lists, "1!7" seven faults of which it lacks one or more. ' +
    '"not run" is a scenario whose checks were all skipped.',
);
const notRun = outcomes.filter(({ isNotRun }) => isNotRun);
reportTotals({ passed: outcomes.length - notRun.length, skipped: notRun.length, failures: problems });

/** @returns {Promise<Outcome[]>} */
async function play(runs) {
  rmSync(outputFolder, { recursive: true, force: true });
  const server = startNode(['apps/conformance/dist/server.js', '--port', '0']);
  const [direct] = await once(createInterface({ input: server.stdout }), 'line');
  const gateway = through && startNode(['apps/conformance/dist/gateway.js', '--url', direct, '--era', through]);
  const [url] = gateway ? await once(createInterface({ input: gateway.stdout }), 'line') : [direct];
  const played = [];
  for (const [index, run] of runs.entries()) {
    const { suite, scenarios, args } = run;
    console.log(`${suite} ${run.role} ${run.column}: ${scenarios.length === 1 ? scenarios[0] : `${scenarios.length} scenarios`}`);
    const folder = join(outputFolder, String(index).padStart(3, '0'));
    const target = run.role === 'server' ? ['--url', url] : ['--command', client, '--timeout', String(clientTimeoutMs)];
    const { code, output } = await runSuite(node, suite, [run.role, ...target, ...args, '--output-dir', folder]);
    if (existsSync(folder)) writeFileSync(join(folder, 'printed.txt'), output);
    played.push(...readOutcomes(run, folder, code, output));
  }
  gateway?.kill();
  server.kill();
  return played;
}

/** @returns {Outcome[]} */
function readOutcomes(run, folder, code, output) {
  const reported = existsSync(folder) ? readReports(folder, run.role) : new Map();
  return run.scenarios.map((scenario) => {
    const fault = (id, message, status = 'FAILURE') => ({ id, status, message, isListed: false });
    const checks = reported.get(scenario);
    if (checks === undefined) {
      const lastLines = output.trim().split('\n').slice(-3).join(' | ');
      return { run, scenario, passed: 0, faults: [fault('did-not-run', lastLines)] };
    }
    const faults = checks
      .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
      .map(({ id, status, errorMessage, description }) => fault(id, errorMessage ?? description ?? '', status));
    // The suite's exit code says how the client ended, beside what the checks say already.
    const clientFailed = faults.length === 0 || /CLIENT EXITED WITH ERROR|TIMED OUT/.test(output);
    if (run.role === 'client' && code !== 0 && clientFailed) faults.push(fault('exit', `exit code ${code}`));
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length;
    return { run, scenario, passed, faults, isNotRun: passed === 0 && faults.length === 0 };
  });
}

/** Each scenario has a folder of its name and the time, in which `checks.json` lies. A server's names begin with `server-` once more. */
function readReports(folder, role) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('checks.json'));
  return new Map(
    files.map((file) => {
      const name = dirname(file)
        .replaceAll('\\', '/')
        .replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
      return [role === 'server' ? name.replace(/^server-/, '') : name, JSON.parse(readFileSync(join(folder, file), 'utf8'))];
    }),
  );
}

/**
 * Marks the faults that the baseline lists.
 *
 * @param {readonly Outcome[]} outcomes
 * @param {readonly BaselineEntry[]} baseline
 * @returns {string[]} What is wrong.
 */
function judge(outcomes, baseline) {
  const problems = baseline.filter(({ reason }) => !reason).map(() => 'an entry of the baseline has no reason');
  const used = new Set();
  for (const { run, scenario, faults } of outcomes) {
    const entry = baseline.find(
      (one) => one.role === run.role && (one.suite ?? run.suite) === run.suite && one.scenarios.includes(scenario),
    );
    for (const fault of faults) {
      fault.isListed = entry !== undefined;
      if (entry === undefined)
        problems.push(`${run.suite} ${run.role} ${run.column} ${scenario}: ${fault.status} ${fault.id}: ${fault.message}`);
      else used.add(`${entry.role} ${scenario}`);
    }
  }
  const listed = baseline.flatMap((entry) => entry.scenarios.map((name) => `${entry.role} ${name}`));
  problems.push(...listed.filter((name) => !used.has(name)).map((name) => `baseline: ${name} is listed and does not fail: take it out`));
  return problems;
}

/** Prints a row a scenario and a column a set, and last how many scenarios of the set ran and have no fault. */
function printTable(outcomes) {
  const table = {};
  for (const { run, scenario, passed, faults, isNotRun } of outcomes) {
    const mark = faults.every(({ isListed }) => isListed) ? '-' : '!';
    const seen = faults.length === 0 ? String(passed) : `${passed}${mark}${faults.length}`;
    (table[scenario] ??= {})[run.column] = isNotRun ? 'not run' : seen;
  }
  const sums = {};
  for (const column of new Set(outcomes.map(({ run }) => run.column))) {
    const own = outcomes.filter(({ run }) => run.column === column);
    const ran = own.filter(({ isNotRun }) => !isNotRun);
    const notRun = own.length === ran.length ? '' : `, ${own.length - ran.length} not run`;
    sums[column] = `${ran.filter(({ faults }) => faults.length === 0).length} of ${ran.length} clean${notRun}`;
  }
  console.table({ ...table, [outcomes[0].run.role]: sums });
}
