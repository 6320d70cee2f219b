/** Pings a legacy client that sends nothing for a while, and closes the connection if the client does not respond. */

import { type ClockTimer, RemoteError } from '@mortise/jsonrpc-core';
import type { Connection } from '@mortise/jsonrpc-core/connection';
import type { Server } from './server.ts';

/** How long a ping waits for its response, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** How many pings in a row must fail before the connection is closed. */
const MAX_FAILURES = 3;

/** Pings one connection. @see 2025-11-25 basic/utilities/ping */
export class KeepAlive {
  readonly #server: Server;
  readonly #connection: Connection;
  readonly #everyMs: number;
  readonly #isPingable: () => boolean;
  #heardAtMs: number;
  #failures = 0;
  #timer: ClockTimer | undefined;
  #isStopped = false;

  /**
   * @param everyMs How long the client must have been silent before a ping is sent.
   * @param isPingable Whether pings may be sent now: the client uses a legacy revision and has sent `notifications/initialized`.
   */
  constructor(server: Server, connection: Connection, everyMs: number, isPingable: () => boolean) {
    this.#server = server;
    this.#connection = connection;
    this.#everyMs = everyMs;
    this.#isPingable = isPingable;
    this.#heardAtMs = server.clock.monotonicMs();
    this.#wait(everyMs);
  }

  /** Call it when a message has arrived from the client: it restarts the wait for the next ping. */
  heard(): void {
    this.#heardAtMs = this.#server.clock.monotonicMs();
    this.#failures = 0;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #wait(delayMs: number): void {
    if (!this.#isStopped) this.#timer = this.#server.clock.schedule(() => void this.#look(), delayMs);
  }

  async #look(): Promise<void> {
    const silentMs = this.#server.clock.monotonicMs() - this.#heardAtMs;
    if (silentMs < this.#everyMs) return this.#wait(this.#everyMs - silentMs);
    if (this.#isPingable()) await this.#ping();
    if (this.#failures < MAX_FAILURES) return this.#wait(this.#everyMs);
    this.stop();
    await this.#connection.close();
  }

  async #ping(): Promise<void> {
    const { transport } = this.#connection;
    try {
      await this.#connection.request('ping', undefined, { timeoutMs: TIMEOUT_MS, resetTimeoutOnProgress: false });
      this.heard();
    } catch (error) {
      // An error response also shows that the client is alive.
      if (error instanceof RemoteError) return this.heard();
      if (this.#isStopped) return;
      this.#failures += 1;
      this.#server.logger.log('warning', 'A ping got no response', { sessionId: transport.sessionId, inARow: this.#failures });
    }
  }
}
