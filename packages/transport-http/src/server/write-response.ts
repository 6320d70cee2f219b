/** Writes a response as JSON, whatever is in it: one that JSON cannot carry is answered as an internal error, never with silence. */

import type { JsonRpcResponse } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, serializeMessage } from '@mortise/jsonrpc-core/messages';

/** A response beside its text. */
export interface WrittenResponse {
  readonly message: JsonRpcResponse;
  readonly json: string;
}

export function writeResponse(response: JsonRpcResponse): WrittenResponse {
  try {
    return { message: response, json: serializeMessage(response) };
  } catch {
    const id = response.id === undefined ? {} : { id: response.id };
    const message: JsonRpcResponse = { jsonrpc: '2.0', ...id, error: { code: INTERNAL_ERROR, message: 'Internal error' } };
    return { message, json: serializeMessage(message) };
  }
}
