/** How calmly a stream that broke is opened again. ROBUSTNESS rule 10 is kept here. */

import { HttpClientError } from '../../errors.ts';

const FIRST_MS = 1000;
const FLOOR_MS = 500;
const CEILING_MS = 30_000;
/** A server that asks its client to wait longer than this does not want it back. */
const LONGEST_RETRY_MS = 5 * 60_000;
const MAX_RETRIES = 10;

export class ReconnectPace {
  readonly #maxRetries: number;
  #failures = 0;
  #retryMs: number | undefined;

  /** @param maxRetries How many attempts in a row may fail. */
  constructor(maxRetries: number = MAX_RETRIES) {
    this.#maxRetries = maxRetries;
  }

  /** Something came over the stream. */
  onAlive(): void {
    this.#failures = 0;
  }

  /** The server said how long to wait. */
  onRetry(retryMs: number): void {
    this.#retryMs = retryMs;
  }

  /**
   * Says how long to wait before the next attempt, in milliseconds: what the server said, never less, and longer each time it fails.
   *
   * @throws {HttpClientError} `ERR_STREAM_GIVEN_UP`: there should be none.
   */
  next(): number {
    const retryMs = this.#retryMs;
    if (retryMs !== undefined && retryMs > LONGEST_RETRY_MS)
      throw givenUp(`The server wants the stream to be opened again in ${Math.round(retryMs / 1000)} s, which is longer than 5 minutes`);
    const failures = this.#failures++;
    if (failures >= this.#maxRetries) throw givenUp(`The stream could not be opened again in ${failures} attempts`);
    // Without failures the server's time is kept nearly to the letter: it may hold back what comes next until then.
    if (retryMs !== undefined && failures === 0) return Math.max(FLOOR_MS, retryMs) * (1 + Math.random() / 10);
    const fullMs = Math.min(CEILING_MS, FIRST_MS * 2 ** failures);
    return Math.max(fullMs * (0.5 + Math.random() / 2), retryMs ?? 0);
  }
}

function givenUp(message: string): HttpClientError {
  return new HttpClientError('ERR_STREAM_GIVEN_UP', message);
}
