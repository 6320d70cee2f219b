/** Runs one piece of work at a time. Callers with the same key share it; callers with another key wait. */

import { abortable } from '@mortise/jsonrpc-core/connection';

interface Run {
  readonly key: string;
  readonly done: Promise<void>;
  readonly controller: AbortController;
  callers: number;
}

/** A run whose callers have all aborted cannot be joined: it fails with the abort reason of an earlier caller. */
function canJoin(run: Run, key: string): boolean {
  return run.key === key && !run.controller.signal.aborted;
}

export class SharedRun {
  #current: Run | undefined;

  /**
   * Joins the running work of the same key, or starts it after the work of another key has ended.
   *
   * @param signal Ends the wait of this caller. The work is aborted when all its callers have aborted.
   */
  async join(key: string, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    signal?.throwIfAborted();
    while (this.#current && !canJoin(this.#current, key))
      await abortable(
        this.#current.done.catch(() => undefined),
        signal,
      );
    const run = (this.#current ??= this.#begin(key, work));
    run.callers++;
    try {
      await abortable(run.done, signal);
    } finally {
      run.callers--;
      if (run.callers === 0) run.controller.abort(signal?.reason);
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<void>): Run {
    const controller = new AbortController();
    const done = work(controller.signal).finally(() => {
      this.#current = undefined;
    });
    // Waiting callers get the error. This avoids an unhandled rejection if there is none.
    done.catch(() => undefined);
    return { key, done, controller, callers: 0 };
  }
}
