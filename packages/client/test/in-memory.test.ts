/** A client and a real server in one process, in every revision and both ways. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { REVISIONS } from '@mortise/protocol';
import { completable, McpServer, ResourceTemplate } from '@mortise/server';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import type { McpClient } from '../src/index.ts';
import { connectInMemory, type InMemoryConnectOptions, inMemoryTransport } from '../src/in-memory.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

function makeServer(): McpServer {
  const server = new McpServer({ name: 'calculator', version: '1.0.0' }, { instructions: 'count on it' });
  open.push(server);
  server.registerTool(
    'add',
    { description: 'Add', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
      structuredContent: { sum: a + b },
    }),
  );
  server.registerTool('fail', {}, () => {
    throw new Error('it broke');
  });
  server.registerTool('slow', { inputSchema: { steps: z.number() } }, async ({ steps }, ctx) => {
    for (let step = 1; step <= steps; step += 1) {
      ctx.signal.throwIfAborted();
      await ctx.progress(step, steps);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return 'done';
  });
  server.registerTool('who', {}, async (ctx) => {
    const answer = await ctx.elicit({ message: 'who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } });
    return answer.action === 'accept' ? `hello ${String((answer.content as JsonObject)['name'])}` : 'nobody';
  });
  server.registerResource('readme', 'docs://readme', { title: 'Read me' }, () => 'read me');
  server.registerResource(
    'greeting',
    new ResourceTemplate('greeting://{name}', { list: undefined }),
    {},
    (_uri, { name }) => `Hello, ${String(name)}!`,
  );
  server.registerPrompt(
    'explain',
    { argsSchema: { topic: completable(z.string(), (value) => ['maths', 'music'].filter((topic) => topic.startsWith(value))) } },
    ({ topic }) => `Explain ${topic}`,
  );
  return server;
}

async function connect(server: McpServer, options: InMemoryConnectOptions): Promise<McpClient> {
  const client = await connectInMemory(server, options);
  open.push(client);
  return client;
}

const ways = REVISIONS.flatMap(({ version, era }) =>
  (era === 'modern' ? (['exchange', 'channel', 'json'] as const) : (['channel', 'json'] as const)).map((via) => ({ version, era, via })),
);

describe.each(ways)('$version by $via', ({ version, era, via }) => {
  const options = { protocolVersion: version, via };

  it('connects in that revision', async () => {
    const client = await connect(makeServer(), options);
    expect(client).toMatchObject({
      era,
      protocolVersion: version,
      serverInfo: { name: 'calculator', version: '1.0.0' },
      instructions: 'count on it',
    });
  });

  it('lists, calls, reads, prompts and completes', async () => {
    const client = await connect(makeServer(), options);
    const names: string[] = [];
    for await (const { name } of client.tools()) names.push(name);
    expect(names).toEqual(['add', 'fail', 'slow', 'who']);
    expect((await client.callTool('add', { a: 1, b: 2 })).content[0]).toMatchObject({ type: 'text', text: '3' });
    expect(await client.callTool('fail')).toMatchObject({ isError: true });
    expect((await client.readResource('docs://readme')).contents).toMatchObject([{ text: 'read me' }]);
    expect((await client.readResource(new URL('greeting://Ada'))).contents).toMatchObject([{ text: 'Hello, Ada!' }]);
    await expect(client.readResource('docs://none')).rejects.toMatchObject({ code: 'ERR_RESOURCE_NOT_FOUND' });
    expect((await client.getPrompt('explain', { topic: 'maths' })).messages).toMatchObject([{ content: { text: 'Explain maths' } }]);
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'explain' },
      argument: { name: 'topic', value: 'mu' },
    });
    expect(completion.values).toEqual(['music']);
  });

  it('tells progress, and cancels', async () => {
    const client = await connect(makeServer(), options);
    const seen: number[] = [];
    await client.callTool('slow', { steps: 3 }, { onProgress: ({ progress }) => seen.push(progress) });
    expect(seen.at(-1)).toBe(3);
    const controller = new AbortController();
    const call = client.callTool(
      'slow',
      { steps: 100_000 },
      { signal: controller.signal, onProgress: () => controller.abort(new Error('enough')) },
    );
    await expect(call).rejects.toThrow('enough');
  });

  it('rejects an aborted call with the very reason of its signal, whatever that is', async () => {
    const client = await connect(makeServer(), options);
    const abort = (reason?: unknown): Promise<unknown> => {
      const controller = new AbortController();
      const call = client.callTool('slow', { steps: 100_000 }, { signal: controller.signal, onProgress: () => controller.abort(reason) });
      return call.catch((error: unknown) => error);
    };
    expect(await abort('bored')).toBe('bored');
    const reason = new Error('enough');
    expect(await abort(reason)).toBe(reason);
    expect(await abort()).toMatchObject({ name: 'AbortError' });
    await expect(client.callTool('slow', { steps: 1 }, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it.runIf(era === 'legacy' && version >= '2025-06-18')('asks the user in the middle of a call', async () => {
    const client = await connect(makeServer(), { ...options, elicitation: () => ({ action: 'accept', content: { name: 'Ada' } }) });
    expect((await client.callTool('who')).content).toMatchObject([{ text: 'hello Ada' }]);
  });

  it('is told when the tools change', async () => {
    const server = makeServer();
    const client = await connect(server, options);
    const changed = new Promise<readonly string[]>((resolve) => {
      client.onToolsChanged(async () => resolve((await client.listTools()).tools.map(({ name }) => name)));
    });
    // Changes before the server has acknowledged the wish are not promised.
    await client.listen({ toolsListChanged: true }).accepted;
    server.registerTool('new', {}, () => 'new');
    expect(await changed).toContain('new');
  });

  it('many calls at once get each its own answer', async () => {
    const client = await connect(makeServer(), options);
    const sums = await Promise.all(Array.from({ length: 200 }, (_, a) => client.callTool('add', { a, b: 1 })));
    expect(sums.map(({ content }) => (content[0] as { text: string }).text)).toEqual(Array.from({ length: 200 }, (_, a) => String(a + 1)));
  });
});

it('detects the era of a server that speaks both: the modern one', async () => {
  expect((await connect(makeServer(), {})).era).toBe('modern');
  expect((await connect(makeServer(), { via: 'channel' })).era).toBe('modern');
  expect((await connect(makeServer(), { era: 'legacy' })).era).toBe('legacy');
});

describe.each(ways)('on whose behalf, $version by $via', ({ version, via }) => {
  const options = { protocolVersion: version, via };

  function makeGuarded(): McpServer {
    const server = new McpServer({ name: 's', version: '1' });
    open.push(server);
    server.registerTool('me', {}, (ctx) => `${ctx.principal} ${ctx.auth?.clientId ?? ''}`);
    server.registerTool('purge', { scopes: ['admin'] }, () => 'purged');
    return server;
  }

  it('tells the server the principal and the token, against which scopes are checked', async () => {
    const auth = { principal: 'ada', clientId: 'c', scopes: [] };
    const client = await connect(makeGuarded(), { ...options, principal: 'ada', auth });
    expect((await client.callTool('me')).content).toMatchObject([{ text: 'ada c' }]);
    await expect(client.callTool('purge')).rejects.toThrow('admin');
    const admin = await connect(makeGuarded(), { ...options, auth: { ...auth, scopes: ['admin'] } });
    expect((await admin.callTool('purge')).content).toMatchObject([{ text: 'purged' }]);
  });

  it('takes the principal of the token where none is given, and "local" without both', async () => {
    const ada = await connect(makeGuarded(), { ...options, auth: { principal: 'ada', scopes: [] } });
    expect((await ada.callTool('me')).content).toMatchObject([{ text: 'ada ' }]);
    const local = await connect(makeGuarded(), options);
    expect((await local.callTool('me')).content).toMatchObject([{ text: 'local ' }]);
    expect((await local.callTool('purge')).content).toMatchObject([{ text: 'purged' }]);
  });
});

it.each(['legacy', 'modern'] as const)('tells its logger what a handler threw, in the %s era', async (era) => {
  const told: unknown[] = [];
  const client = await connect(makeServer(), { era, logger: { log: (_level, _message, data) => told.push(data?.['error']) } });
  await client.callTool('fail');
  expect(told).toEqual([expect.objectContaining({ message: 'it broke' })]);
});

it.each(['2025-11-25', '2026-07-28'])(
  '[VERS-012][CAP-013] each side sees in %s the extension that the other has',
  async (protocolVersion) => {
    const id = 'com.example/clock';
    const server = new McpServer(
      { name: 's', version: '1' },
      { extensions: [{ id, settings: { zone: 'UTC' }, install: () => undefined }] },
    );
    open.push(server);
    server.registerTool('seen', {}, (ctx) => JSON.stringify(ctx.client.capabilities.extensions));
    const client = await connect(server, { protocolVersion, extensions: [{ id, settings: { format: ['iso'] } }] });
    expect(client.serverCapabilities.extensions).toEqual({ [id]: { zone: 'UTC' } });
    expect(await client.callTool('seen')).toMatchObject({ content: [{ text: JSON.stringify({ [id]: { format: ['iso'] } }) }] });
  },
);

it('shows what a handler threw on the console where neither side has a logger', async () => {
  const spy = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => spy.mockRestore());
  const client = await connect(makeServer(), {});
  await client.callTool('fail');
  expect(spy.mock.calls).toEqual([
    [expect.any(String), expect.objectContaining({ error: expect.objectContaining({ message: 'it broke' }) as unknown })],
  ]);
});

it.each([
  { what: 'throws', elicitation: (): never => expect.fail('window closed'), why: 'window closed' },
  {
    what: 'answers with what the form does not allow',
    elicitation: () => ({ action: 'accept', content: { name: 5 } }) as const,
    why: '"name" must be',
  },
])('shows that a handler $what for a legacy server: to the model, and to the program wherever it listens', async ({ elicitation, why }) => {
  const spy = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => spy.mockRestore());
  const onConsole = (): unknown[] => spy.mock.calls.splice(0).filter(([text]) => String(text).includes('of the server:'));
  const text = 'The client could not answer "elicitation/create": its handler failed';
  const error = expect.objectContaining({ message: expect.stringContaining(why) as string }) as unknown;
  const call = async (options: InMemoryConnectOptions): Promise<void> => {
    const client = await connect(makeServer(), { era: 'legacy', elicitation, ...options });
    expect(await client.callTool('who')).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(text) as string }] });
  };
  await call({});
  expect(onConsole()).toEqual([['The client could not answer "elicitation/create" of the server:', error]]);
  const errors: unknown[] = [];
  await call({ onError: (given) => errors.push(given) });
  expect(errors).toEqual([error]);
  const lines: string[] = [];
  await call({ logger: { log: (_level, message) => lines.push(message) } });
  expect(lines).toContainEqual(expect.stringContaining(why));
  expect(onConsole()).toEqual([]);
});

it.each([undefined, {}, { connect: () => undefined }])('refuses what is no server: %j', async (nothing) => {
  await expect(connectInMemory(nothing as never)).rejects.toThrow('connectInMemory(server) needs a server with the functions');
});

it('gives transports for clients of other kinds', () => {
  expect(inMemoryTransport(makeServer())()).toHaveProperty('exchange');
  expect(inMemoryTransport(makeServer(), { via: 'channel' })()).toHaveProperty('send');
});
