/**
 * Splits bytes into lines, as the stdio transport requires. Complete lines of a chunk are decoded together. A line that spans chunks is
 * collected in one growing buffer, so that its cost is linear in its length.
 */

import { isAscii, isUtf8 } from 'node:buffer';
import { MessageTooLargeError, ParseError } from '@mortise/jsonrpc-core';
import { readMessageHead } from '@mortise/jsonrpc-core/messages';

/** The default of the option `maxMessageBytes`, the longest message that is accepted: 16 MiB. */
export const DEFAULT_MAX_MESSAGE_BYTES: number = 16 * 1024 * 1024;

/** The callbacks and the limit of a `LineReader`. */
export interface LineReaderOptions {
  /** Called with each line that is not empty, without its line end (`\n` or `\r\n`). May call `stop`; must not throw. */
  onLine(text: string): void;
  /** Called for each line that is not UTF-8 or is too long; the line is skipped. Must not throw. */
  onError(error: ParseError | MessageTooLargeError): void;
  /** The most bytes of a line. A longer line is dropped, and `onError` is called. */
  readonly maxMessageBytes: number;
}

/** The first and last bytes of a line that is too long, in which the id of its message is searched. */
interface Skipped {
  readonly start: string;
  end: Buffer;
}

/**
 * Splits a stream of bytes into lines of UTF-8.
 *
 * Only `\n` ends a line: U+2028 and a lone `\r` are ordinary characters. A character may span two chunks.
 *
 * @see 2026-07-28 basic/transports/stdio
 */
export class LineReader {
  readonly #options: LineReaderOptions;
  readonly #maxBytes: number;
  /** The first `#heldBytes` bytes of this buffer are the start of a line whose end has not arrived. */
  #held: Buffer = EMPTY;
  #heldBytes = 0;
  /** Set while the rest of a line that is too long is dropped. `reported`: `onError` was already called for that line. */
  #skipped: Skipped | 'reported' | undefined;
  #isStopped = false;

  constructor(options: LineReaderOptions) {
    this.#options = options;
    this.#maxBytes = options.maxMessageBytes;
  }

