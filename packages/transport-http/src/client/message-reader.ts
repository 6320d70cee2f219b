/** Reads JSON values from an HTTP response: one from a JSON body, or one from each event of an event stream. */

import { ConnectionClosedError, type JsonValue, MessageTooLargeError, ParseError } from '@mortise/jsonrpc-core';
import { parseJson } from '@mortise/jsonrpc-core/messages';
import { BytePieces } from '@mortise/protocol/edge';
import { JSON_TYPE, SSE_TYPE } from '../headers.ts';
import { SseDecoder, type SseEvent } from '../sse/decode-events.ts';
import type { BodySink, HttpAnswer } from './http-sender.ts';
import type { Wire } from './wire.ts';

/** Returns the media type of a `Content-Type` header in lower case, without parameters; empty if the header is missing. */
export function mediaTypeOf(contentType: string | undefined): string {
  // Shortcut for the values that nearly all MCP servers send.
  if (contentType === undefined || contentType === JSON_TYPE || contentType === SSE_TYPE) return contentType ?? '';
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Receives the JSON values of an HTTP response body. These functions must not throw. */
export interface MessageListener {
  /** Called with each JSON value, not yet checked. @param text The JSON text. */
  onValue(value: JsonValue, text: string): void;
  /** Called for an event whose data is not JSON. Reading continues. */
  onGarbage(error: ParseError): void;
  /** Called with each event before its data is parsed. Only events of type `message` are then passed to `onValue`. */
  onEvent?(event: SseEvent): void;
  /** Called at the end of the body. @param error Why the body is incomplete or cannot be read; undefined for a normal end. */
  onEnd(error?: Error): void;
}

export class MessageReader implements BodySink {
  /** Whether the body is an event stream. */
  readonly isStream: boolean;
  readonly #answer: HttpAnswer;
  readonly #listener: MessageListener;
  readonly #maxBytes: number;
  /** Decodes the body if it is an event stream; undefined for a JSON body. */
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

  /** Starts to read the body. @returns undefined, without reading, if the body is neither JSON nor an event stream. */
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

  /** Stops reading and aborts the HTTP response. The listener is not called any more. */
  stop(): void {
    this.#isStopped = true;
    this.#answer.abort();
  }

  /** Called after the last expected message: gives the body a moment to end. The listener is not called any more. */
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
      // An event without data only has an id or `retry`.
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
    if (body.length === 0) throw new ConnectionClosedError('The body of the HTTP response is empty, so the JSON-RPC response is missing');
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
    throw new ParseError('The body of the HTTP response is not UTF-8');
  }
}

function toTooLong(maxBytes: number): MessageTooLargeError {
  return new MessageTooLargeError(maxBytes, `The response is longer than ${maxBytes} bytes: raise maxMessageBytes, or ask for less`);
}
