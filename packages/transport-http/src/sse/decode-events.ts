/**
 * Reads server-sent events from bytes, piece by piece and bounded. Linear in what arrives, whatever the pieces.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */

import { MessageTooLargeError } from '@mortise/jsonrpc-core';
import { readMessageHead } from '@mortise/jsonrpc-core/messages';

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
const LINE_END = /\r\n|\r|\n/;
/** What each `data` line after the first counts beside its bytes: empty ones are kept as well. */
const LINE_COST = 16;
/** How much of an event that is too long is looked at for the message that it holds. */
const HEAD_LENGTH = 1024;
const PIECES_PER_BLOCK = 1024;

/**
 * Turns a stream of bytes into events. Leaving the loop releases the source.
 *
 * Also yields events without `data` if they carry an id or `retry`: a priming event has nothing else.
 *
 * @param maxEventBytes The longest event, in bytes of its lines; each `data` line after the first counts as 16 more.
 * @throws {MessageTooLargeError} `ERR_MESSAGE_TOO_LARGE`: an event is longer than `maxEventBytes`.
 */
export async function* decodeEvents(source: AsyncIterable<Uint8Array>, maxEventBytes?: number): AsyncGenerator<SseEvent, void, undefined> {
  const decoder = new SseDecoder(maxEventBytes);
  for await (const chunk of source) yield* decoder.push(chunk);
}

/** The reader of one stream, fed by hand. What follows the last blank line when the stream ends is no event. */
export class SseDecoder {
  readonly #maxBytes: number;
  readonly #text = new TextDecoder();
  /** The begin of a line whose end has not come, and its bytes. */
  readonly #begun = new TextPieces();
  #begunBytes = 0;
  #endedWithCr = false;
  /** The bytes of the event so far, without the line that has only begun. */
  #length = 0;
  #data: string[] = [];
  #event = '';
  #id: string | undefined;
  #retryMs: number | undefined;

  /** @param maxEventBytes As for `decodeEvents`. */
  constructor(maxEventBytes: number = DEFAULT_MAX_BYTES) {
    this.#maxBytes = maxEventBytes;
  }

  /**
   * Takes the next bytes.
   *
   * @returns The events that they completed.
   * @throws {MessageTooLargeError} `ERR_MESSAGE_TOO_LARGE`: the event is too long; the decoder is of no more use.
   */
  push(chunk: Uint8Array): readonly SseEvent[] {
    const events: SseEvent[] = [];
    const decoded = this.#text.decode(chunk, { stream: true });
    if (decoded === '') return events;
    const text = this.#endedWithCr && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    this.#endedWithCr = decoded.endsWith('\r');
    // On average: 1 where all is ASCII.
    const bytesPerUnit = Math.max(1, chunk.length / decoded.length);
    // Nearly every server ends lines by LF alone, which is found faster.
    const lines = text.split(text.includes('\r') ? LINE_END : '\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) this.#endLine(line, line.length * bytesPerUnit, events);
    if (rest !== '') this.#begin(rest, rest.length * bytesPerUnit);
    return events;
  }

  #begin(piece: string, bytes: number): void {
    this.#begun.push(piece);
    this.#begunBytes += bytes;
    if (this.#length + this.#begunBytes > this.#maxBytes) this.#refuse();
  }

  #endLine(last: string, lastBytes: number, events: SseEvent[]): void {
    const line = this.#begunBytes === 0 ? last : this.#begun.join(last);
    const bytes = this.#begunBytes + lastBytes;
    this.#begunBytes = 0;
    if (line === '') this.#endEvent(events);
    // A comment is not part of an event: however many come, they must not fill the bound of the next one.
    else if (!line.startsWith(':')) this.#readField(line, bytes);
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

  /** The error names the message that the event holds, as far as its beginning shows it, so that a request does not wait in vain. */
  #refuse(): never {
    const begun = this.#begun.join('').slice(0, HEAD_LENGTH);
    const head = readMessageHead(this.#data[0] ?? begun.replace(/^data:/, ''), '');
    this.#data = [];
    throw new MessageTooLargeError(
      this.#maxBytes,
      `A server-sent event is longer than ${this.#maxBytes} bytes: raise the bound, or send less`,
      head,
    );
  }
}

/** Gathers the pieces of a text. Many short ones are joined now and then: they would take many times their length. */
class TextPieces {
  #blocks: string[] = [];
  #pieces: string[] = [];

  push(piece: string): void {
    if (this.#pieces.push(piece) < PIECES_PER_BLOCK) return;
    this.#blocks.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  /** Gives the whole text with its last piece, and holds none afterwards. */
  join(last: string): string {
    const joined = [...this.#blocks, ...this.#pieces, last].join('');
    this.#blocks = [];
    this.#pieces = [];
    return joined;
  }
}
