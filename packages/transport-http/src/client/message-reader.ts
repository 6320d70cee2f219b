/** Reads JSON values out of an answer's body: one of a JSON body, one of each event of an event stream. */

import { ConnectionClosedError, type JsonValue, MessageTooLargeError, ParseError } from '@mortise/jsonrpc-core';
import { parseJson } from '@mortise/jsonrpc-core/messages';
import { BytePieces } from '@mortise/protocol/edge';
import { SseDecoder, type SseEvent } from '../sse/decode-events.ts';
import type { BodySink, HttpAnswer } from './http-sender.ts';

export const JSON_TYPE = 'application/json';
export const SSE_TYPE = 'text/event-stream';

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
  /** An event that was no message, or that has come before its message: where to go on from, and when. */
  onCursor?(event: SseEvent): void;
  /** The first event of a stream that goes by another name than `message`. Left out, such events are skipped. */
  onNamedEvent?(event: SseEvent): void;
  /** Nothing more will come. */
  onEnd(error?: Error): void;
}

export class MessageReader implements BodySink {
  /** Whether the body is an event stream. */
  readonly isStream: boolean;
  readonly #answer: HttpAnswer;
  readonly #listener: MessageListener;
  readonly #maxBytes: number;
  readonly #decoder: SseDecoder | undefined;
  readonly #text: BodyText | undefined;
  #isStopped = false;

  private constructor(answer: HttpAnswer, isStream: boolean, maxBytes: number, listener: MessageListener) {
    this.#answer = answer;
    this.isStream = isStream;
    this.#maxBytes = maxBytes;
    this.#listener = listener;
    if (isStream) this.#decoder = new SseDecoder({ maxEventLength: maxBytes });
    else this.#text = new BodyText(maxBytes);
  }

  /** Begins to read. @returns undefined for a body that is neither JSON nor an event stream, which is left alone. */
  static open(answer: HttpAnswer, maxBytes: number, listener: MessageListener): MessageReader | undefined {
    const type = mediaTypeOf(answer.header('content-type'));
    if (type !== JSON_TYPE && type !== SSE_TYPE) return undefined;
    const reader = new MessageReader(answer, type === SSE_TYPE, maxBytes, listener);
    answer.read(reader);
    return reader;
  }

  onChunk(chunk: Uint8Array): void {
    if (this.#isStopped) return;
    if (this.#decoder) this.#decode(this.#decoder, chunk);
    else if (this.#text?.push(chunk) === false) this.#abandon(toTooLong(this.#maxBytes));
  }

  onEnd(error?: Error): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    if (error !== undefined) return this.#listener.onEnd(error);
    try {
      if (this.#text) this.#readBody(this.#text.take());
      this.#listener.onEnd();
    } catch (failure) {
      this.#listener.onEnd(failure as Error);
    }
  }

  /** Closes the body. The listener is called no more. */
  stop(): void {
    this.#isStopped = true;
    this.#answer.abort();
  }

  #decode(decoder: SseDecoder, chunk: Uint8Array): void {
    let events: readonly SseEvent[];
    try {
      events = decoder.push(chunk);
    } catch (error) {
      return this.#abandon(error as Error);
    }
    for (const event of events) {
      if (this.#isStopped) return;
      this.#onEvent(event);
    }
  }

  #onEvent(event: SseEvent): void {
    const { data, id, retryMs } = event;
    if (id !== undefined || retryMs !== undefined) this.#listener.onCursor?.(event);
    if (event.event !== 'message') this.#listener.onNamedEvent?.(event);
    // An event without data only primes the reader for going on later.
    else if (data !== '') this.#readEvent(data);
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

  #readBody(text: string): void {
    if (text === '') throw new ConnectionClosedError('The body of the answer is empty');
    this.#listener.onValue(parseJson(text), text);
  }

  #abandon(error: Error): void {
    this.stop();
    this.#listener.onEnd(error);
  }
}

/** Gathers the bytes of a body as text, within a bound. */
class BodyText {
  readonly #maxBytes: number;
  readonly #pieces = new BytePieces();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns false once the body is longer than the bound; nothing of it is kept then. */
  push(chunk: Uint8Array): boolean {
    this.#pieces.push(chunk);
    if (this.#pieces.length <= this.#maxBytes) return true;
    this.#pieces.clear();
    return false;
  }

  /** @throws {ParseError} `ERR_PARSE`: the bytes are not UTF-8. */
  take(): string {
    try {
      return strictUtf8.decode(this.#pieces.join());
    } catch {
      throw new ParseError('The body is not UTF-8');
    }
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a body to its end, or to a bound: what comes after it is not read, and the text is then undefined. Never rejects. */
export function readShortText(answer: HttpAnswer, maxBytes: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const text = new BodyText(maxBytes);
    answer.read({
      onChunk: (chunk) => {
        if (text.push(chunk)) return;
        answer.abort();
        resolve(undefined);
      },
      onEnd: (error) => {
        try {
          resolve(error === undefined ? text.take() : undefined);
        } catch {
          resolve(undefined);
        }
      },
    });
  });
}

function toTooLong(maxBytes: number): MessageTooLargeError {
  return new MessageTooLargeError(maxBytes, `The answer is longer than ${maxBytes} bytes: raise maxMessageBytes, or ask for less`);
}
