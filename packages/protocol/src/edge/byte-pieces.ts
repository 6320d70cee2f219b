/** Holds the pieces of a body until it is whole. */

/** A piece of this length or more is held as it came, any other one is copied. */
const LARGE_BYTES = 16 * 1024;
const MIN_BLOCK_BYTES = 4 * 1024;
const MAX_BLOCK_BYTES = 64 * 1024;

/**
 * Gathers bytes in the order in which they come. Small pieces are copied together into blocks, so that a body that comes byte by byte takes
 * what it is long and not a hundred times as much; the first one and large ones are held uncopied and must not be changed afterwards.
 */
export class BytePieces {
  readonly #pieces: Uint8Array[] = [];
  #length = 0;
  #block: Uint8Array | undefined;
  /** What is used of the block and is not among the pieces yet. What lies behind it takes later small pieces. */
  #from = 0;
  #to = 0;

  /** Of all pieces together, in bytes. */
  get length(): number {
    return this.#length;
  }

  /** Takes the next piece. */
  push(piece: Uint8Array): void {
    const { byteLength } = piece;
    // The first is nearly always the only one.
    const isHeld = this.#length === 0 || byteLength >= LARGE_BYTES;
    this.#length += byteLength;
    if (isHeld) {
      this.#endRun();
      if (byteLength > 0) this.#pieces.push(piece);
      return;
    }
    const block = this.#roomFor(byteLength);
    block.set(piece, this.#to);
    this.#to += byteLength;
  }

  /** Gives all bytes in one piece and holds none any more. */
  join(): Uint8Array {
    this.#endRun();
    const joined = joinBytes(this.#pieces, this.#length);
    this.clear();
    return joined;
  }

  /** Lets go of everything. */
  clear(): void {
    this.#pieces.length = 0;
    this.#length = 0;
    this.#block = undefined;
    this.#from = 0;
    this.#to = 0;
  }

  #roomFor(byteLength: number): Uint8Array {
    const room = this.#block === undefined ? 0 : this.#block.byteLength - this.#to;
    if (this.#block !== undefined && byteLength <= room) return this.#block;
    this.#endRun();
    this.#from = 0;
    this.#to = 0;
    this.#block = new Uint8Array(Math.max(byteLength, Math.min(MAX_BLOCK_BYTES, Math.max(MIN_BLOCK_BYTES, this.#length))));
    return this.#block;
  }

  #endRun(): void {
    if (this.#block === undefined || this.#to === this.#from) return;
    this.#pieces.push(this.#block.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }
}

/** Joins the pieces of a body. @param length Of all together, in bytes. */
export function joinBytes(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const joined = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.byteLength;
  }
  return joined;
}
