/** Writes a response as JSON, whatever is in it: one that JSON cannot carry is answered as an internal error, never with silence. */

import { INTERNAL_ERROR, type JsonRpcResponse, serializeMessage } from '@mortise/jsonrpc-core';

export function toJsonText(response: JsonRpcResponse): string {
  try {
    return serializeMessage(response);
  } catch {
    const id = response.id === undefined ? {} : { id: response.id };
    return serializeMessage({ jsonrpc: '2.0', ...id, error: { code: INTERNAL_ERROR, message: 'Internal error' } });
  }
}
