/**
 * From bytes to lines: the framing of the stdio binding. Chunks of an unfinished line are kept in a list and joined once, so
 * that a long line costs its length and not its square; lines that are whole within a chunk are decoded together.
 */

import { isAscii, isUtf8 } from 'node:buffer';
import { MessageTooLargeError, ParseError } from '@mortise/jsonrpc-core';
import { type MessageHead, readMessageHead } from '@mortise/jsonrpc-core/messages';

/** The longest line that is read unless another bound is given: 16 MiB. */
export const DEFAULT_MAX_MESSAGE_BYTES: number = 16 * 1024 * 1024;

/** What a `LineReader` tells, and how much it keeps. */
export interface LineReaderOptions {
  /** Told each line that is not empty, without its end (`\n` or `\r\n`). May call `stop`; must not throw. */
  onLine(text: string): void;
  /** Told of each line that is not UTF-8 or is too long. Such a line is skipped, and the next one read. Must not throw. */
  onError(error: ParseError | MessageTooLargeError): void;
  /**
   * How many bytes a line may have. The rest of a longer one is dropped as it arrives.
   *
   * @default 16 MiB
   */
  readonly maxMessageBytes?: number | undefined;
}

/**
 * Cuts a stream of bytes into lines of UTF-8.
 *
 * Only `\n` ends a line: U+2028 and a lone `\r` are ordinary characters. Characters that a chunk boundary splits are kept whole.
 *
 * @see 2026-07-28 basic/transports/stdio
 */
export class LineReader {
  readonly #options: LineReaderOptions;
  readonly #maxBytes: number;
  /** The beginning of a line whose end has not arrived. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The piece at the end of `#held` that small chunks are copied into, and how much of it is used. */
  #block: Buffer | undefined;
  #blockUsed = 0;
  #isSkipping = false;
  /** The end of what is skipped, where it may say which message it was. */
  #ending: Ending | undefined;
  #isStopped = false;

  constructor(options: LineReaderOptions) {
    this.#options = options;
    this.#maxBytes = options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES;
  }

  /** Takes the next bytes and tells of every line that they end. The bytes must not be changed afterwards. */
  push(bytes: Uint8Array): void {
    if (this.#isStopped) return;
    const chunk = toBuffer(bytes);
    let start = 0;
    if (this.#heldBytes > 0 || this.#isSkipping) {
      const end = chunk.indexOf(NEWLINE);
      if (end === -1) return this.#hold(chunk);
      this.#finishHeld(chunk.subarray(0, end));
      start = end + 1;
    }
    const last = chunk.lastIndexOf(NEWLINE);
    if (last >= start) {
      this.#readLines(chunk.subarray(start, last));
      start = last + 1;
    }
    if (start < chunk.length) this.#hold(start === 0 ? chunk : chunk.subarray(start));
  }

  /** Tells of the last line if it lacks its end. Call it when no more bytes can come. */
  end(): void {
    if (this.#heldBytes > 0 || this.#ending) this.#finishHeld(EMPTY);
    this.stop();
  }

  /** Drops what is held and tells of nothing more. */
  stop(): void {
    this.#isStopped = true;
    this.#ending = undefined;
    this.#drop();
  }

  #hold(chunk: Buffer): void {
    if (this.#isStopped) return;
    if (this.#isSkipping) return this.#ending?.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes > this.#maxBytes) this.#skip(chunk);
    else this.#keep(chunk);
  }

  /** A peer that sends byte by byte must not make a list of a million chunks, so small ones share a block. */
  #keep(chunk: Buffer): void {
    if (this.#block && chunk.length <= this.#block.length - this.#blockUsed) {
      this.#blockUsed += chunk.copy(this.#block, this.#blockUsed);
      return;
    }
    this.#closeBlock();
    if (this.#held.length === 0 || chunk.length >= BLOCK_BYTES) {
      this.#held.push(chunk);
      return;
    }
    this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#blockUsed = chunk.copy(this.#block, 0);
  }

  #closeBlock(): void {
    if (this.#block) this.#held.push(this.#block.subarray(0, this.#blockUsed));
    this.#block = undefined;
    this.#blockUsed = 0;
  }

  /** What begins as a message does without saying which it is may say so at its end, and is reported then; anything else at once. */
  #skip(chunk: Buffer): void {
    this.#closeBlock();
    const pieces = [...this.#held, chunk];
    const start = toText(Buffer.concat(pieces.map((piece) => piece.subarray(0, EDGE_BYTES))).subarray(0, EDGE_BYTES));
    this.#drop();
    this.#isSkipping = true;
    const head = readMessageHead(start, '');
    if (head === undefined && MESSAGE_START.test(start)) this.#ending = new Ending(start, pieces);
    else this.#reportTooLong(head);
  }

  #reportTooLong(head: MessageHead | undefined): void {
    this.#options.onError(new MessageTooLargeError(this.#maxBytes, undefined, head));
  }

  #finishHeld(tail: Buffer): void {
    if (this.#isSkipping) return this.#finishSkipped(tail);
    const bytes = this.#heldBytes + tail.length;
    this.#closeBlock();
    const pieces = this.#held;
    this.#drop();
    pieces.push(tail);
    this.#readLine(bytes, () => Buffer.concat(pieces, bytes));
  }

  #finishSkipped(tail: Buffer): void {
    this.#isSkipping = false;
    const ending = this.#ending;
    this.#ending = undefined;
    if (!ending) return;
    ending.push(tail);
    this.#reportTooLong(readMessageHead(ending.start, ending.text));
  }

