/** Sees to it that the tests of a file leave no rejection to nobody. */

import { afterEach, beforeEach, expect } from 'vitest';

/** To be called before the file's own hooks, so that it looks after they have closed everything. */
export function forbidUnhandled(): void {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  beforeEach(() => {
    unhandled.length = 0;
    process.on('unhandledRejection', note);
  });
  afterEach(async () => {
    // Whoever leaves a rejection alone is told of after the turn.
    await new Promise(setImmediate);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
}
