/** The figures that a program gives: a bound that is not a number, such as that of an unset variable, would let in whatever comes. */

import { expect, it } from 'vitest';
import { MemoryTaskQueue, MemoryTaskStore } from '@mortise/tasks';
import { taskClient } from '@mortise/tasks/client';
import { createTaskControl, createTasks } from '@mortise/tasks/server';

const counts = ['leaseMs', 'maxPollsPerSecond'];
const amounts = ['maxTtlMs', 'maxTasksPerPrincipal', 'pollIntervalMs'];
const cases: readonly (readonly [what: string, name: string, least: number, make: (options: object) => unknown])[] = [
  ...counts.map((name) => ['createTasks', name, 1, createTasks] as const),
  ...amounts.map((name) => ['createTasks', name, 0, createTasks] as const),
  ['taskClient', 'ttlMs', 0, taskClient],
  ['MemoryTaskQueue', 'maxConcurrent', 1, (options) => new MemoryTaskQueue(options)],
];

it.each<[string, (options: object) => unknown]>([
  ['MemoryTaskStore', (options) => new MemoryTaskStore(options)],
  ['createTaskControl', (options) => createTaskControl(new MemoryTaskStore(), options)],
])('%s refuses an option that it does not know', (_what, make) => {
  expect(() => make({ clok: Date.now })).toThrow(/unknown option "clok"/);
});

it.each(cases)('[ROBUSTNESS-7] %s refuses %s, by its name, unless it is a number of %i or more', (_what, name, least, make) => {
  for (const value of [NaN, least - 1, '30']) {
    expect(() => make({ [name]: value })).toThrow(new RegExp(`: "${name}" must be a number, ${least} or more, got `));
    expect(() => make({ [name]: value })).toThrow(TypeError);
  }
  for (const value of [undefined, least, Infinity]) expect(() => make({ [name]: value })).not.toThrow();
});