  /** Reads the next bytes of the stream, and calls `onLine` for each line that they complete. */
  push(bytes: Uint8Array): void {
    if (this.#isStopped) return;
    const chunk = toBuffer(bytes);
    let start = 0;
    if (this.#heldBytes > 0 || this.#skipped) {
      const end = chunk.indexOf(NEWLINE);
      if (end === -1) return this.#hold(chunk);
      this.#hold(chunk.subarray(0, end));
      this.#finishHeld();
      start = end + 1;
    }
    const last = chunk.lastIndexOf(NEWLINE);
    if (last >= start) {
      this.#readLines(chunk.subarray(start, last));
      start = last + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** Passes the last line to `onLine` if it has no line end. Call this when no more bytes can arrive. */
  end(): void {
    this.#finishHeld();
    this.stop();
  }

  /** Drops the bytes of an unfinished line. No callback is called afterwards. */
  stop(): void {
    this.#isStopped = true;
    this.#skipped = undefined;
    this.#drop();
  }

  #hold(chunk: Buffer): void {
    if (this.#isStopped || this.#skipped === 'reported') return;
    if (this.#skipped) this.#skipped.end = lastOf(this.#skipped.end, chunk);
    else if (this.#heldBytes + chunk.length > this.#maxBytes) this.#skip(chunk);
    else this.#append(chunk);
  }

  #append(chunk: Buffer): void {
    const length = this.#heldBytes + chunk.length;
    if (length > this.#held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(this.#maxBytes, Math.max(2 * length, LEAST_BUFFER_BYTES)));
      this.#held.copy(grown, 0, 0, this.#heldBytes);
      this.#held = grown;
    }
    chunk.copy(this.#held, this.#heldBytes);
    this.#heldBytes = length;
  }

  /** Reports a line that is too long: at once, or at its end if it looks like a message whose id has not been found yet. */
  #skip(chunk: Buffer): void {
    const held = this.#held.subarray(0, this.#heldBytes);
    const start = toText(Buffer.concat([held.subarray(0, EDGE_BYTES), chunk.subarray(0, EDGE_BYTES)])).slice(0, EDGE_BYTES);
    const end = lastOf(held, chunk);
    this.#drop();
    const isPromising = MESSAGE_START.test(start) && readMessageHead(start, '') === undefined;
    this.#skipped = isPromising ? { start, end } : 'reported';
    if (!isPromising) this.#reportTooLong(start, '');
  }

  #finishHeld(): void {
    const skipped = this.#skipped;
    this.#skipped = undefined;
    if (skipped) {
      if (skipped !== 'reported') this.#reportTooLong(skipped.start, toText(skipped.end));
      return;
    }
    const line = this.#held.subarray(0, this.#heldBytes);
    if (this.#held.length > MOST_KEPT_BUFFER_BYTES) this.#drop();
    this.#heldBytes = 0;
    this.#readLine(line);
  }

  #drop(): void {
    this.#held = EMPTY;
    this.#heldBytes = 0;
  }

  /** Decodes complete lines, the last without its line end. Decodes all at once if they are valid UTF-8, as they almost always are. */
  #readLines(lines: Buffer): void {
    const text = lines.length > this.#maxBytes ? undefined : decode(lines);
    if (text !== undefined) {
      for (const line of text.split('\n')) this.#tell(line);
      return;
    }
    let from = 0;
    for (let end = lines.indexOf(NEWLINE); end !== -1; end = lines.indexOf(NEWLINE, from)) {
      this.#readLine(lines.subarray(from, end));
      from = end + 1;
    }
    this.#readLine(lines.subarray(from));
  }

  #readLine(line: Buffer): void {
    if (this.#isStopped) return;
    if (line.length > this.#maxBytes) return this.#reportTooLong(toText(line.subarray(0, EDGE_BYTES)), toText(line.subarray(-EDGE_BYTES)));
    const text = decode(line);
    if (text !== undefined) this.#tell(text);
    else this.#options.onError(new ParseError('A line from the peer is not valid UTF-8: send messages encoded as UTF-8'));
  }

  #tell(line: string): void {
    if (this.#isStopped) return;
    const text = line.charCodeAt(line.length - 1) === CARRIAGE_RETURN ? line.slice(0, -1) : line;
    if (text.length > 0) this.#options.onLine(text);
  }

  #reportTooLong(start: string, end: string): void {
    this.#options.onError(new MessageTooLargeError(this.#maxBytes, undefined, readMessageHead(start, end)));
  }
}

/** How many bytes at the start and at the end of a line that is too long are searched for the id of its message. */
const EDGE_BYTES = 1024;
const MESSAGE_START = /^\s*\{\s*"/;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const EMPTY = Buffer.alloc(0);
const LEAST_BUFFER_BYTES = 16 * 1024;
/** A line's buffer that is larger than this, in bytes, is freed once the line has been read. */
const MOST_KEPT_BUFFER_BYTES = 256 * 1024;

/** Copies the last bytes of a line that is too long, so that the whole chunk can be freed. */
function lastOf(before: Buffer, chunk: Buffer): Buffer {
  if (chunk.length >= EDGE_BYTES) return Buffer.from(chunk.subarray(-EDGE_BYTES));
  return Buffer.concat([before.subarray(-EDGE_BYTES), chunk]).subarray(-EDGE_BYTES);
}

/** Decodes bytes as Latin-1, which is enough to search them for the id of a message. */
function toText(bytes: Buffer): string {
  return bytes.toString('latin1');
}

/** Decodes UTF-8; `undefined` if the bytes are not valid UTF-8. ASCII, as most JSON is, takes a faster path. */
function decode(bytes: Buffer): string | undefined {
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
