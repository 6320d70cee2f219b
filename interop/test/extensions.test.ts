/** Extensions in the 2025-11-25 handshake: the official SDK v1 and Mortise see each other's. */

import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { Server as ServerV1 } from '@modelcontextprotocol/sdk/server/index.js';
import { McpClient } from '@mortise/client';
import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { McpServer } from '@mortise/server';
import { expect, it, onTestFinished } from 'vitest';

const id = 'com.example/clock';
const ours = { [id]: { zone: 'UTC' } };
const theirs = { [id]: { format: 'iso' }, 'com.example/other': {} };

it("a v1 client sees our server's extension in 2025-11-25, and our server its extensions", async () => {
  const [near, far] = createInMemoryPair({ passBy: 'json' });
  const server = new McpServer({ name: 's', version: '1' }, { extensions: [{ id, settings: ours[id], install: () => undefined }] });
  server.registerTool('seen', {}, (ctx) => JSON.stringify(ctx.client.capabilities.extensions));
  await server.connect(far);
  const client = new ClientV1({ name: 'c', version: '1' }, { capabilities: { extensions: theirs } });
  onTestFinished(() => client.close());
  await client.connect(near);
  expect(client.getServerCapabilities()?.extensions).toEqual(ours);
  expect(await client.callTool({ name: 'seen' })).toMatchObject({ content: [{ text: JSON.stringify(theirs) }] });
});

it("a v1 server sees our client's extension in 2025-11-25, and our client its extensions", async () => {
  const [near, far] = createInMemoryPair({ passBy: 'json' });
  const server = new ServerV1({ name: 's', version: '1' }, { capabilities: { extensions: theirs } });
  await server.connect(far);
  const client = await McpClient.connect(near, { name: 'c', version: '1' }, { era: 'legacy', extensions: [{ id, settings: ours[id] }] });
  onTestFinished(() => client.close());
  expect(server.getClientCapabilities()?.extensions).toEqual(ours);
  expect(client.serverCapabilities.extensions).toEqual(theirs);
});
