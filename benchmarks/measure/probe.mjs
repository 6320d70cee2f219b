// Loaded into every measured process with `node --import`: on SIGUSR2 it prints the CPU time used so far, in microseconds, and where the
// process can collect its garbage, what is alive after that.
import { writeSync } from 'node:fs';

process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage();
  const rss = process.memoryUsage.rss();
  let heap = '';
  if (typeof globalThis.gc === 'function') {
    for (let round = 0; round < 3; round++) globalThis.gc();
    heap = ` HEAP ${process.memoryUsage().heapUsed}`;
  }
  writeSync(2, `\nCPU ${user + system} RSS ${rss}${heap}\n`);
});
