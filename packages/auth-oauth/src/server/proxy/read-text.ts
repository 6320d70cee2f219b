/** Reads what a client sent, and no more than is allowed. */

import { readBytes } from '@mortise/protocol/edge';

/** @throws {Error} It is longer than `maxBytes`, or is not UTF-8. */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  const bytes = await readBytes(request.body, maxBytes);
  if (!bytes) throw new Error(`The body is longer than ${maxBytes} bytes`);
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}
