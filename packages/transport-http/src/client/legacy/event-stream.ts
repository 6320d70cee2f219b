/**
 * An event stream of the legacy era, opened by a POST or a GET. If the connection breaks, a GET with the id of the last event resumes it.
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

/** What an `EventStream` needs from the channel that owns it. */
export interface StreamOwner {
  readonly wire: Wire;
  readonly maxRetries: number | undefined;
  /** Makes the GET request that opens a new stream, or resumes the stream that sent the event with this id. */
  toGet(lastEventId: string | undefined): HttpCall;
}

/** Receives the content of an `EventStream`. These functions must not throw, except `onHead`. */
export interface StreamListener extends Pick<MessageListener, 'onValue' | 'onGarbage'> {
  /** Called with the headers of a successful HTTP response to the POST. @throws An error that makes the HTTP response unusable. */
  onHead?(answer: HttpAnswer): void;
  /** Called if the server does not respond with an event stream or JSON. @param answer The HTTP response, with its body unread. */
  onRefused(call: HttpCall, answer: HttpAnswer): void;
  /** Called when the stream has ended and cannot be resumed. @param error Why it broke; undefined for a normal end. */
  onOver(error: Error | undefined, isStream: boolean): void;
}

export interface StreamTerms {
  /** Whether the stream can only be opened again with the id of its last event. True for the stream of a POST. */
  readonly needsCursor: boolean;
  /** The caller of the request, whose timeout pauses while the authorizer works. */
  readonly caller?: WaitingCaller | undefined;
}

export class EventStream implements MessageListener {
  /** Whether the server has opened this stream at least once. */
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

  /** Sends the request that opens the stream. */
  open(call: HttpCall = this.#owner.toGet(this.#cursor)): void {
    this.#sending = this.#owner.wire.send(call, { caller: this.#terms.caller });
    this.#sending.answer.then(
      (answer) => this.#onAnswer(call, answer),
      (error: Error) => this.#onFailed(call, error),
    );
  }

  /** Closes the stream. The listener is not called any more. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#sending?.abort(undefined);
    this.#reader?.stop();
  }

  /** Called after the last expected message: gives the server a moment to end the stream. The listener is not called any more. */
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

  /** Stores the event's id, from which the stream can be resumed, and its `retry` time. */
  onEvent({ id, retryMs }: SseEvent): void {
    if (id === undefined && retryMs === undefined) return;
    this.#pace.onAlive();
    // An id that is not valid in a header cannot be used to resume.
    if (id !== undefined) this.#cursor = id === '' || encodeEventId(id) === undefined ? undefined : id;
    if (retryMs !== undefined) this.#pace.onRetry(retryMs);
  }

  /** Called when the HTTP response ends although more messages are expected. */
  onEnd(error?: Error): void {
    if (this.#isStopped) return;
    // After resuming, the server would send the same too long message again.
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
    // Only network errors are temporary. A POST is not repeated, because the server may already have handled it.
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
/** The longest `retry` time that the client accepts. If the server asks for a longer wait, the client gives up the stream. */
const LONGEST_RETRY_MS = 5 * 60_000;
const MAX_RETRIES = 10;

/** Computes the delays between attempts to reconnect a broken stream, as ROBUSTNESS rule 10 requires. */
export class StreamPace {
  readonly #maxRetries: number;
  #failures = 0;
  #retryMs: number | undefined;

  /** @param maxRetries How many attempts in a row may fail. */
  constructor(maxRetries: number = MAX_RETRIES) {
    this.#maxRetries = maxRetries;
  }

  /** Called when data arrives on the stream: the count of failed attempts starts again at zero. */
  onAlive(): void {
    this.#failures = 0;
  }

  /** Called with the server's `retry` time, which becomes the shortest delay. */
  onRetry(retryMs: number): void {
    this.#retryMs = retryMs;
  }

  /**
   * Returns the delay before the next attempt to reconnect, in milliseconds: at least the server's `retry` time, longer after each failure.
   *
   * @throws {HttpClientError} `ERR_STREAM_GIVEN_UP`: the client should not try again.
   */
  next(): number {
    const retryMs = this.#retryMs;
    if (retryMs !== undefined && retryMs > LONGEST_RETRY_MS)
      throw givenUp(`The server asks to wait ${Math.round(retryMs / 1000)} s before opening the stream again, but the limit is 5 minutes`);
    const failures = this.#failures++;
    if (failures >= this.#maxRetries) throw givenUp(`The event stream could not be opened again in ${failures} attempts`);
    // Without failures the client keeps close to the server's time, because the server may hold back messages until then.
    if (retryMs !== undefined && failures === 0) return Math.max(FLOOR_MS, retryMs) * (1 + Math.random() / 10);
    const fullMs = Math.min(CEILING_MS, FIRST_MS * 2 ** failures);
    return Math.max(fullMs * (0.5 + Math.random() / 2), retryMs ?? 0);
  }
}

function givenUp(message: string): HttpClientError {
  return new HttpClientError('ERR_STREAM_GIVEN_UP', message);
}
