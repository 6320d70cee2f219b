/** What a suite finds is held against the baseline, both ways. */

import { expect, test } from 'vitest';
import { judge } from '../conformance/judge.mjs';

const outcome = (...ids: string[]) => ({
  run: { suite: '0.1.16', role: 'client', column: 'all', kind: 'set', scenarios: ['retry'], args: [] } as const,
  scenario: 'retry',
  passed: 1,
  faults: ids.map((id) => ({ id, status: 'WARNING' as const, message: 'late' })),
});
const entry = { reason: 'it is known', role: 'client', suite: '0.1.16', scenarios: ['retry'], checks: ['timing'] } as const;

test('a fault that is listed is no problem, any other one is', () => {
  expect(judge([outcome('timing')], [entry], { isComplete: true }).problems).toEqual([]);
  expect(judge([outcome('timing', 'other')], [entry], { isComplete: true }).problems).toEqual([
    '0.1.16 client all retry: WARNING other: late',
  ]);
  expect(judge([outcome('timing')], [{ ...entry, suite: '0.2' }], { isComplete: false }).problems).toHaveLength(1);
});

test('an entry that nothing needs is a problem of a complete run, unless its check goes by the clock', () => {
  expect(judge([outcome()], [entry], { isComplete: true }).problems).toEqual([
    'baseline: client retry is listed and does not fail: take it out',
  ]);
  expect(judge([outcome()], [entry], { isComplete: false }).problems).toEqual([]);
  expect(judge([outcome()], [{ ...entry, byClock: true }], { isComplete: true }).problems).toEqual([]);
  expect(judge([outcome('other')], [{ ...entry, byClock: true }], { isComplete: true }).problems).toHaveLength(1);
});
