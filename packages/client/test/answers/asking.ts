/** The same question put to a client in either era: as a request of a legacy server, or inside a modern server's result. */

import type { JsonObject, JsonRpcMessage } from '@mortise/jsonrpc-core';
import { NEWEST, NEWEST_LEGACY, type Revision } from '@mortise/protocol';
import { onTestFinished } from 'vitest';
import { type ClientOptions, McpClient } from '../../src/index.ts';
import { complete, info, legacyScript, modernScript, ScriptedServer } from '../scripted-server.ts';

/** What became of a question. */
export interface Asked {
  /** What the server was told; undefined where a modern one was told nothing. */
  readonly answer: JsonObject | undefined;
  /** The JSON-RPC error that a legacy server got, or the error that the modern caller got. */
  readonly error: unknown;
}

/** A client in one era and the way to ask it. */
export interface Asking {
  readonly client: McpClient;
  readonly server: ScriptedServer;
  ask(method: string, params?: JsonObject): Promise<Asked>;
}

export const eras: readonly { readonly era: 'legacy' | 'modern'; readonly revision: Revision }[] = [
  { era: 'legacy', revision: NEWEST_LEGACY },
  { era: 'modern', revision: NEWEST },
];

/** Connects a client, which is closed when its test is over. */
export async function connect(factory: ScriptedServer['factory'], options: ClientOptions = {}): Promise<McpClient> {
  const client = new McpClient(info, options);
  onTestFinished(() => client.close());
  await client.connect(factory);
  return client;
}

export async function startAsking(
  era: 'legacy' | 'modern',
  options: ClientOptions,
  version: string = NEWEST_LEGACY.version,
): Promise<Asking> {
  return era === 'legacy' ? startLegacy(options, version) : startModern(options);
}

async function startLegacy(options: ClientOptions, version: string): Promise<Asking> {
  const server = new ScriptedServer(legacyScript(version));
  const client = await connect(server.factory, { era: 'legacy', ...options });
  let asked = 0;
  const ask = async (method: string, params?: JsonObject): Promise<Asked> => {
    asked += 1;
    const id = `ask-${asked}`;
    await server.send({ jsonrpc: '2.0', id, method, ...(params && { params }) });
    const response = (await server.next((message) => 'id' in message && message.id === id)) as JsonRpcMessage & Record<string, unknown>;
    return { answer: response['result'] as JsonObject | undefined, error: response['error'] };
  };
  return { client, server, ask };
}

async function startModern(options: ClientOptions): Promise<Asking> {
  let question: JsonObject = {};
  const server = new ScriptedServer(
    modernScript({
      'tools/call': ({ params }) =>
        params?.['inputResponses'] === undefined
          ? { result: { resultType: 'input_required', inputRequests: { q: question } } }
          : complete(NEWEST, { content: [], structuredContent: params['inputResponses'] }),
    }),
  );
  const client = await connect(server.factory, options);
  const ask = async (method: string, params?: JsonObject): Promise<Asked> => {
    question = { method, ...(params && { params }) };
    try {
      const { structuredContent } = await client.callTool('x');
      return { answer: (structuredContent as { q: JsonObject }).q, error: undefined };
    } catch (error) {
      return { answer: undefined, error };
    }
  };
  return { client, server, ask };
}
