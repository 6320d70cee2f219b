/** Writes what a server sends beside its answers. */

import type { JsonObject, JsonRpcNotification, JsonRpcRequest, JsonValue } from '@mortise/jsonrpc-core';
import { serializeMessage } from '@mortise/jsonrpc-core/messages';

/**
 * Writes a message as one line of JSON. Progress is sent a thousand times where all else is sent once: its few numbers and texts are
 * put together by hand, which takes a fraction of what `JSON.stringify` takes for them.
 *
 * @throws {SerializeError} As `serializeMessage`.
 */
export function writeMessage(message: JsonRpcNotification | JsonRpcRequest): string {
  const { method, params } = message;
  const isProgress = method === 'notifications/progress' && !('id' in message) && params !== undefined;
  const written = isProgress ? writeScalars(params) : undefined;
  return written === undefined ? serializeMessage(message) : `{"jsonrpc":"2.0","method":"notifications/progress","params":{${written}}}`;
}

const SCALARS: ReadonlySet<string> = new Set(['progressToken', 'progress', 'total', 'message']);

/** @returns undefined for members that are not of progress, or not plain: those are for `JSON.stringify`. */
function writeScalars(params: JsonObject): string | undefined {
  if (Object.getPrototypeOf(params) !== Object.prototype) return undefined;
  let text = '';
  for (const name in params) {
    const value: JsonValue | undefined = params[name];
    if (value === undefined) continue;
    const json = SCALARS.has(name) ? writeScalar(value) : undefined;
    if (json === undefined) return undefined;
    text += text === '' ? `"${name}":${json}` : `,"${name}":${json}`;
  }
  return text;
}

function writeScalar(value: JsonValue): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  return typeof value === 'string' ? JSON.stringify(value) : undefined;
}
