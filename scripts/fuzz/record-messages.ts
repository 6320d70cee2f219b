/** Records what a real client sends to the server that is fuzzed: the seed of every mutation. */

import { McpClient } from '@mortise/client';
import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { REVISIONS } from '@mortise/protocol';
import { createFuzzServer, hostileDeeds } from './fuzz-server.ts';
import type { JsonObject } from './mutate.ts';

/** What a client of one revision sent: how it opened, and everything after that. */
export interface Recording {
  readonly version: string;
  readonly readsBatches: boolean;
  readonly opening: readonly JsonObject[];
  readonly messages: readonly JsonObject[];
}

/** Connects once in each revision, uses every feature once, and keeps what the client sent. */
export async function recordMessages(): Promise<readonly Recording[]> {
  const server = createFuzzServer();
  const recordings: Recording[] = [];
  for (const revision of REVISIONS) {
    const [ours, theirs] = createInMemoryPair({ passBy: 'json' });
    const sent: JsonObject[] = [];
    const send = ours.send.bind(ours);
    ours.send = (message) => {
      sent.push(structuredClone(message) as unknown as JsonObject);
      return send(message);
    };
    await server.connect(theirs);
    const client = new McpClient({ name: 'recorder', version: '1.0.0' }, { protocolVersion: revision.version });
    await client.connect(ours);
    const opening = sent.filter((message) => message['method'] !== 'server/discover');
    await useEverything(client);
    await client.close();
    recordings.push({ version: revision.version, readsBatches: revision.rules.batching, opening: [...opening], messages: sent });
  }
  return recordings;
}

async function useEverything(client: McpClient): Promise<void> {
  const send = async (method: string, params?: JsonObject, signal?: AbortSignal): Promise<unknown> =>
    client.request(method, params, { signal }).catch(() => undefined);
  for (const method of ['ping', 'server/discover', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])
    await send(method);
  await send('tools/list', { cursor: 'nonsense' });
  await send('tools/call', { name: 'echo', arguments: { text: 'hello' } });
  await send('tools/call', { name: 'add', arguments: { a: 1, b: 2 } });
  await send('tools/call', { name: 'report', arguments: { steps: 3 }, _meta: { progressToken: 'p1' } });
  await send('tools/call', { name: 'later', arguments: {} });
  const leaving = new AbortController();
  const left = send('tools/call', { name: 'later', arguments: {} }, leaving.signal);
  leaving.abort();
  await left;
  for (const what of hostileDeeds) await send('tools/call', { name: 'hostile', arguments: { what } });
  await send('resources/read', { uri: 'fuzz://page' });
  await send('resources/read', { uri: 'fuzz://items/one' });
  await send('resources/subscribe', { uri: 'fuzz://page' });
  await send('resources/unsubscribe', { uri: 'fuzz://page' });
  await send('prompts/get', { name: 'ask', arguments: { topic: 'tenon' } });
  await send('completion/complete', { ref: { type: 'ref/prompt', name: 'ask' }, argument: { name: 'topic', value: 'm' } });
  await send('completion/complete', { ref: { type: 'ref/resource', uri: 'fuzz://items/{id}' }, argument: { name: 'id', value: 'o' } });
  await send('logging/setLevel', { level: 'debug' });
}
