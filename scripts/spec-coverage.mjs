/**
 * docs/spec-coverage.md: a line for every row of both ledgers, with the tests that show it or the reason why none does. `npm run spec-coverage` writes it
 * from the report of the last whole test run; `npm test` says where it is no longer true.
 *
 * A row is covered by a test whose title begins with its id (`[HTTP-041] ...`, at most three ids) and which ran and passed.
 * `docs/spec-uncovered.json` gives the reason for each of the others.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run-command.mjs';
import { readTestReport } from './run-tests.mjs';

const pageFile = join(root, 'docs/spec-coverage.md');
const reasons = new Set(['not ours', 'later', 'cannot be observed']);
/** Rows that someone else must keep (an authorization server, an identity provider, a host, a user): no test of ours can show them. */
const foreignRoles = /^(?:AS|IdP|host|user)(?:, (?:AS|IdP|host|user))*$/;
/** The share of all rows that may be `cannot be observed` or `not ours`. */
const maxUnseenShare = 0.05;

const readJson = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const groupOf = (id) => id.replace(/-\d+$/, '');

/**
 * Judges a whole run.
 *
 * @param {readonly import('./run-tests.mjs').TestOutcome[]} tests
 * @returns {{ errors: readonly string[], notices: readonly string[], markdown: string }} What does not hold, and what could not be looked at here.
 */
export function checkSpecCoverage(tests) {
  const { errors, markdown } = judgeCoverage(
    { rows: readJson('docs/spec-rows.json'), uncovered: readJson('docs/spec-uncovered.json') },
    tests,
  );
  const notices = [];
  // What this machine cannot run (no Chromium, no ../shared, another platform) is not missing, and says nothing about the page.
  const skipped = findSkipped(tests).length;
  if (skipped > 0) notices.push(`docs/spec-coverage.md is not compared: ${skipped} tests that show rows could not run here`);
  else if (tests.every(({ outcome }) => outcome !== 'failed') && readFileSync(pageFile, 'utf8') !== markdown)
    errors.push('docs/spec-coverage.md is stale: run npm run spec-coverage');
  return { errors, notices, markdown };
}

/**
 * @param {{
 *   rows: readonly { id: string, level: string, role: string, revisions: string, phrase: string }[],
 *   uncovered: { groups: Record<string, Reason>, rows: Record<string, Reason> },
 * }} data
 * @typedef {{ reason: string, sentence?: string }} Reason
 * @param {readonly Pick<import('./run-tests.mjs').TestOutcome, 'title' | 'file' | 'outcome'>[]} tests
 * @returns {{ errors: string[], markdown: string }} A row that is neither covered nor explained is an error.
 */
export function judgeCoverage({ rows, uncovered }, tests) {
  const byRow = testsByRow(tests);
  const known = new Set(rows.map((row) => row.id));
  const errors = [
    ...[...byRow.keys()]
      .filter((id) => !known.has(id))
      .map((id) => `[${id}] in the title "${byRow.get(id)[0].title}" is no row of a ledger`),
    ...tests.filter((test) => idsOf(test.title).length > 3).map((test) => `"${test.title}" carries more than three row ids`),
    ...checkReasons(uncovered, rows),
  ];
  const passed = testsByRow(tests.filter(({ outcome }) => outcome === 'passed'));
  const explain = (id) => uncovered.rows[id] ?? uncovered.groups[groupOf(id)];

  const skipped = new Set(findSkipped(tests).flatMap(({ title }) => idsOf(title)));
  const unshown = rows.map(({ id }) => id).filter((id) => !passed.has(id) && !skipped.has(id));
  const open = unshown.filter((id) => explain(id) === undefined);
  if (open.length > 0) errors.push(`neither covered nor explained: ${open.join(' ')}`);
  const unseen = unshown.filter((id) => explain(id) !== undefined && explain(id).reason !== 'later').length;
  const mostUnseen = Math.floor(rows.length * maxUnseenShare);
  if (unseen > mostUnseen) errors.push(`${unseen} rows are not shown by a test; at most ${mostUnseen} may be`);
  return { errors, markdown: page(rows, passed, explain) };
}

/** Tests of rows that did not run at all; one that ran for other revisions did. */
function findSkipped(tests) {
  const toKey = ({ file, title }) => `${file}\n${title}`;
  const ran = new Set(tests.filter(({ outcome }) => outcome !== 'skipped').map(toKey));
  return tests.filter((test) => !ran.has(toKey(test)) && idsOf(test.title).length > 0);
}

