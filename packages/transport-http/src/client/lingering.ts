/**
 * Bodies whose answer has been read and that should end by themselves any moment, so that their connection can be used again. Those
 * that do not are closed: one timer for all of them.
 */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';
import type { BodySink, HttpAnswer } from './http-sender.ts';

const SWEEP_MS = 1000;
/** What nobody wants is read as long as it is little. */
const MAX_IDLE_BYTES = 64 * 1024;

/** Something that reads on although nobody needs it. */
export interface Lingerer {
  /** Closes it. */
  stop(): void;
}

export class Lingering {
  readonly #clock: Clock;
  #young = new Set<Lingerer>();
  #old = new Set<Lingerer>();
  #timer: ClockTimer | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(lingerer: Lingerer): void {
    this.#young.add(lingerer);
    this.#timer ??= this.#clock.schedule(() => this.#sweep(), SWEEP_MS);
  }

  /** It has ended by itself. */
  delete(lingerer: Lingerer): void {
    if (!this.#young.delete(lingerer)) this.#old.delete(lingerer);
    if (this.#young.size + this.#old.size === 0) this.#stopTimer();
  }

  /** Reads a body that nobody wants to its end, if that comes soon. */
  discard(answer: HttpAnswer): void {
    answer.read(new Discarded(this, answer));
  }

  /** Closes everything at once. */
  close(): void {
    for (const lingerer of [...this.#young, ...this.#old]) lingerer.stop();
    this.#young.clear();
    this.#old.clear();
    this.#stopTimer();
  }

  #sweep(): void {
    this.#timer = undefined;
    for (const lingerer of this.#old) lingerer.stop();
    this.#old = this.#young;
    this.#young = new Set();
    if (this.#old.size > 0) this.#timer = this.#clock.schedule(() => this.#sweep(), SWEEP_MS);
  }

  #stopTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

class Discarded implements BodySink, Lingerer {
  readonly #lingering: Lingering;
  readonly #answer: HttpAnswer;
  #bytes = 0;

  constructor(lingering: Lingering, answer: HttpAnswer) {
    this.#lingering = lingering;
    this.#answer = answer;
    if (answer.header('content-length') !== '0') lingering.add(this);
  }

  onChunk(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#bytes <= MAX_IDLE_BYTES) return;
    this.#lingering.delete(this);
    this.stop();
  }

  onEnd(): void {
    this.#lingering.delete(this);
  }

  stop(): void {
    this.#answer.abort();
  }
}
