/** Backpressure on a peer that asks faster than it is answered, or than it reads its answers. */

import type { Clock, ClockTimer } from '@mortise/jsonrpc-core';

/** What a `ReadGate` looks at, and what it moves. */
export interface ReadGateOptions {
  /** How many bytes of requests in flight and of answers not yet taken one peer may have. */
  readonly maxPendingBytes: number;
  readonly clock: Clock;
  /** How many bytes of requests wait for an answer. */
  inFlightBytes(): number;
  /** How many bytes wait to be taken by a peer that does not read; 0 while it does. */
  unreadBytes(): number;
  /** Takes bytes that have passed. Must not throw. */
  read(chunk: Buffer): void;
  pause(): void;
  resume(): void;
}

/**
 * Lets bytes pass while the peer has at most `maxPendingBytes` pending, and holds them back beyond that.
 *
 * A peer that does not read its answers is held back until it does. One whose requests merely take long is held back for `PATIENCE_MS`: a request in
 * flight may wait for what comes behind (an answer to an ask, a cancellation), so after that everything is read again and `isRefusing` says that new
 * requests must be refused. While the gate is closed some bytes are still fetched, for only behind the last of them the end of the input can be seen.
 */
export class ReadGate {
  readonly #options: ReadGateOptions;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #isClosed = false;
  #isRefusing = false;
  #isEnded = false;
  #probe: ClockTimer | undefined;
  #patience: ClockTimer | undefined;

  constructor(options: ReadGateOptions) {
    this.#options = options;
  }

  /** Whether a request must be refused, because too many bytes of others have been in flight for long. */
  get isRefusing(): boolean {
    return this.#isRefusing && this.#options.inFlightBytes() > this.#options.maxPendingBytes / 2;
  }

  push(chunk: Buffer): void {
    if (this.#isClosed) return this.#hold(chunk);
    this.#options.read(chunk);
    if (this.#isOver()) this.#close();
  }

  /** Looks again. Call it when an answer was sent and when the peer has read. */
  update(): void {
    if (this.#isClosed && !this.#isOver()) this.#open();
  }

  /** Lets pass what is held, and from now on everything. Call it when the input has ended. */
  end(): void {
    this.#isEnded = true;
    this.#open();
  }

  /** Drops what is held and forgets its timers. */
  stop(): void {
    this.#isEnded = true;
    this.#held = [];
    this.#open();
  }

  #isOver(): boolean {
    if (this.#isEnded) return false;
    const { maxPendingBytes } = this.#options;
    const inFlight = this.#options.inFlightBytes();
    if (inFlight <= maxPendingBytes / 2) this.#isRefusing = false;
    const unread = this.#options.unreadBytes();
    if (unread > 0 && unread + inFlight > maxPendingBytes) return true;
    return inFlight > maxPendingBytes && !this.#isRefusing;
  }

  #close(): void {
    this.#isClosed = true;
    this.#pauseAndProbe();
    this.#bePatient();
  }

  #bePatient(): void {
    this.#patience = this.#options.clock.schedule(() => this.#endPatience(), PATIENCE_MS, { keepAlive: true });
  }

  /** A peer that does not read is waited for: refusing would only give it more not to read. */
  #endPatience(): void {
    if (this.#options.unreadBytes() > 0) return this.#bePatient();
    this.#isRefusing = true;
    this.update();
  }

  #hold(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    this.#pauseAndProbe();
  }

  #pauseAndProbe(): void {
    this.#options.pause();
    this.#probe?.cancel();
    if (this.#heldBytes < MAX_HELD_BYTES)
      this.#probe = this.#options.clock.schedule(() => this.#options.resume(), PROBE_MS, { keepAlive: true });
  }

  #open(): void {
    this.#probe?.cancel();
    this.#patience?.cancel();
    this.#isClosed = false;
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    for (const chunk of held) this.push(chunk);
    if (!this.#isClosed && !this.#isEnded) this.#options.resume();
  }
}

/** How long requests in flight are waited for before new ones are refused. */
const PATIENCE_MS = 5000;

/** How often one more chunk is fetched while the gate is closed. */
const PROBE_MS = 50;

/** How much is fetched so: far more than a pipe holds, and little beside the rest. */
const MAX_HELD_BYTES = 2 * 1024 * 1024;
