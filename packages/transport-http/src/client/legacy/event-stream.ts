/**
 * An event stream of the legacy era, begun by a POST or a GET, that is opened again where it broke off: by GET, with the id of the last event.
 *
 * @see 2025-11-25 basic/transports#resumability-and-redelivery
 */

import { type ClockTimer, ConnectionClosedError, type JsonValue, MessageTooLargeError, type ParseError } from '@mortise/jsonrpc-core';
import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';
import { HttpClientError } from '../../errors.ts';
import { encodeEventId, SSE_TYPE } from '../../headers.ts';
import type { SseEvent } from '../../sse/decode-events.ts';
import { isSuccess } from '../http-failure.ts';
import type { HttpAnswer, HttpCall } from '../http-sender.ts';
import { mediaTypeOf, type MessageListener, MessageReader } from '../message-reader.ts';
import type { Sending, Wire } from '../wire.ts';

/** Whose stream it is. */
export interface StreamOwner {
  readonly wire: Wire;
  readonly maxRetries: number | undefined;
  /** The GET that opens a stream, or resumes the one that an event belongs to. */
  toGet(lastEventId: string | undefined): HttpCall;
}

/** Takes what comes over a stream. None of these may throw. */
export interface StreamListener extends Pick<MessageListener, 'onValue' | 'onGarbage'> {
  /** The head of the response to the POST, if it is a success. @throws What makes the response worthless. */
  onHead?(answer: HttpAnswer): void;
  /** The response holds no message. @param answer Its body is unread. */
  onRefused(call: HttpCall, answer: HttpAnswer): void;
  /** It is over and cannot be opened again. @param error undefined where it ended in good order. */
  onOver(error: Error | undefined, isStream: boolean): void;
}

export interface StreamTerms {
  /** Whether the stream cannot be opened again without the id of an event. */
  readonly needsCursor: boolean;
  /** Whose time limit stands still while the authorizer is at work. */
  readonly caller?: WaitingCaller | undefined;
}

export class EventStream implements MessageListener {
  /** Whether any response was a stream. */
  wasGiven = false;
  readonly #owner: StreamOwner;
  readonly #listener: StreamListener;
  readonly #terms: StreamTerms;
  readonly #pace: StreamPace;
  #cursor: string | undefined;
  #sending: Sending | undefined;
  #reader: MessageReader | undefined;
  #timer: ClockTimer | undefined;
  #isStopped = false;

  constructor(owner: StreamOwner, listener: StreamListener, terms: StreamTerms) {
    this.#owner = owner;
    this.#listener = listener;
    this.#terms = terms;
    this.#pace = new StreamPace(owner.maxRetries);
  }

  /** Opens the stream. */
  open(call: HttpCall = this.#owner.toGet(this.#cursor)): void {
    this.#sending = this.#owner.wire.send(call, { caller: this.#terms.caller });
    this.#sending.answer.then(
      (answer) => this.#onAnswer(call, answer),
      (error: Error) => this.#onFailed(call, error),
    );
  }

  /** Closes it for good. The listener is not called any more. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#sending?.abort(undefined);
    this.#reader?.stop();
  }

  /** The last message has come: the rest gets a moment to end by itself. The listener is not called any more. */
  finish(): void {
    this.#isStopped = true;
    this.#reader?.finish(this.#owner.wire);
  }

  onValue(value: JsonValue, text: string): void {
    this.#pace.onAlive();
    this.#listener.onValue(value, text);
  }

  onGarbage(error: ParseError): void {
    this.#listener.onGarbage(error);
  }

  /** Notes where to resume, and when. */
  onEvent({ id, retryMs }: SseEvent): void {
    if (id === undefined && retryMs === undefined) return;
    this.#pace.onAlive();
    // An id that no header can carry cannot be resumed from.
    if (id !== undefined) this.#cursor = id === '' || encodeEventId(id) === undefined ? undefined : id;
    if (retryMs !== undefined) this.#pace.onRetry(retryMs);
  }

  /** The response has ended before its last message. */
  onEnd(error?: Error): void {
    if (this.#isStopped) return;
    // A message that is too long would come again after the last event.
    const isFinal = error instanceof MessageTooLargeError || (this.#terms.needsCursor && this.#cursor === undefined);
    if (isFinal) this.#giveUp(error);
    else this.#openLater();
  }

  #onAnswer(call: HttpCall, answer: HttpAnswer): void {
    if (this.#isStopped) return answer.abort();
    const isPost = call.method === 'POST';
    if (isSuccess(answer) && (isPost || mediaTypeOf(answer.header('content-type')) === SSE_TYPE)) {
      if (isPost && !this.#acceptHead(answer)) return;
      this.wasGiven = true;
      this.#reader = MessageReader.open(answer, this.#owner.wire.maxMessageBytes, this);
      if (this.#reader !== undefined) return;
    } else if (!isPost && isTemporary(answer.status)) {
      const seconds = Number(answer.header('retry-after') ?? NaN);
      if (seconds > 0) this.#pace.onRetry(seconds * 1000);
      this.#owner.wire.discard(answer);
      return this.#openLater();
    }
    this.#isStopped = true;
    this.#listener.onRefused(call, answer);
  }

  #acceptHead(answer: HttpAnswer): boolean {
    try {
      this.#listener.onHead?.(answer);
      return true;
    } catch (error) {
      answer.abort();
      this.#giveUp(error as Error);
      return false;
    }
  }

  #onFailed({ method }: HttpCall, error: Error): void {
    if (this.#isStopped) return;
    // The network may come back; what the authorizer or a redirect says will not change. A POST may have been carried out already.
    if (method === 'GET' && error instanceof ConnectionClosedError) this.#openLater();
    else this.#giveUp(error);
  }

  #openLater(): void {
    try {
      this.#timer = this.#owner.wire.clock.schedule(() => this.open(), this.#pace.next(), { keepAlive: true });
    } catch (error) {
      this.#giveUp(error as Error);
    }
  }

  #giveUp(error: Error | undefined): void {
    this.#isStopped = true;
    this.#listener.onOver(error, this.#reader?.isStream === true);
  }
}

function isTemporary(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501);
}

const FIRST_MS = 1000;
const FLOOR_MS = 500;
const CEILING_MS = 30_000;
/** A server that asks its client to wait longer than this does not want it back. */
const LONGEST_RETRY_MS = 5 * 60_000;
const MAX_RETRIES = 10;

/** How calmly a stream that broke is opened again. ROBUSTNESS rule 10 is kept here. */
export class StreamPace {
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
