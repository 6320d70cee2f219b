/** The platform's clock, which also tells how many of its timers are running. */

import type { Clock } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';

export class CountingClock implements Clock {
  running = 0;
  now = systemClock.now;
  monotonicMs = systemClock.monotonicMs;

  schedule: Clock['schedule'] = (fn, delayMs, options) => {
    let isRunning = true;
    this.running++;
    const end = (): void => {
      if (isRunning) this.running--;
      isRunning = false;
    };
    const timer = systemClock.schedule(() => (end(), fn()), delayMs, options);
    return { cancel: () => (end(), timer.cancel()) };
  };
}
