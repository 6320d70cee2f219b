/** Requests of the modern era, with everything that they must have. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { type Answer, newId, post } from './send.ts';

export const MODERN = '2026-07-28';

/** A modern request with everything that it must have. */
export function modernRequest(method: string, params: JsonObject = {}, id: string | number = newId()): JsonObject {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientCapabilities': {} };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ..._meta, ...(params['_meta'] as JsonObject | undefined) } } };
}

/** The headers that mirror a modern request. */
export function modernHeaders(request: JsonObject): Record<string, string> {
  const params = (request['params'] ?? {}) as JsonObject;
  const name = params['name'] ?? params['uri'];
  return {
    'mcp-protocol-version': MODERN,
    'mcp-method': String(request['method']),
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
  };
}

/** Makes a modern call. */
export function modern(
  port: number,
  method: string,
  params: JsonObject = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const request = modernRequest(method, params);
  return post(port, request, { ...modernHeaders(request), ...headers });
}

export function modernTool(
  port: number,
  name: string,
  args: JsonObject = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return modern(port, 'tools/call', { name, arguments: args }, headers);
}
