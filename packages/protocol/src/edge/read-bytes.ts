/** Reads bodies of peers: piece by piece, and no further than is allowed. */

const MIN_GROWTH_BYTES = 4 * 1024;
const NOTHING = new Uint8Array(0);

/**
 * Gathers bytes in the order in which they come, in one buffer that doubles when it is full.
 *
 * The first piece is held uncopied, since it is nearly always the only one: do not change it afterwards.
 */
export class BytePieces {
  /** Of all pieces together, in bytes. */
  length = 0;
  #buffer = NOTHING;

  /** Takes the next piece. */
  push(piece: Uint8Array): void {
    const length = this.length + piece.byteLength;
    if (this.length === 0) this.#buffer = piece as Uint8Array<ArrayBuffer>;
    else {
      if (length > this.#buffer.byteLength) this.#grow(length);
      this.#buffer.set(piece, this.length);
    }
    this.length = length;
  }

  /** Gives all bytes in one piece, and holds none afterwards. */
  join(): Uint8Array {
    const joined = this.length === this.#buffer.byteLength ? this.#buffer : this.#buffer.subarray(0, this.length);
    this.clear();
    return joined;
  }

  /** Lets go of everything. */
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
 * Reads a body to its end.
 *
 * @param body Of a request or a response; a body that is absent is empty.
 * @param maxBytes A longer one is cancelled, and nothing of it is given.
 * @returns undefined where it is longer.
 * @throws What reading throws: the connection broke, or a signal aborted.
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
