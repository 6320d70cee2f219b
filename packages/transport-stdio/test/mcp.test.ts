/** MCP itself over stdio, in both eras, with real processes: what a client and a server put on the wire. */

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { McpClient } from '@mortise/client';
import { ServerStartError, stdioTransport } from '@mortise/transport-stdio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildFixtures, makeFolder, removeFolders } from './fixture.ts';

const info = { name: 'test', version: '1.0.0' };
const ERAS = ['modern', 'legacy'] as const;

let fixtures: Awaited<ReturnType<typeof buildFixtures<'mcp-server' | 'wire-tap'>>>;
const clients: McpClient[] = [];

beforeAll(async () => {
  fixtures = await buildFixtures('mcp-server', 'wire-tap');
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(removeFolders);

interface WireMessage {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly _meta?: Readonly<Record<string, unknown>>; readonly requestId?: unknown };
  readonly result?: unknown;
  readonly error?: unknown;
}

interface Tapped {
  readonly client: McpClient;
  readonly stderr: string[];
  /** Closes the client, and gives what went over the wire. */
  finish(): Promise<{ readonly toServer: readonly WireMessage[]; readonly fromServer: readonly WireMessage[] }>;
}

/** Connects a client to the server, with every line written down. */
async function connect(era: (typeof ERAS)[number]): Promise<Tapped> {
  const log = path.join(await makeFolder(), 'wire');
  const stderr: string[] = [];
  const transport = stdioTransport({
    command: process.execPath,
    args: [fixtures['wire-tap'], log, fixtures['mcp-server']],
    stderr: (line) => void stderr.push(line),
  });
  const client = await McpClient.connect(transport, info, {
    era,
    elicitation: { form: async () => ({ action: 'accept', content: { name: 'Ada' } }) },
  });
  clients.push(client);
  const finish = async (): Promise<{ toServer: WireMessage[]; fromServer: WireMessage[] }> => {
    await client.close();
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n');
    const read = (mark: string): WireMessage[] =>
      lines.filter((line) => line.startsWith(mark)).map((line) => JSON.parse(line.slice(2)) as WireMessage);
    return { toServer: read('> '), fromServer: read('< ') };
  };
  return { client, stderr, finish };
}

describe.for(ERAS)('MCP over stdio, %s', (era) => {
  it('calls a tool that logs to standard output', async () => {
    const { client, stderr, finish } = await connect(era);
    expect((await client.callTool('add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
    await finish();
    expect(stderr).toContain('adding 1 and 2');
  });

  it('[STDIO-009] cancels by a notification that names the request', async () => {
    const { client, stderr, finish } = await connect(era);
    const controller = new AbortController();
    const onProgress = (): void => controller.abort(new Error('enough'));
    await expect(client.callTool('wait', {}, { signal: controller.signal, onProgress })).rejects.toThrow('enough');
    await client.callTool('pid');
    const { toServer, fromServer } = await finish();
    const call = toServer.find((message) => message.method === 'tools/call');
    const cancellation = toServer.find((message) => message.method === 'notifications/cancelled');
    expect(cancellation?.params?.requestId).toBe(call?.id);
    expect(stderr).toContain('the handler was told');
    expect(fromServer.filter((message) => message.id === call?.id)).toEqual([]);
  });
});

describe('the directions of messages', () => {
  it('[STDIO-006][TRAN-006] are requests and notifications to a modern server, responses and notifications from it, also when it asks back', async () => {
    const { client, finish } = await connect('modern');
    expect((await client.callTool('ask')).content).toMatchObject([{ text: 'Hello Ada' }]);
    const { toServer, fromServer } = await finish();
    expect(toServer.filter((message) => message.method === undefined)).toEqual([]);
    expect(fromServer.filter((message) => message.method !== undefined && message.id !== undefined)).toEqual([]);
    expect(toServer.filter((message) => message.method === 'tools/call')).toHaveLength(2);
  });

  it('are both ways with a legacy server, which asks by requests', async () => {
    const { client, finish } = await connect('legacy');
    expect((await client.callTool('ask')).content).toMatchObject([{ text: 'Hello Ada' }]);
    const { toServer, fromServer } = await finish();
    const question = fromServer.find((message) => message.method === 'elicitation/create');
    expect(toServer.find((message) => message.method === undefined)?.id).toBe(question?.id);
  });

  it('[STDIO-008] carry all metadata of a modern request within it', async () => {
    const { client, finish } = await connect('modern');
    await client.callTool('add', { a: 1, b: 2 });
    await client.listTools();
    const { toServer } = await finish();
    const requests = toServer.filter((message) => message.id !== undefined);
    expect(requests.length).toBeGreaterThan(2);
    for (const { params } of requests) {
      expect(params?._meta).toMatchObject({
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': expect.any(Object) as object,
        'io.modelcontextprotocol/clientInfo': info,
      });
    }
    // Whatever is beside the JSON-RPC members would be an envelope, which this binding does not have.
    expect(new Set(toServer.flatMap((message) => Object.keys(message)))).toEqual(new Set(['jsonrpc', 'id', 'method', 'params']));
  });
});

describe('a server that dies', () => {
  it.for(ERAS)('[STDIO-015] is run again for the next call, and the call in flight fails with the reason (%s)', async (era) => {
    const client = await McpClient.connect(
      stdioTransport({ command: process.execPath, args: [fixtures['mcp-server']], stderr: 'ignore' }),
      info,
      { era },
    );
    clients.push(client);
    const first = (await client.callTool('pid')).content;
    const rejection: unknown = await client.callTool('die').catch((error: unknown) => error);
    expect(rejection).toBeInstanceOf(Error);
    expect(String((rejection as Error).cause ?? rejection)).toMatch(/exited with code 7/);
    const second = (await client.callTool('pid')).content;
    expect(second).not.toEqual(first);
  });

  it('fails connect with the reason where it only closed its output', async () => {
    const transport = stdioTransport({
      command: process.execPath,
      args: ['-e', 'require("fs").closeSync(1); setInterval(() => {}, 1000)'],
      stderr: 'ignore',
      stdinCloseMs: 20,
    });
    await expect(McpClient.connect(transport, info, { era: 'legacy' })).rejects.toMatchObject({
      code: 'ERR_CONNECTION_CLOSED',
      message: expect.stringContaining('closed its standard output but kept running') as string,
      cause: { code: 'ERR_SERVER_PROCESS_EXITED' },
    });
  });

  it('fails connect with its code and its last words', async () => {
    const transport = stdioTransport({
      command: process.execPath,
      args: ['-e', 'console.error("API_KEY is not set"); process.exit(3)'],
      stderr: () => undefined,
    });
    const rejection: unknown = await McpClient.connect(transport, info).catch((error: unknown) => error);
    const messages: string[] = [];
    for (let error: unknown = rejection; error instanceof Error; error = error.cause) messages.push(error.message);
    expect(messages.join('\n')).toMatch(/exited with code 3\. Its standard error ends with:\nAPI_KEY is not set/);
  });

  it('fails connect when it cannot be started at all', async () => {
    const rejection: unknown = await McpClient.connect(stdioTransport({ command: 'no-such-program-7f3a' }), info).catch(
      (error: unknown) => error,
    );
    const errors: unknown[] = [];
    for (let error: unknown = rejection; error instanceof Error; error = error.cause) errors.push(error);
    expect(errors.some((error) => error instanceof ServerStartError)).toBe(true);
  });
});
