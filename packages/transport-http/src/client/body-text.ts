/** Gathers the bytes of a body as text, within a bound. */

import { MessageTooLargeError, ParseError } from '@mortise/jsonrpc-core';
import type { HttpAnswer } from './http-sender.ts';

export class BodyText {
  readonly #maxBytes: number;
  /** The only chunk, as nearly always; or a buffer that grows by doubling, so that tiny chunks cost no more than large ones. */
  #bytes: Uint8Array = EMPTY;
  #length = 0;
  #isOwn = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns false once the body is longer than the bound; nothing of it is kept then. */
  push(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.byteLength;
    if (length > this.#maxBytes) {
      this.#bytes = EMPTY;
      return false;
    }
    if (this.#length === 0) this.#bytes = chunk;
    else this.#append(chunk, length);
    this.#length = length;
    return true;
  }

  /** @throws {ParseError} `ERR_PARSE`: the bytes are not UTF-8. */
  take(): string {
    const bytes = this.#isOwn ? this.#bytes.subarray(0, this.#length) : this.#bytes;
    this.#bytes = EMPTY;
    try {
      return strictUtf8.decode(bytes);
    } catch {
      throw new ParseError('The body is not UTF-8');
    }
  }

  #append(chunk: Uint8Array, length: number): void {
    if (!this.#isOwn || this.#bytes.byteLength < length) {
      // What is not written to takes no memory on most platforms, but buffers that were outgrown do: a large body outgrows few.
      const factor = length < LARGE_BYTES ? 2 : LARGE_FACTOR;
      const grown = new Uint8Array(Math.max(length, Math.min(this.#maxBytes, Math.max(MIN_BUFFER_BYTES, factor * length))));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
      this.#isOwn = true;
    }
    this.#bytes.set(chunk, this.#length);
  }
}

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

/** What a body that is too long is refused with. */
export function tooLong(maxBytes: number): MessageTooLargeError {
  return new MessageTooLargeError(maxBytes, `The answer is longer than ${maxBytes} bytes: raise maxMessageBytes, or ask for less`);
}

const MIN_BUFFER_BYTES = 16 * 1024;
const LARGE_BYTES = 1024 * 1024;
const LARGE_FACTOR = 16;
const EMPTY = new Uint8Array();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
