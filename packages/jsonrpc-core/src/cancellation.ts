/** Cancellation of one piece of work, and abort signals that can stop listening to other signals. */

import { TimeoutError } from './errors.ts';
import { type Clock, systemClock } from './clock.ts';

/** The cancellations that follow each signal. One listener per signal serves them all, because platforms warn above ten listeners. */
const followers = new WeakMap<AbortSignal, Set<Cancellation>>();

function cancelFollowers({ target }: Event): void {
  const signal = target as AbortSignal;
  for (const follower of [...(followers.get(signal) ?? [])]) follower.cancel(signal.reason);
}

/**
 * Tells whether a piece of work, such as a request, is still wanted. Classes may extend it, so that a call needs no second object.
 *
 * `signal` is created on first read, because an `AbortSignal` costs more than the rest of a short call.
 */
export class Cancellation {
  #isCancelled = false;
  #reason: unknown;
  #controller: AbortController | undefined;
  #followed: AbortSignal[] | undefined;

  /** Whether the work was cancelled, by `cancel` or by a followed signal. Reading this does not create `signal`. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** The reason given to the first `cancel`; undefined before. */
  get reason(): unknown {
    return this.#reason;
  }

  /** Aborts when the work is cancelled, with the same reason. Created on first read. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#isCancelled) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** Cancels the work and stops following signals. A second call does nothing. */
  cancel(reason: unknown): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#reason = reason;
    this.release();
    this.#controller?.abort(reason);
  }

  /**
   * Cancels the work when the given signal aborts, or at once if it already has. Several signals may be followed.
   *
   * Call `release` when the work is over. Otherwise abort listeners accumulate on a long-lived signal.
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

  /** Stops following every signal. `cancel` still works afterwards. */
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

/** A signal that aborts when one of several other signals does, and can stop listening to them. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Removes the listeners and timers, so that nothing aborts the signal any more. Safe to call twice. */
  dispose(): void;
}

/**
 * Makes a signal that aborts as soon as one of the given signals does, with the same reason.
 *
 * Unlike `AbortSignal.any`, it can stop listening. Call `dispose` when the work is over, so that no listeners accumulate on a long-lived signal.
 */
export function linkSignals(...signals: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const cancellation = new Cancellation();
  for (const signal of signals) if (signal) cancellation.follow(signal);
  return { signal: cancellation.signal, dispose: () => cancellation.release() };
}

/**
 * Makes a signal that aborts after a time, or when the given signal aborts.
 *
 * @param timeoutMs Milliseconds after which the signal aborts with a `TimeoutError`.
 */
export function withTimeout(timeoutMs: number, signal?: AbortSignal, clock: Clock = systemClock): LinkedSignal {
  const cancellation = new Cancellation();
  if (signal) cancellation.follow(signal);
  if (cancellation.isCancelled) return { signal: cancellation.signal, dispose: () => undefined };
  const timer = clock.schedule(
    () => cancellation.cancel(new TimeoutError(`The request was not answered within ${timeoutMs} ms`, timeoutMs)),
    timeoutMs,
  );
  const dispose = (): void => {
    timer.cancel();
    cancellation.release();
  };
  cancellation.signal.addEventListener('abort', dispose, { once: true });
  return { signal: cancellation.signal, dispose };
}

/**
 * Waits for a promise until it settles or a signal aborts.
 *
 * Does NOT stop the work behind the promise: pass the signal to that work as well. After an abort the promise's outcome is ignored.
 *
 * @throws The signal's reason, once it has aborted.
 */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return Promise.resolve(promise);
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    const done = (): void => signal.removeEventListener('abort', onAbort);
    promise.then(
      (value) => {
        done();
        resolve(value);
      },
      (error: Error) => {
        done();
        reject(error);
      },
    );
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
