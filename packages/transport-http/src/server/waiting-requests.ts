/** Requests that wait for the reader of their channel: what they ask for would only be kept here. */

import type { Clock, RequestId } from '@mortise/jsonrpc-core';
import type { SseStream } from './sse-stream.ts';

/** How long one waits. No longer: its client may read again only once the request is answered. */
const ROOM_WAIT_MS = 1_000;

interface Waiting {
  readonly id: RequestId;
  end(isCancelled: boolean): void;
}

export class WaitingRequests {
  readonly #sse: SseStream;
  readonly #clock: Clock;
  readonly #waiting: Set<Waiting> = new Set();
  #isWatching = false;

  constructor(sse: SseStream, clock: Clock) {
    this.#sse = sse;
    this.#clock = clock;
  }

  /** Resolves when the stream has room, has closed, or a while has passed. @returns Whether the request was cancelled meanwhile. */
  wait(id: RequestId): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isCancelled: boolean): void => {
        timer.cancel();
        this.#waiting.delete(waiting);
        resolve(isCancelled);
      };
      const waiting: Waiting = { id, end };
      const timer = this.#clock.schedule(() => end(false), ROOM_WAIT_MS, { keepAlive: true });
      this.#waiting.add(waiting);
      if (!this.#isWatching) void this.#watchRoom();
    });
  }

  /** Its client wants a request no more, if it waits here. */
  cancel(id: unknown): void {
    for (const waiting of this.#waiting) if (waiting.id === id) waiting.end(true);
  }

  async #watchRoom(): Promise<void> {
    this.#isWatching = true;
    for (let room = this.#sse.room; room !== undefined; room = this.#sse.room) await room;
    this.#isWatching = false;
    for (const waiting of this.#waiting) waiting.end(false);
  }
}
