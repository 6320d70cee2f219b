/** What counts as covered, and what the coverage of the specification refuses. */

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeCoverage } from '../spec-coverage.mjs';

const root = resolve(import.meta.dirname, '../..');
const shared = resolve(root, '../shared/spec');

const row = (id: string, role = 'server') => ({ id, level: 'MUST', role, revisions: 'all', phrase: 'Answers' });
const rows = ['AAA-001', 'AAA-002', 'AAA-003', 'BBB-001'].map((id) => row(id));
const test = (title: string, outcome: 'passed' | 'failed' | 'skipped' = 'passed') => ({
  title,
  outcome,
  file: 'packages/x/test/y.test.ts',
});
const due = (enforced: boolean, ...ids: string[]) => [{ issue: 2, groups: { AAA: ids }, enforced }];
const nothing = { groups: {}, rows: {} };

describe('spec coverage', () => {
  it('takes a row as covered by a test whose title begins with its id', () => {
    const { errors, markdown } = judgeCoverage({ rows, uncovered: nothing, dueLists: due(true, 'AAA-001', 'AAA-002') }, [
      test('[AAA-001][AAA-002] answers'),
      test('answers [AAA-003]'),
      test('[ROBUSTNESS-4][BBB-001] answers'),
    ]);
    expect(errors).toEqual([]);
    expect(markdown).toContain('| AAA-001 | MUST | server | all | Answers | answers (packages/x/test/y.test.ts) |');
    expect(markdown).toContain('| BBB-001 | MUST | server | all | Answers | answers (packages/x/test/y.test.ts) |');
    expect(markdown).toContain('| AAA-003 | MUST | server | all | Answers | **missing** |');
  });

  it('takes no row as covered by a test that failed', () => {
    const { errors } = judgeCoverage({ rows, uncovered: nothing, dueLists: due(true, 'AAA-001') }, [test('[AAA-001] answers', 'failed')]);
    expect(errors).toEqual(['issue 2: neither covered nor explained: AAA-001']);
  });

  it('takes a row whose test this machine cannot run neither as covered nor as missing', () => {
    const { errors, markdown } = judgeCoverage({ rows, uncovered: nothing, dueLists: due(true, 'AAA-001') }, [
      test('[AAA-001] answers', 'skipped'),
    ]);
    expect(errors).toEqual([]);
    expect(markdown).toContain('| AAA-001 | MUST | server | all | Answers | **missing** |');
  });

  it('reports a missing row of an issue that is not enforced without failing', () => {
    const { errors, notices } = judgeCoverage({ rows, uncovered: nothing, dueLists: due(false, 'AAA-001') }, []);
    expect(errors).toEqual([]);
    expect(notices).toEqual(['issue 2: neither covered nor explained: AAA-001']);
  });

  it('does not let a row that is due be put off', () => {
    const uncovered = { groups: { AAA: { reason: 'later', issue: 3 } }, rows: {} };
    expect(judgeCoverage({ rows, uncovered, dueLists: due(true, 'AAA-001') }, []).errors).toHaveLength(1);
  });

  it('refuses a title with four ids, and an id that no ledger has', () => {
    const { errors } = judgeCoverage({ rows, uncovered: nothing, dueLists: [] }, [
      test('[AAA-001][AAA-002][AAA-003][BBB-001] answers'),
      test('[CCC-001] answers'),
    ]);
    expect(errors).toEqual([
      '[CCC-001] in the title "[CCC-001] answers" is no row of a ledger',
      '"[AAA-001][AAA-002][AAA-003][BBB-001] answers" carries more than three row ids',
    ]);
  });

  it('refuses "not ours" for a duty of ours, and takes it for one of an authorization server', () => {
    const uncovered = { groups: {}, rows: { 'AAA-001': { reason: 'not ours' }, 'AAA-004': { reason: 'not ours' } } };
    const { errors } = judgeCoverage({ rows: [...rows, row('AAA-004', 'AS')], uncovered, dueLists: [] }, []);
    expect(errors).toEqual(['docs/spec-uncovered.json: AAA-001 is a duty of "server", which is ours']);
  });

  it('refuses "cannot be observed" without a sentence, and for more than 5 % of the rows of an issue', () => {
    const uncovered = { groups: {}, rows: { 'AAA-001': { reason: 'cannot be observed' } } };
    expect(judgeCoverage({ rows, uncovered, dueLists: due(true, 'AAA-001') }, []).errors).toEqual([
      'docs/spec-uncovered.json: AAA-001 has no sentence that says why',
      'issue 2: 1 rows are not shown by a test; at most 0 may be',
    ]);
  });
});

describe('the rows of the ledgers', () => {
  const committed = JSON.parse(readFileSync(resolve(root, 'docs/spec-rows.json'), 'utf8')) as { id: string; level: string }[];

  it.skipIf(!existsSync(shared))('are the same as in ../shared', () => {
    const ledgers = ['ledger-base-transport-auth.md', 'ledger-features-tasks.md'].map((file) =>
      readFileSync(resolve(shared, file), 'utf8'),
    );
    const found = ledgers.flatMap((text) =>
      [...text.matchAll(/^\| ([A-Z][A-Z0-9]*-\d{3}) \| ([^|]+) \|/gm)].map(([, id, level]) => `${id} ${level?.trim()}`),
    );
    expect(committed.map(({ id, level }) => `${id} ${level}`)).toEqual(found);
  });

  it('include every row that an issue owes', () => {
    const list = JSON.parse(readFileSync(resolve(root, 'docs/spec-due-issue-2.json'), 'utf8')) as {
      groups: Record<string, string[]>;
      excluded: object;
    };
    const known = new Set(committed.map(({ id }) => id));
    expect([...Object.values(list.groups).flat(), ...Object.keys(list.excluded)].filter((id) => !known.has(id))).toEqual([]);
  });
});
