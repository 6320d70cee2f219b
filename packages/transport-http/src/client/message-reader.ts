/** Reads JSON values out of a response: one of a JSON body, one of each event of an event stream. */

import { ConnectionClosedError, type JsonValue, MessageTooLargeError, ParseError } from '@mortise/jsonrpc-core';
import { parseJson } from '@mortise/jsonrpc-core/messages';
import { BytePieces } from '@mortise/protocol/edge';
import { JSON_TYPE, SSE_TYPE } from '../headers.ts';
import { SseDecoder, type SseEvent } from '../sse/decode-events.ts';
import type { BodySink, HttpAnswer } from './http-sender.ts';
import type { Wire } from './wire.ts';

/** The media type in lower case and without its parameters; empty where there is none. */
export function mediaTypeOf(contentType: string | undefined): string {
  // What nearly every server of MCP sends needs no parsing.
  if (contentType === undefined || contentType === JSON_TYPE || contentType === SSE_TYPE) return contentType ?? '';
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Takes what a body holds. None of these may throw. */
export interface MessageListener {
  /** A JSON value, which may be anything. @param text What it was read from. */
  onValue(value: JsonValue, text: string): void;
  /** An event that is not JSON; the next one is still read. */
  onGarbage(error: ParseError): void;
  /** An event, before its data is read. Only events named `message` hold a value. */
  onEvent?(event: SseEvent): void;
  /** Nothing more will come. */
  onEnd(error?: Error): void;
}

export class MessageReader implements BodySink {
  /** Whether the body is an event stream. */
  readonly isStream: boolean;
  readonly #answer: HttpAnswer;
  readonly #listener: MessageListener;
  readonly #maxBytes: number;
  /** Exactly one of these two. */
  readonly #decoder: SseDecoder | undefined;
  readonly #body: BytePieces | undefined;
  #isStopped = false;
  #onLeftoverEnd: (() => void) | undefined;

  private constructor(answer: HttpAnswer, isStream: boolean, maxBytes: number, listener: MessageListener) {
    this.#answer = answer;
    this.isStream = isStream;
    this.#maxBytes = maxBytes;
    this.#listener = listener;
    if (isStream) this.#decoder = new SseDecoder(maxBytes);
    else this.#body = new BytePieces();
  }

  /** Begins to read. @returns undefined for a body that is neither JSON nor an event stream, which is left unread. */
  static open(answer: HttpAnswer, maxBytes: number, listener: MessageListener): MessageReader | undefined {
    const type = mediaTypeOf(answer.header('content-type'));
    if (type !== JSON_TYPE && type !== SSE_TYPE) return undefined;
    const reader = new MessageReader(answer, type === SSE_TYPE, maxBytes, listener);
    answer.read(reader);
    return reader;
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#isStopped) return;
    if (this.#decoder) return this.#decode(this.#decoder, chunk);
    this.#body?.push(chunk);
    if ((this.#body?.length ?? 0) > this.#maxBytes) this.#refuse(toTooLong(this.#maxBytes));
  }

  onEnd(error?: Error): void {
    if (this.#isStopped) return this.#onLeftoverEnd?.();
    this.#isStopped = true;
    if (error !== undefined) return this.#listener.onEnd(error);
    try {
      if (this.#body) this.#readBody(this.#body);
      this.#listener.onEnd();
    } catch (failure) {
      this.#listener.onEnd(failure as Error);
    }
  }

  /** Closes the body. The listener is not called any more. */
  stop(): void {
    this.#isStopped = true;
    this.#answer.abort();
  }

  /** The last message has come: the rest gets a moment to end by itself. The listener is not called any more. */
  finish(wire: Wire): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#onLeftoverEnd = wire.letEnd(this.#answer);
  }

  #decode(decoder: SseDecoder, chunk: Uint8Array): void {
    let events: readonly SseEvent[];
    try {
      events = decoder.push(chunk);
    } catch (error) {
      return this.#refuse(error as Error);
    }
    for (const event of events) {
      if (this.#isStopped) return;
      this.#listener.onEvent?.(event);
      // An event without data only carries an id or a time to wait.
      if (event.event === 'message' && event.data !== '') this.#readEvent(event.data);
    }
  }

  #readEvent(data: string): void {
    let value: JsonValue;
    try {
      value = parseJson(data);
    } catch (error) {
      return this.#listener.onGarbage(error as ParseError);
    }
    this.#listener.onValue(value, data);
  }

  #readBody(body: BytePieces): void {
    if (body.length === 0) throw new ConnectionClosedError('The body of the answer is empty');
    const text = decodeStrictly(body.join());
    this.#listener.onValue(parseJson(text), text);
  }

  #refuse(error: Error): void {
    this.stop();
    this.#listener.onEnd(error);
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

function decodeStrictly(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new ParseError('The body is not UTF-8');
  }
}

function toTooLong(maxBytes: number): MessageTooLargeError {
  return new MessageTooLargeError(maxBytes, `The answer is longer than ${maxBytes} bytes: raise maxMessageBytes, or ask for less`);
}
