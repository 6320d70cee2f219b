/** v1 programs and peers of the modern era: what v1 had sessions for arrives all the same. */

import { McpClient } from '@mortise/client';
import { inMemoryTransport } from '@mortise/client/in-memory';
import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { revisionsOf } from '@mortise/protocol';
import { McpServer as OurServer } from '@mortise/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { Client } from '../src/client/index.ts';
import { InMemoryTaskStore } from '../src/experimental/tasks/index.ts';
import { McpServer } from '../src/server/mcp.ts';
import type { Transport } from '../src/shared/transport.ts';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  McpError,
  ToolListChangedNotificationSchema,
} from '../src/types.ts';

/** Connects our client, in one era, to a v1 server. */
async function connect(
  server: McpServer,
  era: 'modern' | 'legacy',
  options: ConstructorParameters<typeof McpClient>[1] = {},
): Promise<McpClient> {
  const client = new McpClient({ name: 'client', version: '1.0.0' }, { era, ...options });
  const [near, far] = createInMemoryPair();
  await server.connect(far as unknown as Transport);
  await client.connect(near);
  onTestFinished(() => client.close());
  return client;
}

describe.each(['modern', 'legacy'] as const)('a v1 server and a %s client', (era) => {
  it('reports progress by its token', async () => {
    const server = new McpServer({ name: 'server', version: '1.0.0' });
    server.tool('work', async ({ _meta, sendNotification }) => {
      const progressToken = _meta?.progressToken ?? '';
      for (const progress of [1, 2, 3]) {
        await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } });
      }
      return { content: [] };
    });
    const seen: number[] = [];
    await (await connect(server, era)).callTool('work', {}, { onProgress: ({ progress }) => seen.push(progress) });
    expect(seen).toEqual([1, 2, 3]);
  });

  it('asks the user, the model and for roots inside of a handler', async () => {
    const server = new McpServer({ name: 'server', version: '1.0.0' });
    server.registerTool('ask', {}, async () => {
      const { server: low } = server;
      const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
      const form = await low.elicitInput({ message: 'Who?', requestedSchema });
      const said = await low.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 });
      const { roots } = await low.listRoots();
      const text = JSON.stringify([form.content, said.content, roots.map(({ uri }) => uri), low.getClientVersion()?.name]);
      return { content: [{ type: 'text', text }] };
    });
    const client = await connect(server, era, {
      elicitation: () => ({ action: 'accept', content: { name: 'Ada' } }),
      sampling: () => ({ model: 'm', role: 'assistant', content: { type: 'text', text: 'Hello' } }),
      roots: [{ uri: 'file:///home' }],
    });
    const { content } = await client.callTool('ask');
    expect(content).toMatchObject([{ text: '[{"name":"Ada"},{"type":"text","text":"Hello"},["file:///home"],"client"]' }]);
  });

  it('tells of a tool that was added, and of a log message in a call', async () => {
    const server = new McpServer({ name: 'server', version: '1.0.0' }, { capabilities: { logging: {}, tools: {} } });
    server.tool('log', async () => {
      await server.sendLoggingMessage({ level: 'info', data: 'from a tool' });
      return { content: [] };
    });
    const client = await connect(server, era);
    const [onChange, onLog] = [vi.fn<() => void>(), vi.fn<(data: unknown) => void>()];
    client.onToolsChanged(onChange);
    await client.whenListening();
    client.onLog(({ data }) => onLog(data));
    await client.setLoggingLevel('debug');
    await client.callTool('log');
    server.tool('more', () => ({ content: [] }));
    await vi.waitFor(() => expect(onChange).toHaveBeenCalled());
    await vi.waitFor(() => expect(onLog).toHaveBeenCalledWith('from a tool'));
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['log', 'more']);
  });

  it('gives arguments that do not fit back to the model, in the words of v1', async () => {
    const server = new McpServer({ name: 'server', version: '1.0.0' });
    server.tool('add', { a: z.number(), b: z.number() }, ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }));
    const client = await connect(server, era);
    const { isError, content } = await client.callTool('add', { a: 1 });
    expect(isError).toBe(true);
    expect(content).toMatchObject([
      { text: expect.stringMatching(/^MCP error -32602: Input validation error: Invalid arguments for tool add: .* at b$/u) as string },
    ]);
  });
});

