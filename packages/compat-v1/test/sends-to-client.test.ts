/** What a v1 server sends to its client beside results: progress of its questions, and a stream that it ends early. */

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Client } from '../src/client/index.ts';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '../src/client/streamableHttp.ts';
import { InMemoryTransport } from '../src/inMemory.ts';
import { McpServer } from '../src/server/mcp.ts';
import { type EventStore, StreamableHTTPServerTransport } from '../src/server/streamableHttp.ts';
import type { Transport } from '../src/shared/transport.ts';
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  CreateMessageResultSchema,
  type JSONRPCMessage,
  LoggingMessageNotificationSchema,
} from '../src/types.ts';

class MemoryEvents implements EventStore {
  readonly #events: (readonly [id: string, streamId: string, message: JSONRPCMessage])[] = [];

  async storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const id = `${streamId}_${this.#events.length}`;
    this.#events.push([id, streamId, message]);
    return id;
  }

  async replayEventsAfter(lastId: string, { send }: Parameters<EventStore['replayEventsAfter']>[1]): Promise<string> {
    const streamId = lastId.slice(0, lastId.lastIndexOf('_'));
    const at = this.#events.findIndex(([id]) => id === lastId);
    for (const [id, stream, message] of this.#events.slice(at + 1)) if (stream === streamId) await send(id, message);
    return streamId;
  }
}

/** The two ends, over HTTP with a session, or in memory. */
async function connect(client: Client, server: McpServer, way: 'HTTP' | 'memory'): Promise<void> {
  onTestFinished(() => client.close());
  if (way === 'memory') {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(far), client.connect(near)]);
    return;
  }
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, eventStore: new MemoryEvents(), retryInterval: 1 });
  await server.connect(transport as Transport);
  const http = createServer((request, response) => void transport.handleRequest(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  onTestFinished(async () => {
    await server.close();
    http.closeAllConnections();
    http.close();
  });
  const url = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url) as Transport);
}

it.each(['HTTP', 'memory'] as const)("tells a server of its client's progress on a question, over %s", async (way) => {
  const server = new McpServer({ name: 'server', version: '1.0.0' });
  const seen: unknown[] = [];
  server.registerTool('ask', {}, async () => {
    const params = { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }], maxTokens: 5 };
    await server.server.createMessage(params, { onprogress: (progress) => seen.push(progress) });
    return { content: [] };
  });
  const client = new Client({ name: 'client', version: '1.0.0' }, { capabilities: { sampling: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, async ({ params }, { sendNotification }) => {
    const progressToken = params._meta?.progressToken ?? '';
    await sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
    return { model: 'none', role: 'assistant', content: { type: 'text', text: 'Hello' } };
  });
  await connect(client, server, way);
  await client.callTool({ name: 'ask' });
  expect(seen).toEqual([{ progress: 1, total: 2 }]);
});

it.each(['HTTP', 'memory'] as const)(
  'waits for an answer as long as the program says, whatever progress the client reports, over %s',
  async (way) => {
    const server = new McpServer({ name: 'server', version: '1.0.0' });
    const tokens: unknown[] = [];
    server.registerTool('ask', {}, async (extra) => {
      const params = { messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Hi' } }], maxTokens: 5 };
      const limits = [{ timeout: 100 }, { timeout: 100, maxTotalTimeout: 200, resetTimeoutOnProgress: true, onprogress: () => undefined }];
      const asked = limits.map((limit) =>
        extra
          .sendRequest({ method: 'sampling/createMessage', params }, CreateMessageResultSchema, limit)
          .catch(({ message }: Error) => message),
      );
      return { content: (await Promise.all(asked)).map((text) => ({ type: 'text' as const, text: String(text) })) };
    });
    const client = new Client({ name: 'client', version: '1.0.0' }, { capabilities: { sampling: {} } });
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }, { sendNotification, signal }) => {
      const progressToken = params._meta?.progressToken;
      tokens.push(progressToken);
      for (let progress = 1; !signal.aborted; progress++) {
        if (progressToken !== undefined) await sendNotification({ method: 'notifications/progress', params: { progressToken, progress } });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return { model: 'none', role: 'assistant', content: { type: 'text', text: 'too late' } };
    });
    await connect(client, server, way);
    const { content } = CallToolResultSchema.parse(await client.callTool({ name: 'ask' }));
    expect(content).toMatchObject([
      { text: 'MCP error -32001: Request timed out' },
      { text: expect.stringContaining('Maximum total timeout exceeded') as string },
    ]);
    expect(tokens).toEqual([undefined, expect.anything()]);
  },
);

it('ends the stream outside of requests early, and the client resumes it', async () => {
  const server = new McpServer({ name: 'server', version: '1.0.0' }, { capabilities: { logging: {} } });
  let closed = 0;
  server.registerTool('leave', {}, async ({ closeStandaloneSSEStream }) => {
    if (closeStandaloneSSEStream) closed += 1;
    closeStandaloneSSEStream?.();
    await server.sendLoggingMessage({ level: 'info', data: 'after' });
    return { content: [] };
  });
  const client = new Client({ name: 'client', version: '1.0.0' });
  const heard: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params.data));
  await connect(client, server, 'HTTP');
  // The client opens its stream beside its other requests.
  await vi.waitFor(async () => {
    await server.sendLoggingMessage({ level: 'info', data: 'open' });
    expect(heard).toContain('open');
  }, 60_000);
  await client.callTool({ name: 'leave' });
  expect(closed).toBe(1);
  await vi.waitFor(() => expect(heard).toContain('after'), 60_000);
});

it('sends what a program sends over the transport itself, to a request and outside of requests', async () => {
  const server = new McpServer({ name: 'server', version: '1.0.0' }, { capabilities: { logging: {} } });
  const log = (data: string): JSONRPCMessage => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data } });
  server.registerTool('log', {}, async ({ requestId }) => {
    await server.server.transport?.send(log('in a call'), { relatedRequestId: requestId });
    return { content: [] };
  });
  const client = new Client({ name: 'client', version: '1.0.0' });
  const heard: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void heard.push(params.data));
  await connect(client, server, 'HTTP');
  await client.callTool({ name: 'log' });
  expect(heard).toEqual(['in a call']);
  await vi.waitFor(async () => {
    await server.server.transport?.send(log('outside'));
    expect(heard).toContain('outside');
  }, 60_000);
});

it('tells a client of a lost session by status 404', async () => {
  let isLost = false;
  const http = createServer((request, response) => {
    if (isLost || request.method !== 'POST') return void response.writeHead(isLost ? 404 : 405).end();
    let body = '';
    request.on('data', (part: Buffer) => (body += part.toString()));
    request.on('end', () => {
      const { id } = JSON.parse(body) as { id?: number };
      const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } };
      response.writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
      response.end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  onTestFinished(() => void http.close());
  const client = new Client({ name: 'client', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`)) as Transport,
  );
  isLost = true;
  const error: unknown = await client.listTools().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(StreamableHTTPError);
  expect(error).toMatchObject({ code: 404 });
  await client.close();
});
