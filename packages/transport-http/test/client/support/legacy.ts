/** Messages of the legacy era, and the shortest way into a session. */

import type { JsonObject, JsonRpcMessage, JsonRpcRequest, Transport } from '@mortise/jsonrpc-core';
import { NEWEST_LEGACY } from '@mortise/protocol';
import type { EventStream, ScriptedHttp } from './scripted-http.ts';

export const SESSION = 'session-1';
export const VERSION = NEWEST_LEGACY.version;

export function request(id: string | number, method: string, params?: JsonObject): JsonRpcRequest {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) };
}

export function note(method: string, params?: JsonObject): JsonRpcMessage {
  return { jsonrpc: '2.0', method, ...(params && { params }) };
}

export const initialize: JsonRpcRequest = request('init', 'initialize', {
  protocolVersion: VERSION,
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});

export const initialized: JsonRpcMessage = note('notifications/initialized');

export function initializeResult(version: string = VERSION): JsonObject {
  return { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' } };
}

/** What an open transport said. */
export interface Heard {
  readonly messages: JsonRpcMessage[];
  readonly errors: Error[];
  closes: number;
}

export function hear(transport: Transport): Heard {
  const heard: Heard = { messages: [], errors: [], closes: 0 };
  transport.onmessage = (message: JsonRpcMessage) => void heard.messages.push(message);
  transport.onerror = (error) => void heard.errors.push(error);
  transport.onclose = () => void heard.closes++;
  return heard;
}

/** Answers the handshake from now on; a GET gets 405 unless `getStream` takes it. */
export function answerHandshake(
  server: ScriptedHttp,
  {
    sessionId = SESSION,
    version = VERSION,
    getStream,
  }: { sessionId?: string | undefined; version?: string; getStream?: (stream: EventStream) => void } = {},
): void {
  server.on('initialize', (visit) => visit.result(initializeResult(version), { 'mcp-session-id': sessionId }));
  server.on('notifications/initialized', (visit) => visit.accept());
  server.on('GET', (visit) => (getStream ? getStream(visit.stream()) : visit.reply(405)));
  server.on('DELETE', (visit) => visit.reply(204));
}

/** Starts a transport and goes through the handshake. */
export async function shakeHands(transport: Transport, version: string = VERSION): Promise<void> {
  await transport.start();
  await transport.send(initialize);
  transport.setProtocolVersion?.(version);
  await transport.send(initialized);
}
