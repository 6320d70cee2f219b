/** A body that is being read, whichever face reads it: how much it may be, and with what it is refused. */

import type { BodyLimits, HeldBytes, WatchedBody } from './http-request.ts';
import { crowdedRefusal, HttpRefusal, stoppedRefusal, tooLargeRefusal, toRefusal } from './refusal.ts';

export abstract class ArrivingBody implements WatchedBody {
  startedAtMs: number = 0;
  slot: number = -1;
  held: HeldBytes | undefined;
  readonly limits: BodyLimits;
  readonly #closes: boolean;

  /** @param closes Whether a connection is of no further use whose body is not read to the end. */
  constructor(limits: BodyLimits, closes: boolean) {
    this.limits = limits;
    this.#closes = closes;
  }

  /** It is read no further. */
  protected abstract fail(refusal: HttpRefusal): void;

  /** Counts what is held. @param bytes All that has come of it. @returns Why it is to be read no further: 413, 503, or 500. */
  protected check(bytes: number): HttpRefusal | undefined {
    const { maxBytes, watch } = this.limits;
    if (bytes > maxBytes) return tooLargeRefusal(maxBytes, this.#closes);
    try {
      return watch.hold(this, bytes) ? undefined : crowdedRefusal(this.#closes);
    } catch (error) {
      // The program's `limitKey`: the platform may call who reads, and what is thrown there would end the process.
      return toRefusal(error, { closes: this.#closes });
    }
  }

  stop(why: 'timeout' | 'closing'): void {
    this.fail(stoppedRefusal(why, this.#closes));
  }

  /** The sender is gone. */
  protected break(): void {
    this.fail(new HttpRefusal(400, 'The body ended early', { closes: this.#closes }));
  }
}
