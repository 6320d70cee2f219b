// Loaded into every measured process with `node --import`: on SIGUSR2 it prints the CPU time used so far, in microseconds.
import { writeSync } from 'node:fs';

process.on('SIGUSR2', () => {
  const { user, system } = process.cpuUsage();
  writeSync(2, `\nCPU ${user + system} RSS ${process.memoryUsage.rss()}\n`);
});
