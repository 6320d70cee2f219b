/** Asks a silent legacy client whether it is still there. Quiet while messages come. */

import { type Clock, type ClockTimer, type Logger, RemoteError } from '@mortise/jsonrpc-core';
import type { Connection } from '@mortise/jsonrpc-core/connection';

export interface KeepAliveInit {
  /** Closed when the client is gone. */
  readonly connection: Connection;
  /** Whether pings may be sent now: a legacy client that is ready. */
  readonly isPingable: () => boolean;
  /** How long nothing must have come before a ping is sent. */
  readonly everyMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a ping waits for its answer. */
const TIMEOUT_MS = 10_000;
/** How many pings in a row must fail before the client counts as gone. */
const MAX_FAILURES = 3;

/** @see 2025-11-25 basic/utilities/ping */
export class KeepAlive {
  readonly #init: KeepAliveInit;
  #heardAtMs: number;
  #failures = 0;
  #timer: ClockTimer | undefined;
  #isStopped = false;

  constructor(init: KeepAliveInit) {
    this.#init = init;
    this.#heardAtMs = init.clock.monotonicMs();
    this.#wait(init.everyMs);
  }

  /** Something came from the client. */
  heard(): void {
    this.#heardAtMs = this.#init.clock.monotonicMs();
    this.#failures = 0;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #wait(delayMs: number): void {
    if (!this.#isStopped) this.#timer = this.#init.clock.schedule(() => void this.#look(), delayMs);
  }

  async #look(): Promise<void> {
    const { connection, isPingable, everyMs, clock, logger } = this.#init;
    const silentMs = clock.monotonicMs() - this.#heardAtMs;
    if (silentMs < everyMs) return this.#wait(everyMs - silentMs);
    if (isPingable()) {
      try {
        await connection.request('ping', undefined, { timeoutMs: TIMEOUT_MS, resetTimeoutOnProgress: false });
        this.heard();
      } catch (error) {
        if (this.#isStopped) return;
        // An error is an answer too: the client lives.
        if (error instanceof RemoteError) this.heard();
        else logger.log('warning', 'A ping was not answered', { sessionId: connection.transport.sessionId, inARow: ++this.#failures });
      }
    }
    if (this.#failures < MAX_FAILURES) return this.#wait(everyMs);
    this.stop();
    await connection.close();
  }
}