/** The rows that a title begins with: `[BASE-001][BASE-002] says ...`. Rules of robustness (`[ROBUSTNESS-4]`) may stand among them. */
function idsOf(title) {
  const head = /^(?:\[[A-Z0-9]+-\d+\]\s*)+/.exec(title)?.[0] ?? '';
  return [...head.matchAll(/[A-Z0-9]+-\d{3}(?=\])/g)].map((match) => match[0]);
}

function testsByRow(tests) {
  const byRow = new Map();
  for (const test of tests) for (const id of idsOf(test.title).slice(0, 3)) byRow.set(id, [...(byRow.get(id) ?? []), test]);
  return byRow;
}

function checkReasons(uncovered, rows) {
  const roles = new Map(rows.map((row) => [row.id, row.role]));
  const groups = new Set(rows.map((row) => groupOf(row.id)));
  const errors = [];
  for (const [key, { reason, sentence }] of [...Object.entries(uncovered.groups), ...Object.entries(uncovered.rows)]) {
    if (!roles.has(key) && !groups.has(key)) errors.push(`docs/spec-uncovered.json: ${key} is no row and no group`);
    if (!reasons.has(reason))
      errors.push(`docs/spec-uncovered.json: ${key} has the reason "${reason}"; there are ${[...reasons].join(', ')}`);
    if (reason !== 'not ours' && !sentence) errors.push(`docs/spec-uncovered.json: ${key} has no sentence that says why`);
    if (reason === 'not ours' && !foreignRoles.test(roles.get(key) ?? ''))
      errors.push(`docs/spec-uncovered.json: ${key} is a duty of "${roles.get(key)}", which is ours`);
  }
  return errors;
}

function page(rows, passed, explain) {
  const groups = [...new Set(rows.map((row) => groupOf(row.id)))];
  const stateOf = (row) => (passed.has(row.id) ? 'covered' : (explain(row.id)?.reason ?? 'missing'));
  const states = ['covered', 'later', 'cannot be observed', 'not ours', 'missing'];
  const counts = (chosen) => states.map((state) => chosen.filter((row) => stateOf(row) === state).length);
  const rowsOf = (group) => rows.filter((row) => groupOf(row.id) === group);
  const sums = groups.map((group) => [`[${group}](#${group.toLowerCase()})`, rowsOf(group).length, ...counts(rowsOf(group))]);
  const parts = groups.map((group) => {
    const cells = rowsOf(group).map((row) => [row.id, row.level, row.role, row.revisions, row.phrase, shownBy(row.id, passed, explain)]);
    return `## ${group}\n\n${table(
      ['row', 'level', 'role', 'revisions', 'about', 'shown by'],
      cells.map((row) => row.map(escapeCell)),
    )}`;
  });
  return `${[
    '# What shows each requirement of the protocol',
    'Generated by `npm run spec-coverage` from the last run of `npm test`; do not edit. A row is covered only by a test whose title begins with its id and which ran and passed.',
    table(['group', 'rows', ...states], [...sums, ['all', rows.length, ...counts(rows)]]),
    ...parts,
  ].join('\n\n')}\n`;
}

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `|${cells[0] === '---' ? cells.join('|') : ` ${cells.join(' | ')} `}|`).join('\n');

function shownBy(id, passed, explain) {
  const tests = passed.get(id);
  if (tests !== undefined) {
    const unique = new Map(tests.map((test) => [`${test.file}\n${test.title}`, test]));
    const shown = [...unique.values()].sort((a, b) => (a.file + a.title < b.file + b.title ? -1 : 1)).slice(0, 3);
    return `${shown.map((test) => `${test.title.replace(/^(?:\[[^\]]*\]\s*)+/, '')} (${test.file})`).join('; ')}${unique.size > 3 ? `; and ${unique.size - 3} more` : ''}`;
  }
  const why = explain(id);
  if (why === undefined) return '**missing**';
  return why.sentence === undefined ? why.reason : `${why.reason}: ${why.sentence}`;
}

const escapeCell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');

if (process.argv[1] === import.meta.filename) {
  const tests = readTestReport();
  if (tests === undefined) throw new Error('There is no report of a test run yet: run npm test first');
  const { errors, markdown } = checkSpecCoverage(tests);
  for (const error of errors.filter((each) => !each.includes('is stale'))) console.error(error);
  writeFileSync(pageFile, markdown);
}