it('runs a tool that needs a task to its end for a client that has no tasks', async () => {
  const server = new McpServer({ name: 'server', version: '1.0.0' }, { capabilities: { tasks: {} }, taskStore: new InMemoryTaskStore() });
  server.experimental.tasks.registerToolTask(
    'slow',
    { inputSchema: { n: z.number() } },
    {
      createTask: async ({ n }, { taskStore }) => {
        const task = await taskStore.createTask({ pollInterval: 1 });
        void taskStore.storeTaskResult(task.taskId, 'completed', { content: [{ type: 'text', text: `done ${n}` }] });
        return { task };
      },
      getTask: (_args, { taskId, taskStore }) => taskStore.getTask(taskId),
      getTaskResult: (_args, { taskId, taskStore }) => taskStore.getTaskResult(taskId) as never,
    },
  );
  const client = await connect(server, 'modern');
  expect((await client.callTool('slow', { n: 4 })).content).toMatchObject([{ text: 'done 4' }]);
});

describe('a v1 client and a server of the modern era alone', () => {
  async function connectTo(server: OurServer, client: Client): Promise<void> {
    const [near, far] = createInMemoryPair();
    await server.connect(far);
    await client.connect(near as unknown as Transport);
    onTestFinished(() => client.close());
  }
  const modern = { revisions: revisionsOf('modern') };

  it('lists, calls, and answers what the server asks', async () => {
    const server = new OurServer({ name: 'modern', version: '2.0.0' }, { ...modern, instructions: 'Ask' });
    server.registerTool('ask', {}, async (ctx) => {
      const { content } = await ctx.elicit({
        message: 'Who?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
      });
      const said = await ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 });
      return JSON.stringify([content, said.content]);
    });
    const client = new Client({ name: 'v1', version: '1.0.0' }, { capabilities: { elicitation: {}, sampling: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: 'm',
      role: 'assistant',
      content: { type: 'text', text: 'Hello' },
    }));
    await connectTo(server, client);
    expect(client.getServerVersion()).toMatchObject({ name: 'modern' });
    expect(client.getInstructions()).toBe('Ask');
    const { tools, ...rest } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['ask']);
    // Nothing that v1 does not know.
    expect(rest).toEqual({ _meta: {} });
    expect(await client.callTool({ name: 'ask' })).toMatchObject({
      content: [{ text: '[{"name":"Ada"},{"type":"text","text":"Hello"}]' }],
    });
    await expect(client.ping()).resolves.toEqual({});
  });

  it('hears of changed lists and of log messages, and gets errors as McpError', async () => {
    const server = new OurServer({ name: 'modern', version: '2.0.0' }, { ...modern, capabilities: { logging: {} } });
    server.registerTool('log', {}, async (ctx) => {
      await ctx.log('info', 'from a tool');
      return 'done';
    });
    const client = new Client({ name: 'v1', version: '1.0.0' });
    const [onChange, onLog] = [vi.fn<() => void>(), vi.fn<(data: unknown) => void>()];
    client.setNotificationHandler(ToolListChangedNotificationSchema, onChange);
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => onLog(params.data));
    await connectTo(server, client);
    await client.setLoggingLevel('debug');
    await client.callTool({ name: 'log' });
    expect(onLog).toHaveBeenCalledWith('from a tool');
    server.registerTool('more', {}, () => 'x');
    await vi.waitFor(() => expect(onChange).toHaveBeenCalled());
    const error = await client.callTool({ name: 'missing' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(McpError);
    expect(error).toMatchObject({ code: -32602 });
  });
});

it('opens a session with a server that has both eras, as v1 does', async () => {
  const server = new OurServer({ name: 'both', version: '2.0.0' });
  const onOpened = vi.fn<() => void>();
  server.setNotificationHandler('notifications/initialized', onOpened);
  const client = new Client({ name: 'v1', version: '1.0.0' });
  await client.connect(inMemoryTransport(server, { via: 'channel' })() as unknown as Transport);
  onTestFinished(() => client.close());
  expect(onOpened).toHaveBeenCalled();
});
