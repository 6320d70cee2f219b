/** `Chopper`: splits a byte stream into pieces of random length, to test transports over byte streams. */

import { createRandom } from './random.ts';

/** Takes chunks of bytes and emits the same bytes in pieces of other, random lengths. */
export interface Chopper {
  push(chunk: Uint8Array): void;
  /** Emits the bytes that the chopper still buffers. */
  flush(): void;
}

/**
 * Makes a `Chopper`, which splits bytes into random pieces. A piece has one byte to thousands, and may split a character.
 *
 * @param seed The same seed cuts the same bytes in the same places.
 * @param emit Called with each piece, in order.
 */
export function createChopper(seed: number, emit: (piece: Uint8Array) => void): Chopper {
  const random = createRandom(seed);
  let held = new Uint8Array();
  const nextLength = (): number => Math.ceil(2 ** (random() * 14));
  let wanted = nextLength();
  return {
    push(chunk) {
      const bytes = new Uint8Array(held.length + chunk.length);
      bytes.set(held);
      bytes.set(chunk, held.length);
      let from = 0;
      while (bytes.length - from >= wanted) {
        emit(bytes.slice(from, from + wanted));
        from += wanted;
        wanted = nextLength();
      }
      held = bytes.slice(from);
    },
    flush() {
      if (held.length > 0) emit(held);
      held = new Uint8Array();
    },
  };
}
