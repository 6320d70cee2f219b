/** Notices that the process that started this one is gone, also where standard input stays open (another process may hold it). */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';

/** What to look at and how often. */
export interface ParentWatchOptions {
  /** Gives the id of the parent. @default process.ppid */
  readonly parentId?: (() => number) | undefined;
  /** How often the parent is looked at, in milliseconds. @default 400 */
  readonly everyMs?: number | undefined;
  /** Runs the timer between two looks. @default systemClock */
  readonly clock?: Clock | undefined;
}

/**
 * Calls back once when the parent process has ended. The watch does not keep the process alive.
 *
 * An orphan is given to another parent on POSIX, so its parent's id changes. Windows keeps the id, so there the parent is asked
 * for a sign of life.
 *
 * @returns Ends the watch.
 */
export function watchParent(onGone: () => void, options: ParentWatchOptions = {}): () => void {
  const parentId = options.parentId ?? (() => process.ppid);
  const clock = options.clock ?? systemClock;
  const everyMs = options.everyMs ?? 400;
  const first = parentId();
  let timer: ClockTimer = clock.schedule(look, everyMs);

  function look(): void {
    if (parentId() !== first || (process.platform === 'win32' && !isAlive(first))) onGone();
    else timer = clock.schedule(look, everyMs);
  }

  return () => timer.cancel();
}

function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    // A process that may not be asked is there all the same.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
