/**
 * A sixth revision is a new folder and one line: an invented one takes the place of the newest, and server and client, which are not
 * edited, speak it and the five before it, in memory and over HTTP.
 */

import { McpClient } from '@mortise/client';
import { connectInMemory } from '@mortise/client/in-memory';
import { NEWEST, REVISIONS } from '@mortise/protocol';
import { completable, McpServer, ResourceTemplate } from '@mortise/server';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

// The one line: `src/revisions/newest.ts` names the new folder.
vi.mock('../../packages/protocol/src/revisions/newest.ts', async () => {
  const { revision } = await import('../../packages/protocol/test/revisions/sixth/index.ts');
  return { newest: revision };
});

const SIXTH = '2027-03-31';
const FIFTH = '2026-07-28';
const FOURTH = '2025-11-25';

function createServer(): McpServer {
  const server = new McpServer({ name: 'server', version: '1.0.0' });
  server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
    tookMs: 7,
  }));
  server.registerTool('greet', {}, async (ctx) => {
    const answer = await ctx.elicit({ message: 'Name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } });
    return `Hello ${String(answer.content?.['name'])}`;
  });
  server.registerPrompt('topic', { argsSchema: { of: completable(z.string(), () => ['tea']) } }, ({ of }) => of);
  server.registerResource('named', new ResourceTemplate('note://{id}', { list: undefined }), {}, async (_uri, _variables, ctx) => {
    await ctx.elicit({ message: 'May I?', requestedSchema: { type: 'object', properties: {} } });
    return 'a note';
  });
  server.server.setRequestHandler('tools/search', ({ params }) => ({ found: [params?.['query'] ?? ''] }));
  return server;
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** One exchange over HTTP: what its request was, and the status of its answer. */
interface Exchange {
  readonly method: string | null;
  readonly name: string | null;
  readonly status: number;
}

const completion = { ref: { type: 'ref/prompt', name: 'topic' }, argument: { name: 'of', value: 't' } } as const;

const WAYS = ['in memory', 'over a channel', 'over HTTP'] as const;

async function connect(
  way: (typeof WAYS)[number],
  protocolVersion?: string,
): Promise<{ readonly client: McpClient; readonly exchanges: readonly Exchange[] }> {
  const server = createServer();
  const exchanges: Exchange[] = [];
  const options = { protocolVersion, elicitation: () => ({ action: 'accept' as const, content: { name: 'Ann' } }) };
  if (way !== 'over HTTP') {
    const client = await connectInMemory(server, { ...options, via: way === 'in memory' ? 'exchange' : 'channel' });
    closers.push(() => client.close());
    return { client, exchanges };
  }
  const { url, close } = await serveHttp(server, { port: 0 });
  const record: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const headers = new Headers(init?.headers);
    exchanges.push({ method: headers.get('mcp-method'), name: headers.get('mcp-name'), status: response.status });
    return response;
  };
  const client = await McpClient.connect(httpTransport(url, { fetch: record }), { name: 'client', version: '1.0.0' }, options);
  closers.push(close, () => client.close());
  return { client, exchanges };
}

const textOf = ({ content }: { readonly content: readonly object[] }): unknown => content.map((block) => (block as { text?: string }).text);

it('is the newest of six', () => {
  expect(REVISIONS.map(({ version }) => version)).toEqual([SIXTH, FIFTH, FOURTH, '2025-06-18', '2025-03-26', '2024-11-05']);
  expect(NEWEST.version).toBe(SIXTH);
});

describe.each(WAYS)('a client that finds its revision out %s', (way) => {
  it('speaks the sixth', async () => {
    const { client } = await connect(way);
    expect(client.protocolVersion).toBe(SIXTH);
    expect(textOf(await client.callTool('add', { a: 1, b: 2 }))).toEqual(['3']);
    expect(textOf(await client.callTool('greet', {}))).toEqual(['Hello Ann']);
  });

  it('is given what the sixth added: a method, and a member that a conversion drops for the others', async () => {
    const { client } = await connect(way);
    expect(await client.request('tools/search', { query: 'x' })).toMatchObject({ found: ['x'] });
    expect(await client.callTool('add', { a: 1, b: 2 })).toMatchObject({ tookMs: 7 });
  });

  it('meets the code that the sixth changed', async () => {
    const { client, exchanges } = await connect(way);
    await expect(client.readResource('none://x')).rejects.toMatchObject({ cause: { rpcCode: -32023, data: { uri: 'none://x' } } });
    if (way === 'over HTTP') expect(exchanges.at(-1)).toMatchObject({ method: 'resources/read', status: 404 });
  });

  it('does without what the sixth dropped', async () => {
    const { client, exchanges } = await connect(way);
    await expect(client.complete(completion)).rejects.toThrow(/2027-03-31/);
    await client.getPrompt('topic', { of: 'tea' });
    if (way === 'over HTTP') expect(exchanges.at(-1)).toMatchObject({ method: 'prompts/get', name: null, status: 200 });
  });
});

describe.each(WAYS)('a client that is pinned to the fifth %s', (way) => {
  it('speaks it as if the sixth were not there', async () => {
    const { client, exchanges } = await connect(way, FIFTH);
    expect(client.protocolVersion).toBe(FIFTH);
    expect(await client.callTool('add', { a: 1, b: 2 })).not.toHaveProperty('tookMs');
    await expect(client.request('tools/search', {})).rejects.toThrow();
    await expect(client.readResource('none://x')).rejects.toMatchObject({ cause: { rpcCode: -32602 } });
    expect(await client.complete(completion)).toMatchObject({ completion: { values: ['tea'] } });
    expect(await client.readResource('note://1')).toMatchObject({ contents: [{ text: 'a note' }] });
    await client.getPrompt('topic', { of: 'tea' });
    if (way === 'over HTTP') expect(exchanges.at(-1)).toMatchObject({ method: 'prompts/get', name: 'topic', status: 200 });
  });
});

it.each(['over a channel', 'over HTTP'] as const)('a legacy client %s is served as before', async (way) => {
  const { client } = await connect(way, FOURTH);
  expect(client.protocolVersion).toBe(FOURTH);
  expect(await client.callTool('add', { a: 1, b: 2 })).not.toHaveProperty('tookMs');
  expect(textOf(await client.callTool('greet', {}))).toEqual(['Hello Ann']);
  await expect(client.readResource('none://x')).rejects.toMatchObject({ cause: { rpcCode: -32002 } });
});
