/** Reads request and response bodies up to a size limit. */

/** Pieces of this length or longer are kept as they are. Shorter ones are copied together, because each array costs more than a few bytes. */
const LARGE_BYTES = 16 * 1024;
const MIN_BUFFER_BYTES = 4 * 1024;
const NOTHING = new Uint8Array(0);

/** Collects bytes. The first piece and large ones are not copied: do not change them afterwards. */
export class BytePieces {
  /** The length of all pieces, in bytes. */
  length = 0;
  #pieces: Uint8Array[] = [];
  /** The short pieces since the last large one. It doubles when it is full. */
  #buffer = NOTHING;
  #used = 0;

  /** Adds a piece. */
  push(piece: Uint8Array): void {
    const isKept = this.length === 0 || piece.byteLength >= LARGE_BYTES;
    this.length += piece.byteLength;
    if (isKept) {
      this.#endBuffer();
      this.#pieces.push(piece);
      return;
    }
    const used = this.#used + piece.byteLength;
    if (used > this.#buffer.byteLength) this.#grow(used);
    this.#buffer.set(piece, this.#used);
    this.#used = used;
  }

  /** Returns all bytes in one array, and drops the pieces. */
  join(): Uint8Array {
    this.#endBuffer();
    const pieces = this.#pieces;
    const joined = pieces.length > 1 ? new Uint8Array(this.length) : (pieces[0] ?? NOTHING);
    this.clear();
    if (pieces.length <= 1) return joined;
    let at = 0;
    for (const piece of pieces) {
      joined.set(piece, at);
      at += piece.byteLength;
    }
    return joined;
  }

  /** Drops all bytes. */
  clear(): void {
    this.#pieces = [];
    this.#buffer = NOTHING;
    this.#used = 0;
    this.length = 0;
  }

  #endBuffer(): void {
    if (this.#used === 0) return;
    this.#pieces.push(this.#buffer.subarray(0, this.#used));
    this.#buffer = NOTHING;
    this.#used = 0;
  }

  #grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, 2 * this.#used, MIN_BUFFER_BYTES));
    grown.set(this.#buffer.subarray(0, this.#used));
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
