/** The cancellation of one piece of work: what an `AbortController` is, but an `AbortSignal` exists only once somebody reads it. */

/** Who follows a signal. Platforms warn of more than ten listeners at one, and many calls may share it: so it has one listener for all of them. */
const followers = new WeakMap<AbortSignal, Set<Cancellation>>();

function cancelFollowers({ target }: Event): void {
  const signal = target as AbortSignal;
  for (const follower of [...(followers.get(signal) ?? [])]) follower.cancel(signal.reason);
}

/**
 * Says whether work is still wanted. Hosts may extend it, so that a call and its cancellation are one object.
 *
 * Making an `AbortSignal` costs more than all else of a short call, so `signal` makes it when it is first read.
 */
export class Cancellation {
  #isCancelled = false;
  #reason: unknown;
  #controller: AbortController | undefined;
  #followed: AbortSignal[] | undefined;

  /** Whether `cancel` was called, or a followed signal aborted. Reading this does not make the signal. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** What the first `cancel` gave as its reason. */
  get reason(): unknown {
    return this.#reason;
  }

  /** Aborts with the reason of `cancel`. Made when it is first read. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#isCancelled) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Cancels the work, and stops following. Does nothing the second time. */
  cancel(reason: unknown): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#reason = reason;
    this.release();
    this.#controller?.abort(reason);
  }

  /**
   * Cancels the work when a signal aborts, at once if it has. Several may be followed.
   *
   * Call `release` when the work is over: a signal that outlives many calls would gather their listeners.
   */
  follow(signal: AbortSignal): void {
    if (this.#isCancelled) return;
    if (signal.aborted) return this.cancel(signal.reason);
    let all = followers.get(signal);
    if (!all) {
      followers.set(signal, (all = new Set()));
      signal.addEventListener('abort', cancelFollowers, { once: true });
    }
    all.add(this);
    (this.#followed ??= []).push(signal);
  }

  /** Stops following every signal. `cancel` still works. */
  release(): void {
    if (!this.#followed) return;
    for (const signal of this.#followed) {
      const all = followers.get(signal);
      if (!all?.delete(this) || all.size > 0) continue;
      followers.delete(signal);
      signal.removeEventListener('abort', cancelFollowers);
    }
    this.#followed = undefined;
  }
}
