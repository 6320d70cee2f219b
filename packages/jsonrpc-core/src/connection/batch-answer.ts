/** Gathers the answers to one batch and sends them as one array once all are there (JSON-RPC 2.0 section 6). */

import type { JsonRpcResponse } from '../message.ts';

export class BatchAnswer {
  readonly #send: (responses: readonly JsonRpcResponse[]) => void;
  readonly #responses: JsonRpcResponse[] = [];
  #waiting = 0;
  #isSealed = false;

  constructor(send: (responses: readonly JsonRpcResponse[]) => void) {
    this.#send = send;
  }

  /** One more answer is to be waited for; `add` or `drop` must follow. */
  expect(): void {
    this.#waiting++;
  }

  add(response: JsonRpcResponse): void {
    this.#responses.push(response);
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
    if (this.#isSealed && this.#waiting === 0 && this.#responses.length > 0) this.#send(this.#responses);
  }
}
