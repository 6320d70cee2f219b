/** Cancellation: of one piece of work, and signals that leave no listeners behind on those that live long. */

import { TimeoutError } from './errors.ts';
import { type Clock, systemClock } from './clock.ts';

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

/** A signal that can stop listening to others. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Removes the listeners and timers. The signal then never aborts by them. Safe to call twice. */
  dispose(): void;
}

/**
 * Makes a signal that aborts as soon as one of several does, with that one's reason.
 *
 * Unlike `AbortSignal.any` it can stop listening: call `dispose` when the work is over, so that a signal that outlives many calls
 * does not gather their listeners.
 */
export function linkSignals(...signals: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const cancellation = new Cancellation();
  for (const signal of signals) if (signal) cancellation.follow(signal);
  return { signal: cancellation.signal, dispose: () => cancellation.release() };
}

/**
 * Makes a signal that aborts after a time, or when another does.
 *
 * @param timeoutMs After this many milliseconds it aborts with a `TimeoutError`.
 */
export function withTimeout(timeoutMs: number, signal?: AbortSignal, clock: Clock = systemClock): LinkedSignal {
  const cancellation = new Cancellation();
  if (signal) cancellation.follow(signal);
  if (cancellation.isCancelled) return { signal: cancellation.signal, dispose: () => undefined };
  const timer = clock.schedule(() => cancellation.cancel(new TimeoutError(`Not done within ${timeoutMs} ms`, timeoutMs)), timeoutMs);
  const dispose = (): void => {
    timer.cancel();
    cancellation.release();
  };
  cancellation.signal.addEventListener('abort', dispose, { once: true });
  return { signal: cancellation.signal, dispose };
}

/**
 * Waits for a promise, but no longer than until a signal aborts.
 *
 * Does NOT stop the work behind the promise: hand the signal to that as well. What it settles to after an abort is dropped.
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
