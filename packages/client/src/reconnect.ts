/** Delays repeated attempts to open a lost connection. */

import type { Clock } from '@mortise/jsonrpc-core';
import { abortable } from '@mortise/jsonrpc-core/connection';

const FLOOR_MS = 500;
const CEILING_MS = 4000;
/** A connection that lasted this long counts as sound: the first attempt to open the next one has no delay. */
const SOUND_AFTER_MS = 5000;
/** So many that a call on a server that dies at each start fails within 7 seconds. */
const MAX_ATTEMPTS = 3;

/** Decides the delay before each attempt to reconnect: half a second at first, up to four seconds. None after a connection that lasted. */
export class ReconnectPace {
  readonly #clock: Clock;
  #failures = 0;
  #openedAtMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that a connection was opened. */
  onOpened(): void {
    this.#openedAtMs = this.#clock.monotonicMs();
  }

  /** Notes that the connection was lost. */
  onLost(): void {
    const isSound = this.#clock.monotonicMs() - this.#openedAtMs >= SOUND_AFTER_MS;
    this.#failures = isSound ? 0 : this.#failures + 1;
  }

  /** Calls `open` until it succeeds, at most three times. Rejects with the last error. */
  async run<T>(open: () => Promise<T>, canRepeat: (error: unknown) => boolean, signal: AbortSignal): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        signal.throwIfAborted();
        if (this.#failures > 0) await this.pause(signal);
        return await open();
      } catch (error) {
        this.#failures += 1;
        if (signal.aborted || attempt >= MAX_ATTEMPTS || !canRepeat(error)) throw error;
      }
    }
  }

  /** Waits before the next attempt to reconnect: at least half a second, and longer after each failure. */
  async pause(signal: AbortSignal): Promise<void> {
    const fullMs = Math.min(CEILING_MS, FLOOR_MS * 2 ** Math.max(1, this.#failures));
    // Random jitter between half and all of the delay, never below the floor.
    const delayMs = fullMs * (0.5 + Math.random() / 2);
    let stop: () => void = () => undefined;
    const slept = new Promise<void>((resolve) => {
      const timer = this.#clock.schedule(resolve, delayMs, { keepAlive: true });
      stop = () => timer.cancel();
    });
    await abortable(slept, signal).finally(stop);
  }
}
