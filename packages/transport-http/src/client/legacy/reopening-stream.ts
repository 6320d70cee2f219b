/**
 * An event stream of the legacy era that is opened again where it broke off: by GET, with the id of the last event.
 *
 * @see 2025-11-25 basic/transports#resumability-and-redelivery
 */

import { type ClockTimer, ConnectionClosedError, type JsonValue, MessageTooLargeError, type ParseError } from '@mortise/jsonrpc-core';
import type { WaitingCaller } from '@mortise/jsonrpc-core/transport';
import type { SseEvent } from '../../sse/decode-events.ts';
import type { HttpAnswer, HttpCall } from '../http-sender.ts';
import { encodeEventId } from '../../headers.ts';
import { mediaTypeOf, type MessageListener, MessageReader, SSE_TYPE } from '../message-reader.ts';
import { describe, type Sending, type Wire } from '../wire.ts';
import type { ClientSettings } from '../client-options.ts';
import { ReconnectPace } from './reconnect-pace.ts';

/** Whose stream it is. */
export interface StreamOwner {
  readonly wire: Wire;
  readonly settings: ClientSettings;
  /** The GET that opens a stream, or goes on with the one that an event belongs to. */
  toGet(lastEventId: string | undefined): HttpCall;
}

/** Takes what comes over a stream. None of these may throw. */
export interface StreamListener {
  /** @param text What it was read from. */
  onValue(value: JsonValue, text: string): void;
  /** What came is no message, or too long for one. */
  onGarbage(error: ParseError | MessageTooLargeError): void;
  /** The server does not give the stream. @param answer Its body is unread. */
  onRefused(call: HttpCall, answer: HttpAnswer): void;
  /** It is over and cannot be opened again. @param error Undefined for a body that was no stream and is complete. */
  onOver(error: Error | undefined): void;
}

/** What is opened. */
export interface StreamTerms {
  /** Whether there is nothing to open again without the id of an event. */
  readonly needsCursor: boolean;
  /** Who waits for what comes over it, and for nothing while somebody signs in. */
  readonly caller?: WaitingCaller | undefined;
}

/** How often a stream may end in a message that is too long before it is given up: each costs the whole bound to find out. */
const MAX_TOO_LONG = 3;

export class ReopeningStream implements MessageListener {
  /** Whether any GET gave a stream. */
  wasGiven = false;
  readonly #owner: StreamOwner;
  readonly #listener: StreamListener;
  readonly #terms: StreamTerms;
  readonly #pace: ReconnectPace;
  #cursor: string | undefined;
  #sending: Sending | undefined;
  #reader: MessageReader | undefined;
  #timer: ClockTimer | undefined;
  #isStopped = false;
  #tooLong = 0;

  constructor(owner: StreamOwner, listener: StreamListener, terms: StreamTerms) {
    this.#owner = owner;
    this.#listener = listener;
    this.#terms = terms;
    this.#pace = new ReconnectPace(owner.settings.reconnectionOptions, owner.settings.random);
  }

  /** Begins with the answer to a POST. @returns false where its body is neither JSON nor a stream, and is left alone. */
  read(answer: HttpAnswer): boolean {
    this.#reader = MessageReader.open(answer, this.#owner.settings.maxMessageBytes, this);
    return this.#reader !== undefined;
  }

  /** Opens the stream by GET. */
  open(): void {
    const call = this.#owner.toGet(this.#cursor);
    this.#sending = this.#owner.wire.send(call, { caller: this.#terms.caller });
    this.#sending.answer.then(
      (answer) => this.#onAnswer(call, answer),
      (error: Error) => this.#onFailed(error),
    );
  }

  /** Closes it for good. The listener is called no more. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#sending?.abort(undefined);
    this.#reader?.stop();
  }

  /** The rest of a stream whose last message has come is given a moment to end by itself. */
  letEnd(): void {
    this.#isStopped = true;
    if (this.#reader?.isStream === true) this.#owner.wire.letEnd(this);
  }

  onValue(value: JsonValue, text: string): void {
    if (this.#isStopped) return;
    this.#pace.onAlive();
    this.#listener.onValue(value, text);
  }

  onGarbage(error: ParseError): void {
    if (!this.#isStopped) this.#listener.onGarbage(error);
  }

  onCursor({ id, retryMs }: SseEvent): void {
    this.#pace.onAlive();
    // From an id that cannot be sent back there is no going on.
    if (id !== undefined) this.#cursor = id === '' || encodeEventId(id) === undefined ? undefined : id;
    if (retryMs !== undefined) this.#pace.onRetry(retryMs);
  }

  onEnd(error?: Error): void {
    if (this.#isStopped) return this.#owner.wire.hasEnded(this);
    if (this.#reader?.isStream !== true) return this.#finish(error);
    if (error instanceof MessageTooLargeError) return this.#skip(error);
    if (!this.#terms.needsCursor || this.#cursor !== undefined) return this.#openLater();
    this.#finish(
      new ConnectionClosedError('The stream ended before its last message, and has no event to go on from', error && { cause: error }),
    );
  }

  /** A message that is too long would come again after the last event, so what is opened again begins anew; nothing else can be had so. */
  #skip(error: MessageTooLargeError): void {
    this.#tooLong += 1;
    if (this.#terms.needsCursor || this.#tooLong > MAX_TOO_LONG) return this.#finish(error);
    this.#cursor = undefined;
    this.#listener.onGarbage(error);
    this.#openLater();
  }

  #onAnswer(call: HttpCall, answer: HttpAnswer): void {
    const { status } = answer;
    if (this.#isStopped) return answer.abort();
    const isStream = status >= 200 && status < 300 && mediaTypeOf(answer.header('content-type')) === SSE_TYPE;
    if (isStream && this.read(answer)) this.wasGiven = true;
    else if (isTemporary(status)) {
      const seconds = Number(answer.header('retry-after') ?? NaN);
      if (seconds > 0) this.#pace.onRetry(seconds * 1000);
      this.#owner.wire.discard(answer);
      this.#openLater();
    } else {
      this.#isStopped = true;
      this.#listener.onRefused(call, answer);
    }
  }

  #onFailed(error: Error): void {
    if (this.#isStopped) return;
    // The network may come back; what the authorizer or a redirect says will not change.
    if (error instanceof ConnectionClosedError) this.#openLater();
    else this.#finish(error);
  }

  #openLater(): void {
    this.#reader = undefined;
    let delayMs: number;
    try {
      delayMs = this.#pace.next();
    } catch (error) {
      return this.#finish(error as Error);
    }
    this.#timer = this.#owner.settings.clock.schedule(() => this.open(), delayMs, { keepAlive: true });
  }

  #finish(error: Error | undefined): void {
    this.#isStopped = true;
    this.#listener.onOver(error);
  }
}

function isTemporary(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501);
}

/** Words for a stream that was refused. */
export function toRefusalText(call: HttpCall, { status }: HttpAnswer): string {
  return `${describe(call)} does not give the stream: HTTP status ${status}`;
}
