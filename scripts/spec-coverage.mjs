/**
 * Writes docs/spec-coverage.md: a line for every row of both ledgers, with the tests that show it or the reason why none does.
 *
 * A row is covered by a test whose title begins with its id (`[HTTP-041] ...`, at most three ids) and which ran and passed.
 * `docs/spec-uncovered.json` holds the reasons for the others, `docs/spec-due-issue-<n>.json` the rows that an issue owes, and
 * `docs/spec-enforced.json` the issues whose rows must all be accounted for.
 *
 * Run alone (`npm run spec-coverage`) it reads the report of the last test run; `-- --missing` lists what is missing by group.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './run-command.mjs';
import { readTestReport } from './read-test-report.mjs';

const reasons = new Set(['not ours', 'later', 'cannot be observed']);
/** Rows that someone else must keep (an authorization server, an identity provider, a host, a user): no test of ours can show them. */
const foreignRoles = /^(?:AS|IdP|host|user)(?:, (?:AS|IdP|host|user))*$/;
/** How much of an issue's rows may be `cannot be observed` or `not ours`. */
const maxUnseenShare = 0.05;

const readJson = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));
const groupOf = (id) => id.replace(/-\d+$/, '');

/**
 * Reads the data, judges the run, writes the page where it has changed.
 *
 * @param {readonly import('./read-test-report.mjs').TestOutcome[]} tests
 * @returns {{ ok: boolean, summary: string, missing: ReadonlyMap<string, readonly string[]> }}
 */
export function writeSpecCoverage(tests) {
  const rows = readJson('docs/spec-rows.json');
  const { errors, lines, missing, markdown } = judgeCoverage(
    { rows, uncovered: readJson('docs/spec-uncovered.json'), dueLists: dueLists() },
    tests,
  );
  const groups = [...missing].map(([group, ids]) => `${group} ${ids.length}`).join(', ');
  const summary = [
    ...lines.map((line) => `spec coverage: ${line}`),
    ...(groups === '' ? [] : [`missing by group: ${groups}`]),
    ...(writeIfChanged('docs/spec-coverage.md', markdown) ? ['docs/spec-coverage.md has changed: commit it'] : []),
    ...errors.map((error) => `spec coverage FAILED: ${error}`),
  ].join('\n');
  return { ok: errors.length === 0, summary, missing };
}

/**
 * @param {{
 *   rows: readonly { id: string, level: string, role: string, revisions: string, phrase: string }[],
 *   uncovered: { groups: Record<string, Reason>, rows: Record<string, Reason> },
 *   dueLists: readonly { issue: number, groups: Record<string, readonly string[]>, enforced: boolean }[],
 * }} data
 * @typedef {{ reason: string, issue?: number, sentence?: string }} Reason
 * @param {readonly Pick<import('./read-test-report.mjs').TestOutcome, 'title' | 'file' | 'outcome'>[]} tests
 * @returns {{ errors: string[], lines: string[], missing: Map<string, string[]>, markdown: string }} `missing`: the rows of all
 *   due lists that are neither covered nor explained, by group; an error only where the list is enforced.
 */
export function judgeCoverage({ rows, uncovered, dueLists: lists }, tests) {
  const byRow = testsByRow(tests);
  const known = new Set(rows.map((row) => row.id));
  const errors = [
    ...[...byRow.keys()]
      .filter((id) => !known.has(id))
      .map((id) => `[${id}] in the title "${byRow.get(id)[0].title}" is no row of a ledger`),
    ...tests.filter((test) => idsOf(test.title).length > 3).map((test) => `"${test.title}" carries more than three row ids`),
    ...checkReasons(uncovered, rows),
  ];
  const passed = new Map(
    [...byRow].map(([id, all]) => [id, all.filter((test) => test.outcome === 'passed')]).filter(([, all]) => all.length > 0),
  );
  const explain = (id) => uncovered.rows[id] ?? uncovered.groups[groupOf(id)];

  const missing = new Map();
  const lines = [];
  for (const due of lists) {
    const ids = Object.values(due.groups).flat();
    // A row that an issue owes cannot be put off.
    const explained = (id) => explain(id) !== undefined && explain(id).reason !== 'later';
    const unseen = ids.filter((id) => !passed.has(id) && explained(id));
    const open = ids.filter((id) => !passed.has(id) && !explained(id));
    const covered = ids.length - unseen.length - open.length;
    lines.push(
      `issue ${due.issue}: ${ids.length} rows due, ${covered} covered, ${unseen.length} cannot be observed or are not ours, ${open.length} missing${due.enforced ? '' : ' (not enforced yet)'}`,
    );
    const mostUnseen = Math.floor(ids.length * maxUnseenShare);
    if (unseen.length > mostUnseen) {
      errors.push(`issue ${due.issue}: ${unseen.length} of ${ids.length} rows are not shown by a test; at most ${mostUnseen} may be`);
    }
    if (due.enforced && open.length > 0) errors.push(`issue ${due.issue}: neither covered nor explained: ${open.join(' ')}`);
    for (const id of open) missing.set(groupOf(id), [...(missing.get(groupOf(id)) ?? []), id]);
  }
  return { errors, lines, missing, markdown: page(rows, passed, explain) };
}

