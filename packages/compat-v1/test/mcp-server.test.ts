/** v1's own way of writing a server and a client, over our server and client. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { z as z3 } from 'zod-3-25';
import { Client, type ClientOptions } from '../src/client/index.ts';
import { InMemoryTransport } from '../src/inMemory.ts';
import { completable } from '../src/server/completable.ts';
import { Server } from '../src/server/index.ts';
import { McpServer, ResourceTemplate } from '../src/server/mcp.ts';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListRootsRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ResultSchema,
  UrlElicitationRequiredError,
} from '../src/types.ts';

const INFO = { name: 'server', version: '1.0.0' };

async function connect(server: McpServer | Server, options: ClientOptions = {}, prepare?: (client: Client) => void): Promise<Client> {
  const client = new Client({ name: 'client', version: '1.0.0' }, options);
  prepare?.(client);
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  onTestFinished(() => client.close());
  return client;
}

describe('McpServer', () => {
  it.each([
    ['zod 4', { a: z.number().describe('First'), b: z.number() }],
    ['zod 3 of another copy', { a: z3.number().describe('First'), b: z3.number() }],
  ] as const)('lists and calls a tool with a shape of %s', async (_name, shape) => {
    const server = new McpServer(INFO);
    server.registerTool('add', { title: 'Add', inputSchema: shape as { a: z.ZodNumber; b: z.ZodNumber } }, ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
    }));
    const client = await connect(server);
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      {
        name: 'add',
        title: 'Add',
        execution: { taskSupport: 'forbidden' },
        inputSchema: { properties: { a: { type: 'number', description: 'First' } }, required: ['a', 'b'] },
      },
    ]);
    expect(tools[0]?.inputSchema['$schema']).toBe('http://json-schema.org/draft-07/schema#');
    expect(await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).toEqual({ content: [{ type: 'text', text: '3' }] });
  });

  it('gives what a tool throws to the model, and a page that it needs to the client', async () => {
    const server = new McpServer(INFO);
    server.tool('fail', () => {
      throw new Error('no luck');
    });
    server.tool('page', 'Needs a page', () => {
      throw new UrlElicitationRequiredError(
        [{ mode: 'url', message: 'Sign in', elicitationId: '1', url: 'https://example.com/' }],
        'First sign in',
      );
    });
    const client = await connect(server, { capabilities: { elicitation: { url: {} } } });
    expect(await client.callTool({ name: 'fail' })).toEqual({ content: [{ type: 'text', text: 'no luck' }], isError: true });
    expect(await client.callTool({ name: 'gone' })).toMatchObject({
      content: [{ text: 'MCP error -32602: Tool gone not found' }],
      isError: true,
    });
    const error = await client.callTool({ name: 'page' }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UrlElicitationRequiredError);
    expect((error as UrlElicitationRequiredError).message).toContain('First sign in');
    expect((error as UrlElicitationRequiredError).elicitations).toMatchObject([{ url: 'https://example.com/' }]);
  });

  it.each([undefined, 'text', { content: [{ type: 'text' }] }])(
    'gives the client an error for the invalid result %j of a tool',
    async (result) => {
      const server = new McpServer(INFO);
      server.tool('wrong', () => result as never);
      const client = await connect(server);
      await expect(client.callTool({ name: 'wrong' })).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
    },
  );

  it('changes, hides and removes a tool by its handle, and tells the client each time', async () => {
    const server = new McpServer(INFO);
    const tool = server.tool('one', { a: z.string() }, ({ a }) => ({ content: [{ type: 'text', text: a }] }));
    const onChanged = vi.fn<(error: Error | null, items: readonly { name: string }[] | null) => void>();
    const client = await connect(server, { listChanged: { tools: { onChanged, debounceMs: 0 } } });
    tool.update({ name: 'two', paramsSchema: { n: z.number() }, callback: ({ n }) => ({ content: [{ type: 'text', text: `n ${n}` }] }) });
    await vi.waitFor(() => expect(onChanged).toHaveBeenCalledTimes(1));
    expect(onChanged.mock.calls[0]?.[1]?.map(({ name }) => name)).toEqual(['two']);
    expect(await client.callTool({ name: 'two', arguments: { n: 2 } })).toMatchObject({ content: [{ text: 'n 2' }] });
    tool.disable();
    expect((await client.listTools()).tools).toEqual([]);
    tool.remove();
    expect(await client.callTool({ name: 'two' })).toMatchObject({ content: [{ text: 'MCP error -32602: Tool two not found' }] });
    expect(() => server.tool('three', { type: { nested: true } } as never, () => ({ content: [] }))).toThrow('unrecognized object');
  });

  it('reads resources and templates, gets prompts, and completes their arguments', async () => {
    const server = new McpServer(INFO);
    server.resource('config', 'config://app', { mimeType: 'text/plain' }, (uri) => ({ contents: [{ uri: uri.href, text: 'on' }] }));
    const template = new ResourceTemplate('user://{id}', {
      list: () => ({ resources: [{ uri: 'user://1', name: 'One' }] }),
      complete: { id: (value) => ['1', '12', '2'].filter((id) => id.startsWith(value)) },
    });
    server.registerResource('user', template, { title: 'User', icons: [{ src: 'icons/user.png' }] }, (uri, { id }) => ({
      contents: [{ uri: uri.href, text: `user ${String(id)}` }],
    }));
    server.prompt('greet', { name: completable(z.string(), (value) => [`${value}!`]) }, ({ name }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Hi ${name}` } }],
    }));
    const client = await connect(server);
    expect((await client.listResources()).resources).toEqual([
      { uri: 'config://app', name: 'config', mimeType: 'text/plain' },
      { uri: 'user://1', name: 'One', title: 'User', icons: [{ src: 'icons/user.png' }] },
    ]);
    expect((await client.readResource({ uri: 'user://7' })).contents).toEqual([{ uri: 'user://7', text: 'user 7' }]);
    await expect(client.readResource({ uri: 'none://' })).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
    expect((await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } })).messages).toMatchObject([
      { content: { text: 'Hi Ada' } },
    ]);
    await expect(client.getPrompt({ name: 'greet' })).rejects.toThrow('Invalid arguments for prompt greet');
    const ofTemplate = { ref: { type: 'ref/resource' as const, uri: 'user://{id}' }, argument: { name: 'id', value: '1' } };
    expect((await client.complete(ofTemplate)).completion).toEqual({ values: ['1', '12'], total: 2, hasMore: false });
    const ofPrompt = { ref: { type: 'ref/prompt' as const, name: 'greet' }, argument: { name: 'name', value: 'A' } };
    expect((await client.complete(ofPrompt)).completion.values).toEqual(['A!']);
  });
});

describe('Server', () => {
  it('takes handlers by request schema, asks outside of any request, and answers methods of its own', async () => {
    const server = new Server(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: 'x', inputSchema: { type: 'object' } }] }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal, requestId }) => ({
      content: [{ type: 'text', text: `${params.name} ${String(signal.aborted)} ${typeof requestId}` }],
    }));
    server.setRequestHandler(z.object({ method: z.literal('acme/twice'), params: z.object({ n: z.number() }) }), ({ params }) => ({
      twice: params.n * 2,
    }));
    const opened = vi.fn<() => void>();
    server.oninitialized = opened;
    const client = await connect(server, { capabilities: { roots: {} } }, (each) =>
      each.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///home' }] })),
    );
    expect(opened).toHaveBeenCalledTimes(1);
    expect(server.getClientCapabilities()).toEqual({ roots: {} });
    expect(await server.listRoots()).toEqual({ roots: [{ uri: 'file:///home' }] });
    expect(await client.callTool({ name: 'x' })).toMatchObject({ content: [{ text: 'x false number' }] });
    const own = { method: 'acme/twice', params: { n: 4 } } as never;
    expect(await client.request(own, ResultSchema)).toEqual({ twice: 8 });
    await expect(client.request({ method: 'acme/twice', params: { n: 'x' } } as never, ResultSchema)).rejects.toBeInstanceOf(McpError);
    await expect(client.request({ method: 'acme/none' } as never, ResultSchema)).rejects.toMatchObject({ code: ErrorCode.MethodNotFound });
  });

  it('gives requests and notifications without a handler to the fallbacks', async () => {
    const server = new Server(INFO, {});
    server.fallbackRequestHandler = async ({ method }) => ({ method });
    const noticed: string[] = [];
    server.fallbackNotificationHandler = async ({ method }) => void noticed.push(method);
    const client = await connect(server, {}, (each) => {
      each.fallbackRequestHandler = async ({ method }) => ({ from: method });
    });
    expect(await client.request({ method: 'acme/any' } as never, ResultSchema)).toEqual({ method: 'acme/any' });
    expect(await server.request({ method: 'acme/back' } as never, ResultSchema)).toEqual({ from: 'acme/back' });
    await client.notification({ method: 'notifications/progress', params: { progressToken: 'none', progress: 1 } });
    await client.notification({ method: 'notifications/cancelled', params: { requestId: 'none' } });
    await client.notification({ method: 'acme/note' } as never);
    expect(noticed).toEqual(['acme/note']);
  });

  it('ends with its connection, and can serve another', async () => {
    const server = new Server(INFO, {});
    const closed = vi.fn<() => void>();
    server.onclose = closed;
    const asked = vi.fn<() => void>();
    const client = await connect(server, {}, (each) => {
      each.fallbackRequestHandler = () => {
        asked();
        return new Promise(() => undefined);
      };
    });
    await expect(server.connect(InMemoryTransport.createLinkedPair()[0])).rejects.toThrow('Already connected');
    const pending = server.request({ method: 'acme/never' } as never, ResultSchema);
    pending.catch(() => undefined);
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    await client.close();
    await expect(pending).rejects.toBeInstanceOf(McpError);
    expect(closed).toHaveBeenCalledTimes(1);
    expect(server.transport).toBeUndefined();
    await expect(client.ping()).rejects.toThrow('Not connected');
    await expect((await connect(server)).ping()).resolves.toEqual({});
  });

  it('rejects a question that the client does not declare, with the code of v1', async () => {
    const server = new Server(INFO, {});
    await connect(server);
    await expect(server.listRoots()).rejects.toMatchObject({ name: 'McpError', code: ErrorCode.MethodNotFound });
  });

  it('refuses what the other side does not declare, if it is told to', async () => {
    const server = new Server(INFO, { enforceStrictCapabilities: true });
    const client = await connect(server, { enforceStrictCapabilities: true });
    await expect(client.listTools()).rejects.toThrow('Server does not support tools (required for tools/list)');
    await expect(server.listRoots()).rejects.toThrow('Client does not support listing roots (required for roots/list)');
    expect(() => server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }))).toThrow('Server does not support tools');
  });
});

describe('Client', () => {
  it('checks structured output by the schema that was listed', async () => {
    const server = new Server(INFO, { capabilities: { tools: {} } });
    const outputSchema = { type: 'object' as const, properties: { n: { type: 'number' } }, required: ['n'] };
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: 'x', inputSchema: { type: 'object' }, outputSchema }] }));
    server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({ content: [], structuredContent: params.arguments ?? {} }));
    const client = await connect(server);
    await client.listTools();
    expect(await client.callTool({ name: 'x', arguments: { n: 1 } })).toMatchObject({ structuredContent: { n: 1 } });
    await expect(client.callTool({ name: 'x', arguments: { n: 'one' } })).rejects.toThrow('Structured content does not match');
  });

  it('gives up on time and on an abort, and tells the server', async () => {
    const server = new McpServer(INFO);
    const [started, aborted] = [vi.fn<() => void>(), vi.fn<() => void>()];
    server.tool('hang', ({ signal }) => {
      started();
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted();
          resolve({ content: [] });
        });
      });
    });
    const client = await connect(server);
    await expect(client.callTool({ name: 'hang' }, undefined, { timeout: 5 })).rejects.toMatchObject({ code: ErrorCode.RequestTimeout });
    const control = new AbortController();
    const called = client.callTool({ name: 'hang' }, undefined, { signal: control.signal });
    await vi.waitFor(() => expect(started).toHaveBeenCalledTimes(2));
    control.abort('enough');
    await expect(called).rejects.toThrow('MCP error -32001: enough');
    await vi.waitFor(() => expect(aborted).toHaveBeenCalledTimes(2));
  });
});
