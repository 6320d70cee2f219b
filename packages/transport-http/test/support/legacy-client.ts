/** A client of the legacy era, by hand. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { type Answer, newId, post, send } from './send.ts';

export const LEGACY = '2025-11-25';

export function initializeRequest(version: string = LEGACY, id: string | number = newId(), capabilities: JsonObject = {}): JsonObject {
  return {
    jsonrpc: '2.0',
    id,
    method: 'initialize',
    params: { protocolVersion: version, capabilities, clientInfo: { name: 'test', version: '1' } },
  };
}

/** A legacy client that has done its handshake. */
export class LegacyClient {
  readonly port: number;
  readonly sessionId: string;
  readonly version: string;

  private constructor(port: number, sessionId: string, version: string) {
    this.port = port;
    this.sessionId = sessionId;
    this.version = version;
  }

  static async open(
    port: number,
    version: string = LEGACY,
    headers: Readonly<Record<string, string>> = {},
    capabilities: JsonObject = {},
  ): Promise<LegacyClient> {
    const answer = await post(port, initializeRequest(version, newId(), capabilities), headers);
    const body = await answer.response();
    const sessionId = answer.headers['mcp-session-id'];
    if (typeof sessionId !== 'string') throw new Error(`No session: ${answer.status} ${JSON.stringify(body)}`);
    const client = new LegacyClient(port, sessionId, version);
    const accepted = await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
    if (accepted.status !== 202) throw new Error(`initialized: ${accepted.status}`);
    return client;
  }

  /** The same client and session, at another machine. */
  at(port: number): LegacyClient {
    return new LegacyClient(port, this.sessionId, this.version);
  }

  get headers(): Record<string, string> {
    return { 'mcp-session-id': this.sessionId, ...(this.version >= '2025-06-18' ? { 'mcp-protocol-version': this.version } : {}) };
  }

  post(message: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return post(this.port, message, { ...this.headers, ...headers });
  }

  tool(name: string, args: JsonObject = {}, id: string | number = newId()): Promise<Answer> {
    return this.post({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
  }

  get(headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return send(this.port, { method: 'GET', headers: { accept: 'text/event-stream', ...this.headers, ...headers } });
  }

  delete(headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return send(this.port, { method: 'DELETE', headers: { ...this.headers, ...headers } });
  }
}
