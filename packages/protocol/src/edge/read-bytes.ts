/** Reads request and response bodies up to a size limit. */

const MIN_GROWTH_BYTES = 4 * 1024;
const NOTHING = new Uint8Array(0);

/**
 * Collects bytes in one buffer that doubles when it is full.
 *
 * The first piece is not copied, because it is usually the only one: do not change it afterwards.
 */
export class BytePieces {
  /** The length of all pieces, in bytes. */
  length = 0;
  #buffer = NOTHING;

  /** Adds a piece. */
  push(piece: Uint8Array): void {
    const length = this.length + piece.byteLength;
    if (this.length === 0) this.#buffer = piece as Uint8Array<ArrayBuffer>;
    else {
      if (length > this.#buffer.byteLength) this.#grow(length);
      this.#buffer.set(piece, this.length);
    }
    this.length = length;
  }

  /** Returns all bytes in one array, and clears the buffer. */
  join(): Uint8Array {
    const joined = this.length === this.#buffer.byteLength ? this.#buffer : this.#buffer.subarray(0, this.length);
    this.clear();
    return joined;
  }

  /** Drops all bytes. */
  clear(): void {
    this.#buffer = NOTHING;
    this.length = 0;
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, 2 * this.length, MIN_GROWTH_BYTES));
    grown.set(this.#buffer.subarray(0, this.length));
    this.#buffer = grown;
  }
}

/**
 * Reads the body of a request or response to its end.
 *
 * @param body The body of a request or response; null counts as empty.
 * @param maxBytes The size limit. A longer body is cancelled.
 * @returns undefined if the body is longer than `maxBytes`.
 * @throws The error of the stream, if the connection broke or a signal aborted it.
 */
export async function readBytes(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array | undefined> {
  const pieces = new BytePieces();
  const reader = body?.getReader();
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    pieces.push(piece.value);
    if (pieces.length > maxBytes) {
      await reader?.cancel();
      return undefined;
    }
  }
  return pieces.join();
}
