/** Reads what a client sent, and no more than is allowed. */

/** @throws {Error} It is longer than `maxBytes`, or is not UTF-8. */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = request.body?.getReader();
  let text = '';
  let size = 0;
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    size += piece.value.byteLength;
    if (size > maxBytes) {
      await reader?.cancel();
      throw new Error(`The body is longer than ${maxBytes} bytes`);
    }
    text += decoder.decode(piece.value, { stream: true });
  }
  return text + decoder.decode();
}
