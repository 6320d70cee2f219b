/** How long a process was ready to run and another one ran: what a busy machine adds to the time of everything. */

import { readFileSync } from 'node:fs';

/** Since the process began, in milliseconds; 0 where the platform does not tell. @see proc(5), /proc/pid/schedstat */
export function readDelayMs(pid: number | 'self'): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
