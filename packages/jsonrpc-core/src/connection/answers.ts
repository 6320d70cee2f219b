/** The way of answers to the peer: counts those that it does not have yet, and replaces what JSON cannot carry. */

import { ConnectionClosedError } from '../errors.ts';
import type { JsonRpcResponse } from '../message.ts';
import { countBytes } from '../parse-json.ts';
import { resolvedPromise } from '../resolved-promise.ts';
import { serializeMessage } from '../serialize-message.ts';
import { BatchAnswer } from './batch-answer.ts';
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
  readonly #maxUnread: number;
  readonly #maxUnreadEcho: number;
  #unread = 0;
  /** How many characters the unread answers have that the peer chose: its ids, and what errors say of its words. */
  #unreadEcho = 0;
  #kept = 0;
  #keptBytes = 0;

  /** @param maxUnread With more answers than that waiting to be taken, or with very long ids in them, the connection is closed. */
  constructor(host: AnswersHost, maxUnread: number) {
    this.#host = host;
    this.#maxUnread = maxUnread;
    this.#maxUnreadEcho = Math.max(LEAST_MAX_ECHO, ECHO_PER_ANSWER * maxUnread);
  }

  /** How many answers the peer does not have yet: it has not taken them, or they wait for the rest of their batch. */
  get waiting(): number {
    return this.#unread + this.#kept;
  }

  /** How many bytes of answers wait for the rest of their batch. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  /** Sends an answer, or keeps it for its batch. Does not throw. */
  give(response: JsonRpcResponse, batch: BatchAnswer | undefined): void {
    if (!batch) return this.send(response);
    const bytes = measure(response);
    this.#kept++;
    this.#keptBytes += bytes;
    batch.add(response, bytes);
  }

  /** Begins the answer to a batch. */
  openBatch(): BatchAnswer {
    return new BatchAnswer((responses, bytes) => {
      this.#kept -= responses.length;
      this.#keptBytes -= bytes;
      this.send(responses);
      // Whoever waits for the last answer is not told of one that was taken at once.
      this.#host.onTaken();
    });
  }

  send(answer: Answer): void {
    if (!this.#host.isOpen) return;
    // A batch reaches only a transport whose peer sent one; see the note at `Transport.send`.
    const sent = this.#host.send(answer as JsonRpcResponse);
    if (sent === resolvedPromise) return;
    const echo = countEcho(answer);
    this.#unread++;
    this.#unreadEcho += echo;
    sent.then(
      () => this.#onTaken(echo),
      (error: unknown) => {
        this.#onTaken(echo);
        this.#onFailed(answer, error);
      },
    );
    if (this.#unread > this.#maxUnread || this.#unreadEcho > this.#maxUnreadEcho) this.#giveUpOnPeer();
  }

  #onTaken(echo: number): void {
    this.#unread--;
    this.#unreadEcho -= echo;
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

/** What honest peers choose of an answer is far shorter on the average: a UUID has 36 characters. */
const ECHO_PER_ANSWER = 512;
const LEAST_MAX_ECHO = 8 * 1024 * 1024;

function countEcho(answer: Answer): number {
  if (Array.isArray(answer)) return (answer as readonly JsonRpcResponse[]).reduce((sum, response) => sum + countEcho(response), 0);
  const { id, error } = answer as { readonly id?: unknown; readonly error?: { readonly message: string } };
  return (typeof id === 'string' ? id.length : 0) + (error?.message.length ?? 0);
}

/** What cannot be written is replaced by something short. */
function measure(response: JsonRpcResponse): number {
  try {
    return countBytes(serializeMessage(response));
  } catch {
    return 0;
  }
}
