/** Abort signals put together without leaving listeners behind on those that live long. */

import { TimeoutError } from './errors.ts';
import type { Clock } from './instruments.ts';
import { systemClock } from './system-clock.ts';

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
  const controller = new AbortController();
  const sources = signals.filter((signal) => signal !== undefined);
  const dispose = (): void => {
    for (const source of sources) source.removeEventListener('abort', onAbort);
  };
  function onAbort(this: AbortSignal): void {
    dispose();
    controller.abort(this.reason);
  }
  const aborted = sources.find((source) => source.aborted);
  if (aborted) controller.abort(aborted.reason);
  else for (const source of sources) source.addEventListener('abort', onAbort, { once: true });
  return { signal: controller.signal, dispose };
}

/**
 * Makes a signal that aborts after a time, or when another does.
 *
 * @param timeoutMs After this many milliseconds it aborts with a `TimeoutError`.
 */
export function withTimeout(timeoutMs: number, signal?: AbortSignal, clock: Clock = systemClock): LinkedSignal {
  const controller = new AbortController();
  const linked = linkSignals(signal, controller.signal);
  if (linked.signal.aborted) return linked;
  const timer = clock.schedule(() => controller.abort(new TimeoutError(`Not done within ${timeoutMs} ms`, timeoutMs)), timeoutMs);
  const dispose = (): void => {
    timer.cancel();
    linked.dispose();
  };
  linked.signal.addEventListener('abort', dispose, { once: true });
  return { signal: linked.signal, dispose };
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
