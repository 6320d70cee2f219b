/** The kit is worth something only if it finds what is wrong: each way to break a promise must fail a case of that promise. */

import { runCases, setPatience, toKitSetup, transportCases } from '@mortise/transport-testkit';
import { describeTransport } from '@mortise/transport-testkit/vitest';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { clearLeftTimers, createTestSetup, type TransportDefect } from './test-transport.ts';

describeTransport('a transport that keeps every promise', createTestSetup());

const defects: readonly (readonly [TransportDefect, string])[] = [
  ['delivers before start', 'T1.1'],
  ['delivers before start', 'T1.2'],
  ['loses what came before start', 'T1.1'],
  ['starts twice', 'T1.3'],
  ['starts after close', 'T1.4'],
  ['swaps messages', 'T2.1'],
  ['swaps messages', 'T2.2'],
  ['lets short messages overtake', 'T2.3'],
  ['delivers within a delivery', 'T2.4'],
  ['never resolves send', 'T3.1'],
  ['takes messages before start', 'T3.2'],
  ['takes messages after close', 'T3.3'],
  ['takes messages after close', 'T3.4'],
  ['leaves a waiting send', 'T3.5'],
  ['calls onclose twice', 'T4.1'],
  ['calls onclose twice', 'T4.2'],
  ['calls onclose twice', 'T4.5'],
  ['never calls onclose', 'T4.1'],
  ['drops messages on close', 'T4.3'],
  ['drops messages on close', 'T4.4'],
  ['delivers after onclose', 'T4.6'],
  ['hides garbage', 'T5.1'],
  ['dies of garbage', 'T5.2'],
  ['reads invalid UTF-8', 'T5.3'],
  ['judges messages', 'T5.4'],
  ['has no bound', 'T6.1'],
  ['stalls after a long message', 'T6.2'],
  ['has a bound too low', 'T6.3'],
  ['hangs on close before start', 'T7.1'],
  ['hangs on a second close', 'T7.2'],
  ['calls onclose twice', 'T7.4'],
  ['dies of a throwing onmessage', 'T8.1'],
  ['hides what onmessage throws', 'T8.1'],
  ['hides what onclose throws', 'T8.2'],
  ['dies of a throwing onerror', 'T8.3'],
  ['ends lines at U+2028', 'T9.1'],
  ['decodes chunks alone', 'T9.2'],
  ['cuts long messages', 'T10.1'],
  ['cuts long messages', 'T10.2'],
  ['loses a message', 'T11.1'],
  ['repeats a message', 'T11.2'],
  ['never waits', 'T12.1'],
  ['never waits', 'T12.2'],
  ['blocks', 'T12.3'],
  ['shares a wire', 'T13.1'],
];

describe.concurrent('a broken transport', () => {
  // What never happens need not be waited for as long as what happens late.
  beforeAll(() => setPatience(1500));
  afterAll(() => setPatience(5000));

  it.for(defects)('that %s fails %s', async ([defect, id], { expect: expectHere }) => {
    const cases = transportCases.filter((transportCase) => transportCase.id === id);
    const results = await runCases(cases, toKitSetup(createTestSetup(defect)));
    expectHere(results.map((result) => [result.id, result.outcome])).toEqual([[id, 'failed']]);
  });
});

describe('a transport that leaves something behind', () => {
  afterEach(clearLeftTimers);

  it.for([
    ['leaves a timer', 'T14.1'],
    ['leaves a timer unused', 'T14.2'],
  ] as const)('that %s fails %s', async ([defect, id]) => {
    const cases = transportCases.filter((transportCase) => transportCase.id === id);
    const results = await runCases(cases, toKitSetup(createTestSetup(defect)));
    expect(results.map((result) => [result.id, result.outcome])).toEqual([[id, 'failed']]);
  });
});

describe('the list of broken transports', () => {
  it('has one for every promise', () => {
    const promises = new Set(transportCases.map(({ id }) => id.split('.')[0]));
    const broken = new Set([...defects.map(([, id]) => id.split('.')[0]), 'T14']);
    expect([...promises].filter((promise) => !broken.has(promise))).toEqual([]);
    expect(promises.size).toBe(14);
  });
});
