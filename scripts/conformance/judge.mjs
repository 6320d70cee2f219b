/** Holds what the suites found against the baseline: the one list of what may fail, and why. */

/**
 * @typedef {object} BaselineEntry
 * @property {string} reason Why it may fail.
 * @property {'server' | 'client'} role
 * @property {readonly string[]} scenarios
 * @property {'0.2' | '0.1.16'} [suite] Left out, in either.
 * @property {readonly string[]} [checks] The ids of the checks that may fail, `exit` for the client's exit code. Left out, all.
 */

/**
 * @param {readonly import('./run-suites.mjs').Outcome[]} outcomes
 * @param {readonly BaselineEntry[]} baseline
 * @param {{ isComplete: boolean }} options Only a complete run shows that an entry is no longer needed.
 */
export function judge(outcomes, baseline, { isComplete }) {
  const used = new Set();
  const problems = baseline.filter(({ reason }) => !reason).map(() => 'an entry of the baseline has no reason');
  const listed = new Set();
  for (const outcome of outcomes) {
    for (const fault of outcome.faults) {
      const entry = baseline.find((one) => covers(one, outcome, fault));
      if (entry) {
        used.add(`${baseline.indexOf(entry)} ${outcome.scenario}`);
        listed.add(fault);
      } else problems.push(`${nameOf(outcome)}: ${fault.status} ${fault.id}: ${fault.message}`);
    }
  }
  for (const [index, { role, scenarios }] of isComplete ? baseline.entries() : []) {
    for (const scenario of scenarios.filter((name) => !used.has(`${index} ${name}`)))
      problems.push(`baseline: ${role} ${scenario} is listed and does not fail: take it out`);
  }
  return { problems, listed };
}

function covers({ role, suite, scenarios, checks }, { run, scenario }, { id }) {
  if (role !== run.role || (suite !== undefined && suite !== run.suite)) return false;
  return scenarios.includes(scenario) && (checks === undefined || checks.includes(id));
}

const nameOf = ({ run, scenario }) => `${run.suite} ${run.role} ${run.column} ${scenario}`;
