/** Reads bodies that strangers send: no further than is allowed. */

/**
 * Reads a body to its end.
 *
 * @param body Of a request or a response; a body that is absent is empty.
 * @param maxBytes Past so many it is cancelled, and nothing of it is given.
 * @returns undefined where it is longer.
 * @throws What reading throws: the connection broke, or a signal aborted.
 */
export async function readBytes(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    length += piece.value.byteLength;
    if (length > maxBytes) {
      await reader?.cancel();
      return undefined;
    }
    chunks.push(piece.value);
  }
  return joinBytes(chunks, length);
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
