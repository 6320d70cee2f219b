/** Joins the pieces of a body and reads them as UTF-8. */

import { PARSE_ERROR } from '@mortise/jsonrpc-core/messages';
import { joinBytes } from '@mortise/protocol/edge';
import { HttpRefusal } from './refusal.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** @throws {HttpRefusal} 400: the bytes are not UTF-8. */
export function joinChunks(chunks: readonly Uint8Array[], length: number): string {
  try {
    return decoder.decode(joinBytes(chunks, length));
  } catch {
    throw new HttpRefusal(400, 'The body is not UTF-8', { rpcCode: PARSE_ERROR });
  }
}
