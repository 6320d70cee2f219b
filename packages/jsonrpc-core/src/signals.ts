/** Abort signals put together without leaving listeners behind on those that live long. */

import { Cancellation } from './cancellation.ts';
import { TimeoutError } from './errors.ts';
import { type Clock, systemClock } from './instruments.ts';

/** A signal with the means to let go of what it listens to. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Removes the listeners and timers. The signal then never aborts by them. Safe to call twice. */
  dispose(): void;
}

/**
 * Makes a signal that aborts as soon as one of several does, with that one's reason.
 *
 * Unlike `AbortSignal.any` it can let go: call `dispose` when the work is over, so that a signal that outlives many calls
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
