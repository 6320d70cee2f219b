/** Honest peers under load, in real processes, with defaults on both sides: everything is answered, whoever is busy writing. */

import { McpClient } from '@mortise/client';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildFixtures, removeFolders } from './fixture.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Where both sides wait for each other nothing else ends that, so that it only must be longer than a busy machine takes. */
const timeoutMs = 60_000;

let fixtures: Awaited<ReturnType<typeof buildFixtures<'load-server' | 'one-thread-server' | 'asking-server'>>>;
const clients: McpClient[] = [];

beforeAll(async () => {
  fixtures = await buildFixtures('load-server', 'one-thread-server', 'asking-server');
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(removeFolders);

async function connect(server: keyof typeof fixtures, era: 'modern' | 'legacy'): Promise<McpClient> {
  const transport = stdioTransport({ command: process.execPath, args: [fixtures[server]] });
  const options = { era, elicitation: { form: async () => ({ action: 'accept' as const, content: { yes: true } }) } };
  const client = await McpClient.connect(transport, { name: 'test', version: '1.0.0' }, options);
  clients.push(client);
  return client;
}

/** Makes calls all at once. @returns The texts that came back, or what was thrown, each once. */
async function callAll(client: McpClient, tool: string, count: number, bytes: number): Promise<string[]> {
  const text = 'x'.repeat(bytes);
  const call = async (): Promise<string> => {
    const { content } = await client.callTool(tool, { text }, { timeoutMs });
    const [block] = content;
    if (block?.type !== 'text') throw new Error('no text');
    return block.text === text ? 'as sent' : block.text;
  };
  return [...new Set(await Promise.all(Array.from({ length: count }, call)))];
}

describe.each(['modern', 'legacy'] as const)('a %s client with much in flight', (era) => {
  it.each([
    [30, MIB],
    [3000, 16 * KIB],
  ])('[ROBUSTNESS-7] gets all of %d answers of %d bytes that it asked for at once', async (count, bytes) => {
    const client = await connect('load-server', era);
    expect(await callAll(client, 'echo', count, bytes)).toEqual(['as sent']);
  });

  it.each([
    [2, 9 * MIB],
    [24, MIB],
  ])('[ROBUSTNESS-7] is asked by each of %d calls of %d bytes, and its answers come through', async (count, bytes) => {
    const client = await connect('load-server', era);
    expect(await callAll(client, 'ask', count, bytes)).toEqual(['accept']);
  });
});

describe('a server that reads one message and answers it before it reads the next', () => {
  it.each([
    [30, MIB],
    [3000, 16 * KIB],
  ])('[ROBUSTNESS-7] answers all of %d calls of %d bytes, for the client reads while it writes', async (count, bytes) => {
    const client = await connect('one-thread-server', 'legacy');
    expect(await callAll(client, 'echo', count, bytes)).toEqual(['as sent']);
    expect(await callAll(client, 'echo', 1, KIB)).toEqual(['as sent']);
  });
});

describe('a server that asks more than a client may have in flight', () => {
  it('[ROBUSTNESS-7] is refused what is too much, and read on', async () => {
    const transport = stdioTransport({ command: process.execPath, args: [fixtures['asking-server']] });
    const never = (): Promise<never> => new Promise(() => undefined);
    const options = { era: 'legacy' as const, elicitation: { form: never }, asksPerMinute: 1000 };
    const client = await McpClient.connect(transport, { name: 'test', version: '1.0.0' }, options);
    clients.push(client);
    // 63 asks of a little more than 1 MiB are no more than 64 MiB.
    const { content } = await client.callTool('ask', { asks: 100, refusals: 37 });
    expect(content).toEqual([{ type: 'text', text: expect.stringMatching(/^Too many bytes .*maxInFlightBytes is 67108864/) as string }]);
    expect((await client.callTool('ask', { asks: 0, refusals: 0 })).content).toEqual([{ type: 'text', text: '' }]);
  });
});
