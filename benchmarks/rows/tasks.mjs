// The rows of tasks, of ours alone: no other SDK serves them from a durable store.
import { withBefore } from '../measure/before.mjs';

const stores = withBefore({
  'ours, in memory': ['ours/tasks.mjs', 'memory'],
  'ours, in memory, 10,000 open': ['ours/tasks.mjs', 'memory', '10000'],
  'ours, SQLite, every write flushed': ['ours/tasks.mjs', 'sqlite'],
});

/** @param {(file: string, args: readonly string[]) => number} programCpu Runs a program and gives its CPU microseconds a call. */
export const taskRows = (programCpu) =>
  [
    { name: 'tasks created, run and finished, client and server in one process', mode: 'finish' },
    { name: 'a poll of a task (tasks/get), client and server in one process', mode: 'poll' },
  ].map(({ name, mode }) => ({
    name,
    unit: 'us/call',
    systems: Object.keys(stores),
    // There is no floor to compare with.
    showsCallsPerSecond: true,
    run: (system) => {
      const [file, ...words] = stores[system];
      return programCpu(file, [mode, ...words]);
    },
  }));
