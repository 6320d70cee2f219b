/** Gathers the answers to one batch and sends them as one array once all are there (JSON-RPC 2.0 section 6). */

import type { JsonRpcResponse } from '../message.ts';

export class BatchAnswer {
  readonly #send: (responses: readonly JsonRpcResponse[], bytes: number) => void;
  readonly #responses: JsonRpcResponse[] = [];
  #bytes = 0;
  #waiting = 0;
  #isSealed = false;

  /** @param send Told the answers, and how many bytes they have together. */
  constructor(send: (responses: readonly JsonRpcResponse[], bytes: number) => void) {
    this.#send = send;
  }

  /** One more answer is to be waited for; `add` or `drop` must follow. */
  expect(): void {
    this.#waiting++;
  }

  add(response: JsonRpcResponse, bytes: number): void {
    this.#responses.push(response);
    this.#bytes += bytes;
    this.drop();
  }

  /** An answer that was waited for will not come: its call was cancelled. */
  drop(): void {
    this.#waiting--;
    this.#finish();
  }

  /** Every member of the batch has been read. */
  seal(): void {
    this.#isSealed = true;
    this.#finish();
  }

  #finish(): void {
    // Nothing at all is sent for a batch without answers, not even an empty array.
    if (this.#isSealed && this.#waiting === 0 && this.#responses.length > 0) this.#send(this.#responses, this.#bytes);
  }
}
