/** The platform's clock, and the logger that says nothing: what every part uses unless it is given another. */

import type { Clock, HoldableTimer, Logger } from './instruments.ts';

/** The longest delay that platforms take; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The platform's time. Its timers do not keep a process alive, where the platform can tell, unless they are asked to. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  schedule: (fn, delayMs, options) => new SystemTimer(fn, delayMs, options?.keepAlive === true),
};

/** A logger that drops every line. */
export const silentLogger: Logger = { log: () => undefined };

class SystemTimer implements HoldableTimer {
  readonly #fn: () => void;
  #keepAlive: boolean;
  #restMs: number;
  #handle: ReturnType<typeof setTimeout> | undefined;

  constructor(fn: () => void, delayMs: number, keepAlive: boolean) {
    this.#fn = fn;
    this.#keepAlive = keepAlive;
    this.#restMs = delayMs;
    this.#arm();
  }

  cancel(): void {
    clearTimeout(this.#handle);
    this.#handle = undefined;
  }

  hold(): void {
    this.#keepAlive = true;
    const handle: unknown = this.#handle;
    if (typeof handle === 'object' && handle !== null && 'ref' in handle && typeof handle.ref === 'function') handle.ref();
  }

  release(): void {
    this.#keepAlive = false;
    release(this.#handle);
  }

  #arm(): void {
    const delayMs = Math.min(this.#restMs, MAX_DELAY_MS);
    this.#restMs -= delayMs;
    this.#handle = setTimeout(() => (this.#restMs > 0 ? this.#arm() : this.#fn()), delayMs);
    if (!this.#keepAlive) release(this.#handle);
  }
}

/** On Node a timer is an object that can be told not to keep the process alive; elsewhere it is a number. */
function release(handle: unknown): void {
  if (typeof handle === 'object' && handle !== null && 'unref' in handle && typeof handle.unref === 'function') handle.unref();
}
