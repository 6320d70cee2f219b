/** A gateway as one writes it at first: a server that passes on the tools of a client. That it compiles is half of the test. */

import { McpServer } from '@mortise/server';
import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { McpClient } from '../src/index.ts';

type Era = 'legacy' | 'modern';

async function connect(server: McpServer, era: Era): Promise<McpClient> {
  const [near, far] = createInMemoryPair({ passBy: 'json' });
  await server.connect(far);
  const client = await McpClient.connect(near, { name: 'gateway-test', version: '1.0.0' }, { era });
  onTestFinished(() => client.close());
  return client;
}

function createBehind(): McpServer {
  const server = new McpServer({ name: 'behind', version: '1.0.0' });
  server.registerTool(
    'add',
    { title: 'Add', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() }, annotations: { readOnlyHint: true } },
    ({ a, b }) => ({ structuredContent: { sum: a + b }, _meta: { 'example.org/unit': 'm' } }),
  );
  server.registerTool('greet', { description: 'Greets', inputSchema: { name: z.string() } }, ({ name }) => `Hello ${name}`);
  server.registerTool('fail', { outputSchema: { sum: z.number() } }, () => ({ isError: true, content: [{ type: 'text', text: 'No' }] }));
  return server;
}

async function createGateway(client: McpClient): Promise<McpServer> {
  const gateway = new McpServer({ name: 'gateway', version: '1.0.0' });
  const { tools } = await client.listTools();
  for (const tool of tools) gateway.registerTool(tool.name, tool, (args) => client.callTool(tool.name, args));
  return gateway;
}

describe.each(['legacy', 'modern'] as const)('a gateway in the %s era', (era) => {
  it('registers what listTools gives, and returns what callTool gives', async () => {
    const behind = await connect(createBehind(), era);
    const gateway = await connect(await createGateway(behind), era);
    expect((await gateway.listTools()).tools).toEqual((await behind.listTools()).tools);
    for (const [name, args] of [
      ['add', { a: 1, b: 2 }],
      ['greet', { name: 'Ada' }],
      ['fail', {}],
    ] as const)
      expect(await gateway.callTool(name, args)).toEqual(await behind.callTool(name, args));
  });
});

it('ignores the name of a listed tool, and what this server does not have, but reports what its author misspells', async () => {
  const gateway = new McpServer({ name: 'gateway', version: '1.0.0' });
  const listed = { name: 'add', inputSchema: { type: 'object' as const }, execution: { taskSupport: 'required' }, vendor: 1 };
  gateway.registerTool('behind_add', listed, () => 'added');
  const client = await connect(gateway, 'modern');
  expect((await client.listTools()).tools).toEqual([{ name: 'behind_add', inputSchema: { type: 'object' } }]);
  const { name: _name, ...misspelt } = listed;
  expect(() => gateway.registerTool('other', misspelt, () => '')).toThrow('"execution" needs new McpServer(');
  expect(() => gateway.registerTool('other', { title: 'Other', ...{ vendor: 1 } }, () => '')).toThrow('unknown option "vendor"');
});
