/** Runs one task at a time. Calls with the same key share the running task; calls with another key wait for its end. */

import { abortable } from '@mortise/jsonrpc-core/connection';

interface Run {
  readonly key: string;
  readonly done: Promise<void>;
  readonly controller: AbortController;
  callers: number;
}

/** Tells whether a call may share a running task: not if all earlier calls have aborted, because the task then fails with their reason. */
function canJoin(run: Run, key: string): boolean {
  return run.key === key && !run.controller.signal.aborted;
}

export class SharedRun {
  #current: Run | undefined;

  /**
   * Waits for the running task of the same key, or starts `work` once the task of another key has ended.
   *
   * @param signal Ends the wait of this call. The task is aborted when all calls that share it have aborted.
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
    // Waiting calls get the error. If none waits, this avoids an unhandled rejection.
    done.catch(() => undefined);
    return { key, done, controller, callers: 0 };
  }
}
