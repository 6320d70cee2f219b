/** Joins the pieces of a body and reads them as UTF-8. */

import { PARSE_ERROR } from '@mortise/jsonrpc-core/messages';
import { HttpRefusal } from './refusal.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** @throws {HttpRefusal} 400: the bytes are not UTF-8. */
export function joinChunks(chunks: readonly Uint8Array[], length: number): string {
  const [first] = chunks;
  try {
    return decoder.decode(chunks.length === 1 && first !== undefined ? first : concat(chunks, length));
  } catch {
    throw new HttpRefusal(400, 'The body is not UTF-8', { rpcCode: PARSE_ERROR });
  }
}

function concat(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}
