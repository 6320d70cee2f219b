/** Lets callers with one purpose share one piece of work, and makes those with another wait their turn. */

import { abortable } from '@mortise/jsonrpc-core/connection';

interface Run {
  readonly key: string;
  readonly done: Promise<void>;
  readonly controller: AbortController;
  callers: number;
}

/** Work that everybody has left is about to end: its error is the reason of another caller, and not for a new one. */
function canJoin(run: Run, key: string): boolean {
  return run.key === key && !run.controller.signal.aborted;
}

export class SharedRun {
  #current: Run | undefined;

  /**
   * Joins the work of the same key, or begins it once the work of another is over.
   *
   * @param signal Ends the wait of this caller. The work itself ends when its last caller has left.
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
    // Callers that wait get the error; without any it is no unhandled rejection.
    done.catch(() => undefined);
    return { key, done, controller, callers: 0 };
  }
}
