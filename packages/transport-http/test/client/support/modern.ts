/** Messages of the modern era as a client sends them. */

import type { JsonObject, JsonRpcRequest } from '@mortise/jsonrpc-core';
import { NEWEST } from '@mortise/protocol';
import { META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION } from '@mortise/protocol/wire';

let lastId = 0;

/** A modern request with everything that it must have. */
export function modernRequest(method: string, params: JsonObject = {}, id: string | number = ++lastId): JsonRpcRequest {
  const _meta = { [META_PROTOCOL_VERSION]: NEWEST.version, [META_CLIENT_CAPABILITIES]: {}, ...(params['_meta'] as JsonObject | undefined) };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
}

export function callRequest(name: string, args: JsonObject = {}, id?: string | number): JsonRpcRequest {
  return modernRequest('tools/call', { name, arguments: args }, id);
}

export const complete: JsonObject = { resultType: 'complete', content: [] };

export const discovery: JsonObject = {
  resultType: 'complete',
  supportedVersions: [NEWEST.version],
  capabilities: { tools: {}, prompts: {}, resources: {} },
  ttlMs: 0,
  cacheScope: 'private',
};
