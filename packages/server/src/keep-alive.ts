/** Pings a silent legacy client, and closes the connection when it does not answer. */

import { type Clock, type ClockTimer, type Logger, RemoteError } from '@mortise/jsonrpc-core';
import type { Connection } from '@mortise/jsonrpc-core/connection';

/** How long a ping waits for its answer, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** How many pings in a row must fail before the connection is closed. */
const MAX_FAILURES = 3;

/** @see 2025-11-25 basic/utilities/ping */
export class KeepAlive {
  readonly #connection: Connection;
  readonly #isPingable: () => boolean;
  readonly #everyMs: number;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #heardAtMs: number;
  #failures = 0;
  #timer: ClockTimer | undefined;
  #isStopped = false;

  /**
   * @param isPingable Whether pings may be sent now: the client speaks a legacy revision and is ready.
   * @param everyMs How long the client must have been silent before a ping is sent.
   */
  constructor(connection: Connection, isPingable: () => boolean, everyMs: number, { clock, logger }: { clock: Clock; logger: Logger }) {
    this.#connection = connection;
    this.#isPingable = isPingable;
    this.#everyMs = everyMs;
    this.#clock = clock;
    this.#logger = logger;
    this.#heardAtMs = clock.monotonicMs();
    this.#wait(everyMs);
  }

  /** Something came from the client. */
  heard(): void {
    this.#heardAtMs = this.#clock.monotonicMs();
    this.#failures = 0;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #wait(delayMs: number): void {
    if (!this.#isStopped) this.#timer = this.#clock.schedule(() => void this.#look(), delayMs);
  }

  async #look(): Promise<void> {
    const silentMs = this.#clock.monotonicMs() - this.#heardAtMs;
    if (silentMs < this.#everyMs) return this.#wait(this.#everyMs - silentMs);
    if (this.#isPingable()) await this.#ping();
    if (this.#failures < MAX_FAILURES) return this.#wait(this.#everyMs);
    this.stop();
    await this.#connection.close();
  }

  async #ping(): Promise<void> {
    try {
      await this.#connection.request('ping', undefined, { timeoutMs: TIMEOUT_MS, resetTimeoutOnProgress: false });
      this.heard();
    } catch (error) {
      // An error is an answer too: the client lives.
      if (error instanceof RemoteError) return this.heard();
      if (this.#isStopped) return;
      this.#failures += 1;
      const about = { sessionId: this.#connection.transport.sessionId, inARow: this.#failures };
      this.#logger.log('warning', 'A ping was not answered', about);
    }
  }
}
