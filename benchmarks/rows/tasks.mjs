// The rows of tasks, of ours alone: no other SDK serves them from a durable store.
const stores = { 'in memory': ['memory'], 'in memory, 10,000 open': ['memory', '10000'], 'SQLite, every write flushed': ['sqlite'] };

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
    run: (system) => programCpu('./ours/tasks.mjs', [mode, ...stores[system]]),
  }));
