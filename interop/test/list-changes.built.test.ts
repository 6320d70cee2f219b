/** A list that changes right after a client has connected: over each transport, its callback is called. */

import { fileURLToPath } from 'node:url';
import { McpClient, type ClientTransportSource } from '@mortise/client';
import { Client } from '@mortise/compat-v1/client/index.js';
import { StdioClientTransport } from '@mortise/compat-v1/client/stdio.js';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { stdioTransport } from '@mortise/transport-stdio/client';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMortiseServer } from '../fixtures/mortise-features.mjs';

const info = { name: 'listener', version: '1.0.0' };
const program = (name: string): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))],
});

/** Starts the fixture server, whose tool `hide_add` changes its list of tools. */
const sources: Readonly<Record<string, () => Promise<ClientTransportSource>>> = {
  stdio: () => Promise.resolve(stdioTransport(program('mortise-server.mjs'))),
  async HTTP() {
    const serving = await serveHttp(createMortiseServer(), { port: 0, drainMs: 1 });
    onTestFinished(() => serving.close());
    return httpTransport(serving.url);
  },
  async WebSocket() {
    const serving = await serveWebSocket(createMortiseServer(), { port: 0, drainMs: 1 });
    onTestFinished(() => serving.close());
    return webSocketTransport(serving.url);
  },
};

describe.each(Object.entries(sources))('over %s', (_, reach) => {
  it.each(['modern', 'legacy'] as const)('a callback that was set before connecting is called for the first change (%s)', async (era) => {
    const client = new McpClient(info, { era });
    onTestFinished(() => client.close());
    const changed = new Promise<void>((resolve) => client.onToolsChanged(() => resolve()));
    await client.connect(await reach());
    await client.callTool('hide_add');
    await changed;
  });

  it('one that was set later is called for what changes after whenListening', async () => {
    const client = await McpClient.connect(await reach(), info, { era: 'modern' });
    onTestFinished(() => client.close());
    const changed = new Promise<void>((resolve) => client.onToolsChanged(() => resolve()));
    await client.whenListening();
    await client.callTool('hide_add');
    await changed;
  });
});

it.each(['mortise-server.mjs', 'mortise-modern-server.mjs'])(
  'the option "listChanged" of a v1 client hears the first change of %s',
  async (name) => {
    let client: Client | undefined;
    const tools = new Promise<readonly { name: string }[] | null>((resolve, reject) => {
      const onChanged = (error: Error | null, items: readonly { name: string }[] | null): void => (error ? reject(error) : resolve(items));
      client = new Client(info, { listChanged: { tools: { onChanged, debounceMs: 0 } } });
    });
    onTestFinished(() => client?.close());
    await client?.connect(new StdioClientTransport(program(name)));
    await client?.callTool({ name: 'hide_add' });
    expect((await tools)?.map(({ name: tool }) => tool)).not.toContain('add');
  },
);
