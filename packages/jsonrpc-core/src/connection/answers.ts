/** The way of answers to the peer: counts those that it has not taken yet, gathers those of a batch, and replaces what JSON cannot carry. */

import { INTERNAL_ERROR } from '../error-codes.ts';
import { ConnectionClosedError } from '../errors.ts';
import type { JsonRpcMessage, JsonRpcResponse, RequestId } from '../message.ts';
import { resolvedPromise } from '../transport/transport.ts';
import { serializeMessage } from '../serialize-message.ts';

/** One answer, or the answers to a batch. */
type Answer = JsonRpcResponse | readonly JsonRpcResponse[];

/** What answering needs of the connection. */
export interface AnswersHost {
  readonly isOpen: boolean;
  /** Hands a message to the transport. Must not throw. */
  send(message: JsonRpcMessage): Promise<void>;
  /** Reports an answer that the transport did not take. Must not throw. */
  reportFailedSend(error: unknown): void;
  /** The peer has taken an answer for which it had to be waited. */
  onTaken(): void;
  /** The peer asks on and on and does not read. */
  giveUp(error: Error): void;
}

/** Sends answers. */
export class Answers {
  readonly #host: AnswersHost;
  readonly #maxUnread: number;
  #unread = 0;

  /** @param maxUnread With more answers than that not taken the host gives up: sends that wait hold their messages. */
  constructor(host: AnswersHost, maxUnread: number) {
    this.#host = host;
    this.#maxUnread = maxUnread;
  }

  /** How many answers the peer has not taken yet. */
  get unread(): number {
    return this.#unread;
  }

  /** Does not throw. */
  send(answer: Answer): void {
    if (!this.#host.isOpen) return;
    // A batch reaches only a transport whose peer sent one; see the note at `Transport.send`.
    const sent = this.#host.send(answer as JsonRpcResponse);
    if (sent === resolvedPromise) return;
    this.#unread++;
    sent.then(
      () => this.#onTaken(),
      (error: unknown) => {
        this.#onTaken();
        this.#host.reportFailedSend(error);
        const sendable = toSendable(answer);
        if (sendable !== answer) this.send(sendable);
      },
    );
    if (this.#unread > this.#maxUnread) {
      this.#host.giveUp(new ConnectionClosedError('The peer does not read its answers: the connection was closed'));
    }
  }

  #onTaken(): void {
    this.#unread--;
    this.#host.onTaken();
  }
}

/** Replaces what JSON cannot carry by -32603, so that its request is answered all the same. The same answer if nothing is wrong with it. */
function toSendable(answer: Answer): Answer {
  if (canSerialize(answer)) return answer;
  if (Array.isArray(answer)) return (answer as readonly JsonRpcResponse[]).map((response) => toSendable(response) as JsonRpcResponse);
  const { id } = answer as JsonRpcResponse;
  return { jsonrpc: '2.0', id: id as RequestId, error: { code: INTERNAL_ERROR, message: 'Internal error' } };
}

function canSerialize(answer: Answer): boolean {
  try {
    serializeMessage(answer);
    return true;
  } catch {
    return false;
  }
}

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