/** The rows that a title begins with: `[BASE-001][BASE-002] says ...`. Rules of robustness (`[ROBUSTNESS-4]`) may stand among them. */
function idsOf(title) {
  const head = /^(?:\[[A-Z0-9]+-\d+\]\s*)+/.exec(title)?.[0] ?? '';
  return [...head.matchAll(/[A-Z0-9]+-\d{3}(?=\])/g)].map((match) => match[0]);
}

function testsByRow(tests) {
  const byRow = new Map();
  for (const test of tests) {
    for (const id of idsOf(test.title).slice(0, 3)) byRow.set(id, [...(byRow.get(id) ?? []), test]);
  }
  return byRow;
}

function dueLists() {
  const enforced = new Set(existsSync(join(root, 'docs/spec-enforced.json')) ? readJson('docs/spec-enforced.json').issues : []);
  return readdirSync(join(root, 'docs'))
    .filter((file) => /^spec-due-issue-\d+\.json$/.test(file))
    .sort()
    .map((file) => readJson(`docs/${file}`))
    .map((due) => ({ ...due, enforced: enforced.has(due.issue) }));
}

function checkReasons(uncovered, rows) {
  const roles = new Map(rows.map((row) => [row.id, row.role]));
  const groups = new Set(rows.map((row) => groupOf(row.id)));
  const errors = [];
  for (const [key, { reason, issue, sentence }] of [...Object.entries(uncovered.groups), ...Object.entries(uncovered.rows)]) {
    if (!roles.has(key) && !groups.has(key)) errors.push(`docs/spec-uncovered.json: ${key} is no row and no group`);
    if (!reasons.has(reason))
      errors.push(`docs/spec-uncovered.json: ${key} has the reason "${reason}"; there are ${[...reasons].join(', ')}`);
    if (reason === 'later' && issue === undefined && sentence === undefined)
      errors.push(`docs/spec-uncovered.json: ${key} is for later and names no issue`);
    if (reason === 'cannot be observed' && !sentence) errors.push(`docs/spec-uncovered.json: ${key} has no sentence that says why`);
    if (reason === 'not ours' && !foreignRoles.test(roles.get(key) ?? ''))
      errors.push(`docs/spec-uncovered.json: ${key} is a duty of "${roles.get(key)}", which is ours`);
  }
  return errors;
}

function page(rows, passed, explain) {
  const out = [
    '# What shows each requirement of the protocol',
    '',
    'Generated by `npm test` from the run of the tests; do not edit. A row is covered only by a test whose title begins with its id and which ran and passed.',
    '',
    '| group | rows | covered | later | cannot be observed | not ours | missing |',
    '|---|---|---|---|---|---|---|',
  ];
  const groups = [...new Set(rows.map((row) => groupOf(row.id)))];
  const stateOf = (row) => (passed.has(row.id) ? 'covered' : (explain(row.id)?.reason ?? 'missing'));
  const counts = (chosen) =>
    ['covered', 'later', 'cannot be observed', 'not ours', 'missing'].map((state) => chosen.filter((row) => stateOf(row) === state).length);
  for (const group of groups) {
    const chosen = rows.filter((row) => groupOf(row.id) === group);
    out.push(`| ${[`[${group}](#${group.toLowerCase()})`, chosen.length, ...counts(chosen)].join(' | ')} |`);
  }
  out.push(`| ${['all', rows.length, ...counts(rows)].join(' | ')} |`);
  for (const group of groups) {
    out.push('', `## ${group}`, '', '| row | level | role | revisions | about | shown by |', '|---|---|---|---|---|---|');
    for (const row of rows.filter((each) => groupOf(each.id) === group)) {
      out.push(
        `| ${[row.id, row.level, row.role, row.revisions, row.phrase, shownBy(row.id, passed, explain)].map(escapeCell).join(' | ')} |`,
      );
    }
  }
  return `${out.join('\n')}\n`;
}

function shownBy(id, passed, explain) {
  const tests = passed.get(id);
  if (tests !== undefined) {
    const unique = new Map(tests.map((test) => [`${test.file}\n${test.title}`, test]));
    const shown = [...unique.values()].sort((a, b) => (a.file + a.title < b.file + b.title ? -1 : 1)).slice(0, 3);
    return `${shown.map((test) => `${test.title.replace(/^(?:\[[^\]]*\]\s*)+/, '')} (${test.file})`).join('; ')}${unique.size > 3 ? `; and ${unique.size - 3} more` : ''}`;
  }
  const why = explain(id);
  if (why === undefined) return '**missing**';
  return [
    why.reason,
    ...(why.issue === undefined ? [] : [`: issue ${why.issue}`]),
    ...(why.sentence === undefined ? [] : [`: ${why.sentence}`]),
  ].join('');
}

const escapeCell = (text) => String(text).replaceAll('|', '\\|').replaceAll('\n', ' ').replaceAll('<', '&lt;');

function writeIfChanged(file, text) {
  const path = join(root, file);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return false;
  writeFileSync(path, text);
  return true;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const tests = readTestReport();
  if (tests === undefined) {
    console.error('There is no report of a test run yet. Run npm test first.');
    process.exit(1);
  }
  const { ok, summary, missing } = writeSpecCoverage(tests);
  console.log(summary);
  if (process.argv.includes('--missing')) for (const [group, ids] of missing) console.log(`${group.padEnd(7)} ${ids.join(' ')}`);
  process.exitCode = ok ? 0 : 1;
}
