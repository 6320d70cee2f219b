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
const nothing = { groups: {}, rows: {} };

describe('spec coverage', () => {
  it('takes a row as covered by a test whose title begins with its id', () => {
    const { errors, markdown } = judgeCoverage({ rows, uncovered: nothing }, [
      test('[AAA-001][AAA-002] answers'),
      test('answers [AAA-003]'),
      test('[ROBUSTNESS-4][BBB-001] answers'),
    ]);
    expect(errors).toEqual(['neither covered nor explained: AAA-003']);
    expect(markdown).toContain('| AAA-001 | MUST | server | all | Answers | answers (packages/x/test/y.test.ts) |');
    expect(markdown).toContain('| BBB-001 | MUST | server | all | Answers | answers (packages/x/test/y.test.ts) |');
    expect(markdown).toContain('| AAA-003 | MUST | server | all | Answers | **missing** |');
  });

  it('takes no row as covered by a test that failed', () => {
    const { errors } = judgeCoverage({ rows: [row('AAA-001')], uncovered: nothing }, [test('[AAA-001] answers', 'failed')]);
    expect(errors).toEqual(['neither covered nor explained: AAA-001']);
  });

  it('takes a row whose test this machine cannot run neither as covered nor as missing', () => {
    const { errors, markdown } = judgeCoverage({ rows: [row('AAA-001')], uncovered: nothing }, [test('[AAA-001] answers', 'skipped')]);
    expect(errors).toEqual([]);
    expect(markdown).toContain('| AAA-001 | MUST | server | all | Answers | **missing** |');
  });

  it('lets a row that is for later be, with a sentence that says why', () => {
    const uncovered = { groups: { AAA: { reason: 'later', sentence: 'An extension.' }, BBB: { reason: 'later' } }, rows: {} };
    const { errors, markdown } = judgeCoverage({ rows, uncovered }, []);
    expect(errors).toEqual(['docs/spec-uncovered.json: BBB has no sentence that says why']);
    expect(markdown).toContain('| AAA-001 | MUST | server | all | Answers | later: An extension. |');
  });

  it('refuses a title with four ids, and an id that no ledger has', () => {
    const { errors } = judgeCoverage({ rows, uncovered: nothing }, [
      test('[AAA-001][AAA-002][AAA-003][BBB-001] answers'),
      test('[BBB-001] answers'),
      test('[CCC-001] answers'),
    ]);
    expect(errors).toEqual([
      '[CCC-001] in the title "[CCC-001] answers" is no row of a ledger',
      '"[AAA-001][AAA-002][AAA-003][BBB-001] answers" carries more than three row ids',
    ]);
  });

  const many = Array.from({ length: 19 }, (_, index) => row(`AAA-${String(index + 100)}`));
  const shown = many.map(({ id }) => test(`[${id}] answers`));

  it('refuses "not ours" for a duty of ours, and takes it for one of an authorization server', () => {
    const uncovered = { groups: {}, rows: { 'AAA-100': { reason: 'not ours' }, 'AAA-004': { reason: 'not ours' } } };
    const { errors } = judgeCoverage({ rows: [...many, row('AAA-004', 'AS')], uncovered }, shown);
    expect(errors).toEqual(['docs/spec-uncovered.json: AAA-100 is a duty of "server", which is ours']);
  });

  it('refuses "cannot be observed" without a sentence, and for more than 5 % of the rows', () => {
    const uncovered = {
      groups: {},
      rows: { 'AAA-001': { reason: 'cannot be observed' }, 'AAA-002': { reason: 'cannot be observed', sentence: 'So.' } },
    };
    expect(judgeCoverage({ rows: [...many, row('AAA-001'), row('AAA-002')], uncovered }, shown).errors).toEqual([
      'docs/spec-uncovered.json: AAA-001 has no sentence that says why',
      '2 rows are not shown by a test; at most 1 may be',
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
});
