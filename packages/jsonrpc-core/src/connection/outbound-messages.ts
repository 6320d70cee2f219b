/** Builds the messages that a connection sends. */

import { copyObject } from '../copy-object.ts';
import { isJsonObject } from '../guards.ts';
import type { JsonObject, JsonRpcNotification, JsonRpcRequest } from '../message.ts';

export function toRequest(id: number, method: string, params: JsonObject | undefined): JsonRpcRequest {
  return params === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params };
}

export function toNotification(method: string, params: JsonObject | undefined): JsonRpcNotification {
  return params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params };
}

/** The id is also the token: it is unique among the sender's requests, and no table of tokens is needed. */
export function withProgressToken(params: JsonObject | undefined, token: number): JsonObject {
  if (params === undefined) return { _meta: { progressToken: token } };
  const meta = params['_meta'];
  const sentMeta = isJsonObject(meta) ? copyObject(meta) : {};
  sentMeta['progressToken'] = token;
  const sent = copyObject(params);
  sent['_meta'] = sentMeta;
  return sent;
}
