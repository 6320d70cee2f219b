/**
 * Reads server-sent events from bytes, piece by piece and bounded. Linear in what arrives, whatever the pieces.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */

import { MessageTooLargeError } from '@mortise/jsonrpc-core';
import { type MessageHead, readMessageHead } from '@mortise/jsonrpc-core/messages';

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

/** How events are read. */
export interface DecodeOptions {
  /**
   * The longest event, in bytes of its lines, each `data` line after the first counting as 16 more: empty ones are kept as well.
   *
   * @default 16 MiB
   */
  readonly maxEventLength?: number | undefined;
}

const DEFAULT_MAX_LENGTH = 16 * 1024 * 1024;
const LF = 10;
const LINE_COST = 16;
const PIECES_PER_BLOCK = 1024;
/** How much of an event that is too long is looked at for what it is. */
const HEAD_LENGTH = 1024;

/**
 * Turns a stream of bytes into events. Leaving the loop releases the source.
 *
 * Also yields events without `data` if they carry an id or `retry`: a priming event has nothing else.
 *
 * @throws {MessageTooLargeError} `ERR_MESSAGE_TOO_LARGE`: an event is longer than `maxEventLength`.
 */
export async function* decodeEvents(source: AsyncIterable<Uint8Array>, options?: DecodeOptions): AsyncGenerator<SseEvent, void, undefined> {
  const decoder = new SseDecoder(options);
  for await (const chunk of source) yield* decoder.push(chunk);
}

/** The reader of one stream, fed by hand. What follows the last blank line when the stream ends is no event. */
export class SseDecoder {
  readonly #maxLength: number;
  readonly #text = new TextDecoder();
  /** Pieces of a line whose end has not come. */
  #pieces: string[] = [];
  /** Earlier pieces of that line, many joined to one: a line that comes byte by byte must not take many times its length. */
  #blocks: string[] = [];
  #length = 0;
  /** Of the present chunk, on average: 1 where all is ASCII. */
  #bytesPerUnit = 1;
  #endedWithCr = false;
  #data: string[] = [];
  #event = '';
  #id: string | undefined;
  #retryMs: number | undefined;

  constructor(options?: DecodeOptions) {
    this.#maxLength = options?.maxEventLength ?? DEFAULT_MAX_LENGTH;
  }

  /**
   * Takes the next bytes.
   *
   * @returns The events that they completed.
   * @throws {MessageTooLargeError} `ERR_MESSAGE_TOO_LARGE`: the event is longer than `maxEventLength`; the decoder is of no more use.
   */
  push(chunk: Uint8Array): readonly SseEvent[] {
    const events: SseEvent[] = [];
    const text = this.#text.decode(chunk, { stream: true });
    this.#bytesPerUnit = text.length < chunk.length && text.length > 0 ? chunk.length / text.length : 1;
    let start = 0;
    if (this.#endedWithCr && text.length > 0) {
      this.#endedWithCr = false;
      if (text.charCodeAt(0) === LF) start = 1;
    }
    // Each search goes on where it stopped, so that a text with one kind of line end is not searched for the other over and over.
    let lf = text.indexOf('\n', start);
    let cr = text.indexOf('\r', start);
    while (lf !== -1 || cr !== -1) {
      const end = lf === -1 || (cr !== -1 && cr < lf) ? cr : lf;
      this.#endLine(text.slice(start, end), events);
      start = end + 1;
      if (end === cr) {
        if (start === text.length) this.#endedWithCr = true;
        else if (text.charCodeAt(start) === LF) start++;
        cr = text.indexOf('\r', start);
      }
      if (lf !== -1 && lf < start) lf = text.indexOf('\n', start);
    }
    if (start < text.length) this.#keep(start === 0 ? text : text.slice(start));
    return events;
  }

  #keep(piece: string): void {
    this.#grow(piece.length * this.#bytesPerUnit, piece);
    this.#pieces.push(piece);
    if (this.#pieces.length < PIECES_PER_BLOCK) return;
    this.#blocks.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  /** @param latest What the event grows by, where it is the rest of a line. */
  #grow(length: number, latest = ''): void {
    this.#length += length;
    if (this.#length > this.#maxLength) {
      const head = this.#readHead(latest);
      this.#pieces = [];
      this.#blocks = [];
      this.#data = [];
      throw new MessageTooLargeError(
        this.#maxLength,
        `A server-sent event is longer than ${this.#maxLength} bytes: raise maxEventLength, or send less`,
        head,
      );
    }
  }

  /** Which message the event holds, as far as its beginning says it: whoever waits for that need not wait in vain. */
  #readHead(latest: string): MessageHead | undefined {
    const [data] = this.#data;
    if (data !== undefined) return readMessageHead(data, '');
    const pieces = [...this.#blocks, ...this.#pieces, latest];
    let start = '';
    for (let at = 0; at < pieces.length && start.length < HEAD_LENGTH; at++) start += pieces[at]?.slice(0, HEAD_LENGTH) ?? '';
    return readMessageHead(start.replace(/^data:/, ''), '');
  }

  #endLine(last: string, events: SseEvent[]): void {
    this.#grow(last.length * this.#bytesPerUnit, last);
    let line = last;
    if (this.#pieces.length + this.#blocks.length > 0) {
      // In one step: a text that is glued of joined ones would be copied once more when it is read.
      line = [...this.#blocks, ...this.#pieces, last].join('');
      this.#pieces = [];
      this.#blocks = [];
    }
    if (line === '') this.#endEvent(events);
    else this.#readField(line);
  }

  #readField(line: string): void {
    const colon = line.indexOf(':');
    // A comment is not part of an event: however many come, they must not fill the bound of the next one.
    if (colon === 0) {
      this.#length = Math.max(0, this.#length - line.length * this.#bytesPerUnit);
      return;
    }
    const name = colon === -1 ? line : line.slice(0, colon);
    const from = line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1;
    const value = colon === -1 ? '' : line.slice(from);
    if (name === 'data') {
      if (this.#data.length > 0) this.#grow(LINE_COST);
      this.#data.push(value);
    }
    if (name === 'event') this.#event = value;
    else if (name === 'id') this.#id = value.includes('\0') ? this.#id : value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.#retryMs = Number(value);
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
}
