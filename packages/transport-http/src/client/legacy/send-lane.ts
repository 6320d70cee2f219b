/** Keeps what is sent in order although each message is an HTTP request of its own. */

import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';

export class SendLane implements WaitingCaller {
  readonly #waiting = new Map<WaitingCaller, (() => void) | undefined>();
  #tail: Promise<void> | undefined;
  #isPaused = false;

  /** Runs after everything before it, and everything after it waits for it. For what is accepted at once. */
  inTurn(run: () => Promise<void>): Promise<void> {
    const done = this.behind(run);
    const leave = (): void => this.#leave(tail);
    const tail: Promise<void> = done.then(leave, leave);
    this.#tail = tail;
    return done;
  }

  /** Runs after everything before it, and holds nobody up. For what may take long. @param caller Who waits for it. */
  behind(run: () => Promise<void>, caller?: WaitingCaller): Promise<void> {
    if (this.#tail === undefined) return run();
    if (caller === undefined) return this.#tail.then(run);
    this.#waiting.set(caller, this.#isPaused ? caller.pauseTimeout?.() : undefined);
    return this.#tail.then(() => {
      this.#waiting.get(caller)?.();
      this.#waiting.delete(caller);
      return run();
    });
  }

  /** Somebody signs in for the message whose turn it is: the time of all who wait behind it stands still too. */
  pauseTimeout(): () => void {
    this.#isPaused = true;
    for (const caller of this.#waiting.keys()) this.#waiting.set(caller, caller.pauseTimeout?.());
    return () => {
      this.#isPaused = false;
      for (const [caller, resume] of this.#waiting) {
        resume?.();
        this.#waiting.set(caller, undefined);
      }
    };
  }

  #leave(tail: Promise<void>): void {
    if (this.#tail === tail) this.#tail = undefined;
  }
}
