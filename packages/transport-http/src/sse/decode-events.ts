/**
 * Reads server-sent events from bytes, piece by piece and bounded. Linear in what arrives, whatever the pieces.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */

import { MessageTooLargeError } from '@mortise/jsonrpc-core';
import { readMessageHead } from '@mortise/jsonrpc-core/messages';
import { BytePieces } from '@mortise/protocol/edge';

/** One event as it was read. */
export interface SseEvent {
  /** `message` where the sender named none. */
  readonly event: string;
  /** Empty for an event that only carries an id or `retry`. */
  readonly data: string;
  /** The id of this event, or undefined where it has none of its own. */
  readonly id: string | undefined;
  /** How long to wait before connecting again, where this event says so; `Infinity` for a number that is too long to be one. */
  readonly retryMs: number | undefined;
}

const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;
const LF = 0x0a;
const CR = 0x0d;
const LINE_END = /\r\n|\r|\n/;
/** What each `data` line after the first counts beside its bytes: empty ones are kept as well. */
const LINE_COST = 16;
/** How much of an event that is too long is looked at for the message that it holds. */
const HEAD_LENGTH = 1024;

/**
 * Turns the bytes of one stream into events. What follows the last blank line when the stream ends is no event.
 *
 * Also gives events without `data` if they carry an id or `retry`: a priming event has nothing else.
 */
export class SseDecoder {
  readonly #maxBytes: number;
  readonly #text = new TextDecoder();
  /** A line whose end has not come. */
  readonly #begun = new BytePieces();
  #endedWithCr = false;
  /** The bytes of the event so far, without the line that has only begun. */
  #length = 0;
  #data: string[] = [];
  #event = '';
  #id: string | undefined;
  #retryMs: number | undefined;

  /** @param maxEventBytes The longest event, in bytes of its lines; each `data` line after the first counts as 16 more. */
  constructor(maxEventBytes: number = DEFAULT_MAX_BYTES) {
    this.#maxBytes = maxEventBytes;
  }

  /**
   * Takes the next bytes, which belong to the decoder from now on.
   *
   * @returns The events that they completed.
   * @throws {MessageTooLargeError} `ERR_MESSAGE_TOO_LARGE`: the event is too long; the decoder is of no more use.
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

  /** @param block Whole lines. */
  #readLines(block: Uint8Array, events: SseEvent[]): void {
    const text = this.#text.decode(block, { stream: true });
    // On average: 1 where all is ASCII.
    const bytesPerUnit = Math.max(1, block.length / text.length);
    // Nearly every server ends lines by LF alone, which is found faster.
    const lines = text.split(text.includes('\r') ? LINE_END : '\n');
    lines.pop();
    for (const line of lines) {
      if (line === '') this.#endEvent(events);
      // A comment is not part of an event: however many come, they must not fill the bound of the next one.
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

  /** The error names the message that the event holds, as far as its beginning shows it, so that its request fails at once. */
  #refuse(): never {
    const begun = new TextDecoder().decode(this.#begun.join().subarray(0, HEAD_LENGTH));
    const head = readMessageHead(this.#data[0] ?? begun.replace(/^data:/, ''), '');
    this.#data = [];
    throw new MessageTooLargeError(
      this.#maxBytes,
      `A server-sent event is longer than ${this.#maxBytes} bytes: raise the bound, or send less`,
      head,
    );
  }
}
