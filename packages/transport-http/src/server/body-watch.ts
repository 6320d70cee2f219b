/** One timer and one sum for all bodies that are being read, so that a request costs none. */

import type { Clock } from '@mortise/jsonrpc-core';
import { Beat } from './beat.ts';
import type { BodyWatch, WatchedBody } from './http-request.ts';
import { KeyedBytes } from './keyed-bytes.ts';
import type { Settings } from './options.ts';
import { Slots } from './slots.ts';

/** A body may stay this much over its bound. */
const EVERY_MS = 250;
/** A body counts once it is longer: a connection takes about as much, and calls as most are must get through when others send a lot. */
const UNCOUNTED_BYTES = 16 * 1024;

type BodySettings = Pick<Settings, 'clock' | 'maxPendingBodyBytes' | 'maxPendingBodyBytesPerKey'>;

/** Looks a few times a second, while anything is being read, for bodies past their time, and counts what all hold. */
export class BodySweep implements BodyWatch {
  readonly #clock: Clock;
  readonly #beat: Beat;
  readonly #readings: Slots<WatchedBody> = new Slots();
  readonly #bytes: KeyedBytes;
  #isClosed = false;

  constructor({ clock, maxPendingBodyBytes, maxPendingBodyBytesPerKey }: BodySettings) {
    this.#clock = clock;
    this.#bytes = new KeyedBytes(maxPendingBodyBytes, maxPendingBodyBytesPerKey);
    this.#beat = new Beat(clock, EVERY_MS, () => this.#sweep());
  }

  add(reading: WatchedBody): void {
    if (this.#isClosed) return reading.stop('closing');
    this.#readings.add(reading);
    reading.startedAtMs = this.#beat.start();
  }

  delete(reading: WatchedBody): void {
    // The timer is left to find the set empty: stopping and starting it with each request would cost more than one idle beat.
    this.#readings.delete(reading);
    const { held } = reading;
    if (held === undefined) return;
    this.#bytes.give(held.key, held.bytes);
    reading.held = undefined;
  }

  hold(reading: WatchedBody, bytes: number): boolean {
    if (bytes <= UNCOUNTED_BYTES) return true;
    const held = (reading.held ??= { key: reading.limits.sender.limitKey, bytes: 0 });
    if (!this.#bytes.take(held.key, bytes - held.bytes)) return false;
    held.bytes = bytes;
    return true;
  }

  /** Ends all that are being read, and those that come. */
  close(): void {
    this.#isClosed = true;
    this.#beat.stop();
    for (const reading of this.#readings.all()) {
      this.delete(reading);
      reading.stop('closing');
    }
  }

  #sweep(): boolean {
    const now = this.#clock.monotonicMs();
    for (const reading of this.#readings.all()) {
      if (now - reading.startedAtMs < reading.limits.timeoutMs) continue;
      this.delete(reading);
      reading.stop('timeout');
    }
    return this.#readings.size > 0;
  }
}