  #drop(): void {
    this.#held = [];
    this.#heldBytes = 0;
    this.#block = undefined;
    this.#blockUsed = 0;
  }

  /** Reads lines that are whole, the last one without its end. All at once where they are good, which is almost always. */
  #readLines(lines: Buffer): void {
    const text = lines.length > this.#maxBytes ? undefined : decode(lines);
    if (text === undefined) return this.#readLineByLine(lines);
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      this.#tell(text.slice(from, end));
      from = end + 1;
    }
    this.#tell(from === 0 ? text : text.slice(from));
  }

  #readLineByLine(lines: Buffer): void {
    let from = 0;
    for (let end = lines.indexOf(NEWLINE); end !== -1; end = lines.indexOf(NEWLINE, from)) {
      const line = lines.subarray(from, end);
      this.#readLine(line.length, () => line);
      from = end + 1;
    }
    const line = lines.subarray(from);
    this.#readLine(line.length, () => line);
  }

  #readLine(length: number, join: () => Buffer): void {
    if (this.#isStopped) return;
    if (length > this.#maxBytes) return this.#reportTooLong(toHead(join()));
    const text = decode(join());
    if (text !== undefined) this.#tell(text);
    else this.#options.onError(new ParseError('A line is not valid UTF-8: encode messages as UTF-8'));
  }

  #tell(line: string): void {
    if (this.#isStopped) return;
    const text = line.charCodeAt(line.length - 1) === CARRIAGE_RETURN ? line.slice(0, -1) : line;
    if (text.length > 0) this.#options.onLine(text);
  }
}

/** The last bytes of a line that is too long. */
class Ending {
  /** The line's beginning. */
  readonly start: string;
  #bytes: Buffer;

  /** @param pieces Of the line, as far as it has come. */
  constructor(start: string, pieces: readonly Buffer[]) {
    this.start = start;
    this.#bytes = lastOf(Buffer.concat(pieces.map(lastOf)));
  }

  get text(): string {
    return toText(this.#bytes);
  }

  push(chunk: Buffer): void {
    this.#bytes = chunk.length >= EDGE_BYTES ? lastOf(chunk) : lastOf(Buffer.concat([this.#bytes, chunk]));
  }
}

/** A copy, so that it does not hold the whole chunk. */
function lastOf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(-EDGE_BYTES));
}

function toHead(line: Buffer): MessageHead | undefined {
  return readMessageHead(toText(line.subarray(0, EDGE_BYTES)), toText(line.subarray(-EDGE_BYTES)));
}

/** Ids of our own are numbers; what is no ASCII matters in no other way. */
function toText(bytes: Buffer): string {
  return bytes.toString('latin1');
}

/** How much of each end of a line that is too long is looked at. */
const EDGE_BYTES = 1024;
const MESSAGE_START = /^\s*\{\s*"/;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BLOCK_BYTES = 16 * 1024;
const EMPTY = Buffer.alloc(0);

/** Decodes UTF-8, and nothing that is not. ASCII, which most JSON is, takes the shorter way. */
function decode(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
