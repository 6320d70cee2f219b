/** Reads a body as UTF-8. */

import { PARSE_ERROR } from '@mortise/jsonrpc-core/messages';
import { HttpRefusal } from './refusal.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** @throws {HttpRefusal} 400: the bytes are not UTF-8. */
export function decodeBody(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new HttpRefusal(400, 'The body is not UTF-8', { rpcCode: PARSE_ERROR });
  }
}
