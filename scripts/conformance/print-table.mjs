/** Prints a row a scenario and a column a run, and below what is wrong. */

/**
 * @param {readonly import('./run-suites.mjs').Outcome[]} outcomes
 * @param {ReturnType<typeof import('./judge.mjs').judge>} verdict
 */
export function printTable(outcomes, verdict) {
  for (const role of ['server', 'client']) {
    const own = outcomes.filter(({ run }) => run.role === role);
    if (own.length > 0) printRole(role, own, verdict);
  }
  console.log('\n"8" is eight checks that passed; "1-7" adds seven faults that the baseline lists, "1!7" seven that it does not.');
  for (const problem of verdict.problems) console.log(`PROBLEM   ${problem}`);
  console.log(verdict.problems.length === 0 ? '\nconformance: as it should be' : `\nconformance: ${verdict.problems.length} problems`);
}

function printRole(role, outcomes, { listed }) {
  const columns = [...new Set(outcomes.map(({ run }) => run.column))];
  const scenarios = [...new Set(outcomes.map(({ scenario }) => scenario))];
  const cellOf = (scenario, column) => {
    const outcome = outcomes.find((one) => one.scenario === scenario && one.run.column === column);
    if (!outcome) return '';
    const { passed, faults } = outcome;
    const unlisted = faults.filter((fault) => !listed.has(fault)).length;
    if (unlisted > 0) return `${passed}!${unlisted}`;
    return faults.length > 0 ? `${passed}-${faults.length}` : String(passed);
  };
  const sumOf = (column) => {
    const own = outcomes.filter(({ run }) => run.column === column);
    return `${own.filter(({ faults }) => faults.length === 0).length} of ${own.length} clean`;
  };
  const rows = [
    [role, ...columns],
    ...scenarios.map((scenario) => [scenario, ...columns.map((column) => cellOf(scenario, column))]),
    ['', ...columns.map(sumOf)],
  ];
  const widths = rows[0].map((_, index) => Math.max(...rows.map((row) => row[index].length)));
  console.log();
  for (const row of rows)
    console.log(
      row
        .map((cell, index) => cell.padEnd(widths[index]))
        .join('  ')
        .trimEnd(),
    );
}
