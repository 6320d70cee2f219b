/** Reads bodies that strangers send: no further than is allowed. */

import { BytePieces } from './byte-pieces.ts';

/**
 * Reads a body to its end.
 *
 * @param body Of a request or a response; a body that is absent is empty.
 * @param maxBytes Past so many it is cancelled, and nothing of it is given.
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
