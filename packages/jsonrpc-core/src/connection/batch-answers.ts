/** The answers to one batch, gathered until all are there. */

import type { JsonRpcResponse } from '../message.ts';

/** Gathers the answers to one batch and hands them over as one array once all are there (JSON-RPC 2.0 section 6). */
export class BatchAnswers {
  readonly #onComplete: (responses: readonly JsonRpcResponse[], bytes: number) => void;
  readonly #responses: JsonRpcResponse[] = [];
  #bytes = 0;
  /** One more for the batch itself, while its members are read. */
  #waiting = 1;

  /** @param onComplete Given the answers, and how many bytes they have together. */
  constructor(onComplete: (responses: readonly JsonRpcResponse[], bytes: number) => void) {
    this.#onComplete = onComplete;
  }

  /** One more answer is awaited; `add` or `drop` must follow. */
  expect(): void {
    this.#waiting++;
  }

  add(response: JsonRpcResponse, bytes: number): void {
    this.#responses.push(response);
    this.#bytes += bytes;
    this.drop();
  }

  /** An answer that was awaited will not come: its request was cancelled. Called once more when every member of the batch has been read. */
  drop(): void {
    this.#waiting--;
    // Nothing at all is sent for a batch without answers, not even an empty array.
    if (this.#waiting === 0 && this.#responses.length > 0) this.#onComplete(this.#responses, this.#bytes);
  }
}
