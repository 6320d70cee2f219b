/** A timer that can stand still while somebody signs in. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';

export class PausableTimer implements WaitingCaller {
  readonly #clock: Clock;
  readonly #run: () => void;
  #leftMs: number;
  #sinceMs: number;
  #timer: ClockTimer | undefined;
  #pauses = 0;
  #isOver = false;

  /** Starts it. It keeps the process alive while it runs. */
  constructor(clock: Clock, run: () => void, delayMs: number) {
    this.#clock = clock;
    this.#run = run;
    this.#leftMs = delayMs;
    this.#sinceMs = clock.monotonicMs();
    this.#goOn();
  }

  cancel(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  pauseTimeout(): () => void {
    if (this.#pauses === 0) {
      this.#timer?.cancel();
      this.#leftMs -= this.#clock.monotonicMs() - this.#sinceMs;
    }
    this.#pauses += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#pauses -= 1;
      if (this.#pauses === 0 && !this.#isOver) this.#goOn();
    };
  }

  #goOn(): void {
    this.#sinceMs = this.#clock.monotonicMs();
    const expire = (): void => {
      this.#isOver = true;
      this.#run();
    };
    this.#timer = this.#clock.schedule(expire, Math.max(0, this.#leftMs), { keepAlive: true });
  }
}

/** Stops the time of two. @returns Lets both go on. */
export function pauseBoth(timer: PausableTimer, caller: WaitingCaller | undefined): () => void {
  const resumeTimer = timer.pauseTimeout();
  const resumeCaller = caller?.pauseTimeout?.();
  return () => {
    resumeTimer();
    resumeCaller?.();
  };
}
