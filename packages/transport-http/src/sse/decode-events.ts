/**
 * Decodes server-sent events from chunks of bytes, in linear time and with a size limit.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */

import { MessageTooLargeError } from '@mortise/jsonrpc-core';
import { readMessageHead } from '@mortise/jsonrpc-core/messages';
import { BytePieces } from '@mortise/protocol/edge';

/** One decoded server-sent event. */
export interface SseEvent {
  /** The event's type; `message` if the sender set none. */
  readonly event: string;
  /** The event's text; empty if it only has an id or `retry`. */
  readonly data: string;
  /** The id of this event; undefined if it has none. */
  readonly id: string | undefined;
  /** How long to wait before reconnecting, in milliseconds; undefined if the event has no `retry`. `Infinity` for a number with too many digits. */
  readonly retryMs: number | undefined;
}

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
const LF = 0x0a;
const CR = 0x0d;
const LINE_END = /\r\n|\r|\n/;
/** How many bytes each `data` line after the first adds to the size of an event, so that empty lines count too. */
const LINE_COST = 16;
/** How many characters at the start of a too long event are searched for the id of its JSON-RPC message. */
const HEAD_LENGTH = 1024;

/**
 * Decodes the server-sent events of one stream. An incomplete event at the end of the stream is dropped.
 *
 * Also returns events without `data` if they have an id or `retry`. A server sends such an event first, so that the client can resume.
 */
export class SseDecoder {
  readonly #maxBytes: number;
  readonly #text = new TextDecoder();
  /** The bytes of a line that has not ended yet. */
  readonly #begun = new BytePieces();
  #endedWithCr = false;
  /** The size of the current event so far, without the line that has not ended yet. */
  #length = 0;
  #data: string[] = [];
  #event = '';
  #id: string | undefined;
  #retryMs: number | undefined;

  /** @param maxEventBytes The maximum size of an event, in bytes of its lines. Each `data` line after the first counts 16 bytes more. */
  constructor(maxEventBytes: number = DEFAULT_MAX_BYTES) {
    this.#maxBytes = maxEventBytes;
  }

  /**
   * Decodes the next bytes of the stream. The caller must not change them afterwards.
   *
   * @returns The events that are now complete.
   * @throws {MessageTooLargeError} `ERR_MESSAGE_TOO_LARGE`: the event is too long. The decoder cannot be used any more.
   */
  push(chunk: Uint8Array): readonly SseEvent[] {
    const events: SseEvent[] = [];
    if (chunk.length === 0) return events;
    const bytes = this.#endedWithCr && chunk[0] === LF ? chunk.subarray(1) : chunk;
    this.#endedWithCr = chunk.at(-1) === CR;
    const end = 1 + Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR));
    if (end > 0) {
      this.#begun.push(bytes.subarray(0, end));
      this.#readLines(this.#begun.join(), events);
    }
    if (end < bytes.length) this.#begun.push(bytes.subarray(end));
    if (this.#length + this.#begun.length > this.#maxBytes) this.#refuse();
    return events;
  }

  /** Reads complete lines and adds the events that they complete. @param block The bytes of the lines. */
  #readLines(block: Uint8Array, events: SseEvent[]): void {
    const text = this.#text.decode(block, { stream: true });
    // An average; 1 for ASCII.
    const bytesPerUnit = Math.max(1, block.length / text.length);
    // Nearly all servers end lines with LF only, for which splitting is faster.
    const lines = text.split(text.includes('\r') ? LINE_END : '\n');
    lines.pop();
    for (const line of lines) {
      if (line === '') this.#endEvent(events);
      // Comments are not part of an event and do not count against its size limit.
      else if (!line.startsWith(':')) this.#readField(line, line.length * bytesPerUnit);
    }
  }

  #readField(line: string, bytes: number): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1);
    this.#length += bytes;
    if (name === 'data') {
      if (this.#data.push(value) > 1) this.#length += LINE_COST;
    } else if (name === 'event') this.#event = value;
    else if (name === 'id') this.#id = value.includes('\0') ? this.#id : value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.#retryMs = Number(value);
    if (this.#length > this.#maxBytes) this.#refuse();
  }

  #endEvent(events: SseEvent[]): void {
    if (this.#data.length > 0 || this.#id !== undefined || this.#retryMs !== undefined) {
      const event = this.#event === '' ? 'message' : this.#event;
      events.push({ event, data: this.#data.join('\n'), id: this.#id, retryMs: this.#retryMs });
    }
    this.#data = [];
    this.#event = '';
    this.#id = undefined;
    this.#retryMs = undefined;
    this.#length = 0;
  }

  /** Throws the error for a too long event, with the id of its JSON-RPC message if it can be found, so that the request fails at once. */
  #refuse(): never {
    const begun = new TextDecoder().decode(this.#begun.join().subarray(0, HEAD_LENGTH));
    const head = readMessageHead(this.#data[0] ?? begun.replace(/^data:/, ''), '');
    this.#data = [];
    throw new MessageTooLargeError(
      this.#maxBytes,
      `A server-sent event is longer than ${this.#maxBytes} bytes: raise the limit, or send less`,
      head,
    );
  }
}
