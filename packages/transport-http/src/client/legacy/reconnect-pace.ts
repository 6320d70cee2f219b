/** How calmly a stream that broke is opened again. ROBUSTNESS rule 10 is kept here. */

import { StreamGivenUpError } from '../../errors.ts';

/** How streams that break are opened again. */
export interface ReconnectionOptions {
  /** Before the first attempt, in milliseconds; half of it to all of it, by chance. At least 500. @default 1_000 */
  readonly initialReconnectionDelay?: number | undefined;
  /** The longest wait that is not the server's own wish, in milliseconds. At most 30,000. @default 30_000 */
  readonly maxReconnectionDelay?: number | undefined;
  /** By how much each further wait is longer. @default 2 */
  readonly reconnectionDelayGrowFactor?: number | undefined;
  /** How many attempts in a row may fail. @default 10 */
  readonly maxRetries?: number | undefined;
}

const FLOOR_MS = 500;
const CEILING_MS = 30_000;
/** A server that wants its client to wait longer than this does not want it back. */
const LONGEST_RETRY_MS = 5 * 60_000;

export class ReconnectPace {
  readonly #initialDelayMs: number;
  readonly #maxDelayMs: number;
  readonly #growFactor: number;
  readonly #maxRetries: number;
  readonly #random: () => number;
  #failures = 0;
  #retryMs: number | undefined;

  constructor(options: ReconnectionOptions = {}, random: () => number = Math.random) {
    this.#initialDelayMs = Math.max(FLOOR_MS, options.initialReconnectionDelay ?? 1000);
    this.#maxDelayMs = Math.min(CEILING_MS, options.maxReconnectionDelay ?? CEILING_MS);
    this.#growFactor = Math.max(1, options.reconnectionDelayGrowFactor ?? 2);
    this.#maxRetries = options.maxRetries ?? 10;
    this.#random = random;
  }

  /** The stream lives: something came over it. */
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
   * @throws {StreamGivenUpError} There should be none.
   */
  next(): number {
    const retryMs = this.#retryMs;
    if (retryMs !== undefined && retryMs > LONGEST_RETRY_MS) {
      throw new StreamGivenUpError(
        `The server wants the stream to be opened again in ${Math.round(retryMs / 1000)} s, which is longer than 5 minutes`,
      );
    }
    const failures = this.#failures++;
    if (failures >= this.#maxRetries) throw new StreamGivenUpError(`The stream could not be opened again in ${failures} attempts`);
    // A wish that is not stretched by failures is kept nearly to the letter: whoever polls is expected then.
    if (retryMs !== undefined && failures === 0) return Math.max(FLOOR_MS, retryMs) * (1 + this.#random() / 10);
    const fullMs = Math.min(this.#maxDelayMs, this.#initialDelayMs * this.#growFactor ** failures);
    return Math.max(FLOOR_MS, fullMs * (0.5 + this.#random() / 2), retryMs ?? 0);
  }
}
