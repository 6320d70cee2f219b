/** Keeps what is sent in order although each message is an HTTP request of its own. */

export class SendLane {
  #tail: Promise<void> | undefined;

  /** Runs after everything before it, and everything after it waits for it. For what is accepted at once. */
  inTurn(run: () => Promise<void>): Promise<void> {
    const done = this.behind(run);
    const leave = (): void => this.#leave(tail);
    const tail: Promise<void> = done.then(leave, leave);
    this.#tail = tail;
    return done;
  }

  /** Runs after everything before it, and holds nobody up. For what may take long. */
  behind(run: () => Promise<void>): Promise<void> {
    return this.#tail === undefined ? run() : this.#tail.then(run);
  }

  #leave(tail: Promise<void>): void {
    if (this.#tail === tail) this.#tail = undefined;
  }
}
