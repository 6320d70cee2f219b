/** How a connection to a v1 server may begin: with requests before `initialize`, and with several of it. */

import { expect, it, onTestFinished } from 'vitest';
import { InMemoryTransport } from '../src/inMemory.ts';
import { McpServer } from '../src/server/mcp.ts';
import type { JSONRPCMessage } from '../src/types.ts';

/** Connects a server with one tool. Returns a function that sends a request and resolves to its response. */
async function open(server: McpServer): Promise<(method: string, params?: Record<string, unknown>) => Promise<JSONRPCMessage>> {
  server.registerTool('hello', {}, () => ({ content: [{ type: 'text', text: 'hello' }] }));
  const [near, far] = InMemoryTransport.createLinkedPair();
  const waiting: ((message: JSONRPCMessage) => void)[] = [];
  near.onmessage = (message) => waiting.shift()?.(message);
  await server.connect(far);
  await near.start();
  onTestFinished(() => server.close());
  let id = 0;
  return (method, params) => {
    const answered = new Promise<JSONRPCMessage>((resolve) => waiting.push(resolve));
    id += 1;
    void near.send({ jsonrpc: '2.0', id, method, ...(params && { params }) });
    return answered;
  };
}

const from = (name: string, protocolVersion: string): Record<string, unknown> => ({
  protocolVersion,
  capabilities: {},
  clientInfo: { name, version: '1.0.0' },
});

it('answers requests before "initialize", and "initialize" after them', async () => {
  const server = new McpServer({ name: 'server', version: '1.0.0' });
  const ask = await open(server);
  expect(await ask('tools/list')).toMatchObject({ id: 1, result: { tools: [{ name: 'hello' }] } });
  expect(await ask('tools/call', { name: 'hello' })).toMatchObject({ id: 2, result: { content: [{ text: 'hello' }] } });
  expect(server.server.getClientVersion()).toBeUndefined();
  expect(await ask('initialize', from('one', '2025-06-18'))).toMatchObject({
    id: 3,
    result: { protocolVersion: '2025-06-18', serverInfo: { name: 'server' }, capabilities: { tools: {} } },
  });
  expect(server.server.getClientVersion()).toMatchObject({ name: 'one' });
});

it('answers each "initialize" of a bridge that puts several clients on one connection', async () => {
  const server = new McpServer({ name: 'server', version: '1.0.0' });
  const ask = await open(server);
  for (const [name, version] of [
    ['one', '2025-06-18'],
    ['two', '2024-11-05'],
    ['three', '2025-11-25'],
  ] as const) {
    expect(await ask('initialize', from(name, version))).toMatchObject({ result: { protocolVersion: version } });
    expect(server.server.getClientVersion()).toMatchObject({ name });
    expect(await ask('tools/list')).toMatchObject({ result: { tools: [{ name: 'hello' }] } });
  }
});

it('refuses an "initialize" that is not valid, and answers the next one', async () => {
  const ask = await open(new McpServer({ name: 'server', version: '1.0.0' }));
  expect(await ask('initialize', {})).toMatchObject({ error: { code: -32602 } });
  expect(await ask('initialize', from('one', '2025-11-25'))).toMatchObject({ result: { protocolVersion: '2025-11-25' } });
  expect(await ask('initialize', { capabilities: 'x' })).toMatchObject({ error: { code: -32602 } });
  expect(await ask('tools/list')).toMatchObject({ result: { tools: [{ name: 'hello' }] } });
});
