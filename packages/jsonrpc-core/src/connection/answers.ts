/** The way of answers to the peer: counts those that it has not taken yet, and replaces what JSON cannot carry. */

import { ConnectionClosedError } from '../errors.ts';
import type { JsonRpcResponse } from '../message.ts';
import { resolvedPromise } from '../resolved-promise.ts';
import type { BatchAnswer } from './batch-answer.ts';
import { type Answer, toSendable } from './to-sendable.ts';

/** What answering needs of the connection. */
export interface AnswersHost {
  readonly isOpen: boolean;
  /** Hands a message to the transport. Does not throw. */
  send(message: JsonRpcResponse): Promise<void>;
  /** Reports an error that ends nothing. Does not throw. */
  report(error: Error): void;
  /** Reports an answer that the transport did not take. */
  reportFailedSend(error: unknown): void;
  /** The peer has taken an answer that it had to be waited for. */
  onTaken(): void;
  close(): Promise<void>;
}

export class Answers {
  readonly #host: AnswersHost;
  readonly #maxWaiting: number;
  #waiting = 0;

  /** @param maxWaiting With more answers than that waiting to be taken, the connection is closed. */
  constructor(host: AnswersHost, maxWaiting: number) {
    this.#host = host;
    this.#maxWaiting = maxWaiting;
  }

  /** How many answers the peer has not taken yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Sends an answer, or keeps it for its batch. Does not throw. */
  give(response: JsonRpcResponse, batch: BatchAnswer | undefined): void {
    if (batch) batch.add(response);
    else this.send(response);
  }

  send(answer: Answer): void {
    if (!this.#host.isOpen) return;
    // A batch reaches only a transport whose peer sent one; see the note at `Transport.send`.
    const sent = this.#host.send(answer as JsonRpcResponse);
    if (sent === resolvedPromise) return;
    this.#waiting++;
    sent.then(
      () => this.#onTaken(),
      (error: unknown) => {
        this.#onTaken();
        this.#onFailed(answer, error);
      },
    );
    if (this.#waiting > this.#maxWaiting) this.#giveUpOnPeer();
  }

  #onTaken(): void {
    this.#waiting--;
    this.#host.onTaken();
  }

  /** An answer that JSON cannot carry is replaced, so that its request is answered all the same. */
  #onFailed(answer: Answer, error: unknown): void {
    this.#host.reportFailedSend(error);
    const sendable = toSendable(answer);
    if (sendable) this.send(sendable);
  }

  /** Sends that wait hold their messages, so a peer that asks on and on and never reads must not go on for ever. */
  #giveUpOnPeer(): void {
    this.#host.report(new ConnectionClosedError('The peer does not read its answers: the connection was closed'));
    void this.#host.close();
  }
}
