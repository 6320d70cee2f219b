/** What this process works, and what it waits for while others work: a test that is about time leaves the second out. */

import { readFileSync } from 'node:fs';

/** @returns Tells how much CPU time this process has used since, in milliseconds, all of its threads together: a busy machine makes it no longer. */
export function countCpuMs(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}

/** @returns Tells how many milliseconds have passed since, without those that this process was ready to run and others ran. */
export function countOwnMs(): () => number {
  const [startMs, delayMs] = [performance.now(), readDelayMs('self')];
  return () => performance.now() - startMs - (readDelayMs('self') - delayMs);
}

/** How long a process was ready to run and others ran since it began, in milliseconds; 0 where the platform does not tell. @see proc(5), /proc/pid/schedstat */
export function readDelayMs(pid: number | 'self'): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
