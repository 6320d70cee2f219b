/** A gateway between clients and servers of each era: everything passes in both directions. */

import { type ClientOptions, McpClient } from '@mortise/client';
import { connectInMemory, inMemoryTransport } from '@mortise/client/in-memory';
import type { JsonObject } from '@mortise/jsonrpc-core';
import type { ClientCapabilities, Resource, Tool } from '@mortise/protocol/model';
import { completable, inputRequired, type McpServer, ResourceTemplate, UrlElicitationRequiredError } from '@mortise/server';
import { Server } from '@mortise/server/low-level';
import { type TaskClient, taskClient } from '@mortise/tasks/client';
import { createTasks } from '@mortise/tasks/server';
import { httpTransport } from '@mortise/transport-http/client';
import { serveHttp } from '@mortise/transport-http/node';
import { createHttpHandler } from '@mortise/transport-http/server';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { webSocketTransport } from '@mortise/transport-ws-custom/client';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { createGateway, type Gateway, type GatewayOptions, type GatewayServer } from '../src/gateway.ts';
import { makeEcho, makeServer, openHost, textOf } from './servers.ts';

type Era = 'legacy' | 'modern';

const pairings: readonly (readonly [front: Era, behind: Era])[] = [
  ['legacy', 'legacy'],
  ['legacy', 'modern'],
  ['modern', 'legacy'],
  ['modern', 'modern'],
];

function behind(server: McpServer, era: Era, more: Omit<GatewayServer, 'transport' | 'transportFor'> = {}): GatewayServer {
  return { transport: inMemoryTransport(server), client: { era }, ...more };
}

function openGateway(servers: GatewayOptions['servers'], more: Omit<GatewayOptions, 'servers'> = {}): Gateway {
  const gateway = createGateway({ servers, ...more });
  onTestFinished(() => gateway.close());
  return gateway;
}

async function connect(gateway: Gateway, era: Era, options: ClientOptions & { readonly principal?: string } = {}): Promise<McpClient> {
  const client = await connectInMemory(gateway, { era, logger: { log: () => undefined }, ...options });
  onTestFinished(() => client.close());
  return client;
}

const who = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } } as const;

describe.each(pairings)('a %s client and a %s server', (front, back) => {
  it('exchange tools, results, errors and structured content', async () => {
    const server = makeServer('calculator');
    const schema = { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } };
    server.registerTool('add', { description: 'Adds', ...schema }, ({ a, b }) => ({ structuredContent: { sum: a + b } }));
    server.registerTool('fail', {}, () => {
      throw new Error('it broke');
    });
    const client = await connect(openGateway({ calc: behind(server, back) }), front);
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([{ name: 'calc__add', description: 'Adds', outputSchema: { type: 'object' } }, { name: 'calc__fail' }]);
    expect((await client.callTool('calc__add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 });
    expect(await client.callTool('calc__fail')).toMatchObject({ isError: true, content: [{ text: 'it broke' }] });
    expect(await client.callTool('calc__add', { a: 'x' })).toMatchObject({ isError: true });
    await expect(client.callTool('calc__other')).rejects.toMatchObject({ rpcCode: -32602 });
    expect(client.serverInfo?.name).toBe('mortise-gateway');
  });

  it('exchange prompts, resources, templates, completions and pages', async () => {
    const server = makeServer('docs');
    server.registerPrompt(
      'explain',
      { argsSchema: { topic: completable(z.string(), () => ['maths', 'music']) } },
      ({ topic }) => `Explain ${topic}`,
    );
    server.registerResource('readme', 'docs://readme', { mimeType: 'text/plain' }, () => 'read me');
    server.registerResource(
      'people',
      new ResourceTemplate('people://{name}', { list: undefined, complete: { name: () => ['ann'] } }),
      {},
      (uri) => uri.href,
    );
    server.registerResource('binary', 'docs://binary', {}, () => new Uint8Array([1, 2, 3]));
    const gateway = openGateway({ docs: behind(server, back), other: behind(makeEcho('other'), back) }, { endpoint: { pageSize: 1 } });
    const client = await connect(gateway, front);
    expect((await client.getPrompt('docs__explain', { topic: 'maths' })).messages).toMatchObject([{ content: { text: 'Explain maths' } }]);
    expect((await client.listResources()).nextCursor).toBe('1');
    const uris: string[] = [];
    for await (const { uri } of client.resources()) uris.push(uri);
    expect(uris).toEqual(['docs://readme', 'docs://binary']);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([{ uriTemplate: 'people://{name}' }]);
    expect((await client.readResource('docs://readme')).contents).toMatchObject([{ text: 'read me', mimeType: 'text/plain' }]);
    expect((await client.readResource('people://ann')).contents).toMatchObject([{ text: 'people://ann' }]);
    expect((await client.readResource('docs://binary')).contents).toMatchObject([{ blob: 'AQID' }]);
    await expect(client.readResource('docs://nothing')).rejects.toMatchObject({ code: 'ERR_RESOURCE_NOT_FOUND', uri: 'docs://nothing' });
    const prompt = { type: 'ref/prompt', name: 'docs__explain' } as const;
    expect((await client.complete({ ref: prompt, argument: { name: 'topic', value: 'm' } })).completion.values).toEqual(['maths', 'music']);
    const template = { type: 'ref/resource', uri: 'people://{name}' } as const;
    expect((await client.complete({ ref: template, argument: { name: 'name', value: '' } })).completion.values).toEqual(['ann']);
    await expect(client.listTools({ cursor: 'x' })).rejects.toMatchObject({ rpcCode: -32602 });
  });

  it('exchange questions in mid-call: forms, sampling and roots, one after the other and at once', async () => {
    const server = makeServer('asking', { capabilities: { logging: {} } });
    const ran = vi.fn();
    server.registerTool('ask', {}, async (ctx) => {
      ran();
      const first = (await ctx.elicit(who)) as { readonly content?: JsonObject; readonly action: string };
      const [{ roots }, sampled] = await Promise.all([
        ctx.listRoots(),
        ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 }),
      ]);
      return `${first.action} ${String(first.content?.['name'])}, ${roots[0]?.uri ?? ''}, ${sampled.model}`;
    });
    const client = await connect(openGateway({ asking: behind(server, back) }), front, {
      elicitation: () => ({ action: 'accept', content: { name: 'Ann' } }),
      sampling: () => ({ role: 'assistant', model: 'm1', content: { type: 'text', text: 'Ho' } }),
      roots: [{ uri: 'file:///home/ann' }],
    });
    expect(textOf(await client.callTool('asking__ask'))).toBe('accept Ann, file:///home/ann, m1');
    // A legacy server's handler goes on where it was; a modern one's runs again, as always.
    expect(ran).toHaveBeenCalledTimes(back === 'legacy' ? 1 : 3);
  });

  it('exchange roots that change, and completions that depend on other arguments', async () => {
    const server = makeServer('asking');
    server.registerTool('where', {}, async (ctx) => (await ctx.listRoots()).roots.map(({ uri }) => uri).join());
    const cities: Readonly<Record<string, readonly string[]>> = { fr: ['Paris'], it: ['Rome', 'Pisa'] };
    const city = completable(z.string(), (_value, context) => [...(cities[context?.arguments?.['country'] ?? ''] ?? [])]);
    server.registerPrompt('visit', { argsSchema: { country: z.string(), city } }, ({ city: where }) => `Visit ${where}`);
    let folder = 'file:///home/ann';
    const client = await connect(openGateway({ asking: behind(server, back) }), front, { roots: () => [{ uri: folder }] });
    expect(textOf(await client.callTool('asking__where'))).toBe('file:///home/ann');
    folder = 'file:///home/bob';
    if (front === 'legacy') await client.sendRootsListChanged();
    expect(textOf(await client.callTool('asking__where'))).toBe('file:///home/bob');
    const ref = { type: 'ref/prompt', name: 'asking__visit' } as const;
    const argument = { name: 'city', value: '' };
    const { completion } = await client.complete({ ref, argument, context: { arguments: { country: 'it' } } });
    expect(completion.values).toEqual(['Rome', 'Pisa']);
  });

  it('exchange questions in prompts and resources, too', async () => {
    const server = makeServer('asking');
    const name = async (ctx: { elicit(params: typeof who): Promise<unknown> }): Promise<string> =>
      String(((await ctx.elicit(who)) as { readonly content: JsonObject }).content['name']);
    server.registerPrompt('greet', {}, async (ctx) => `Greet ${await name(ctx)}`);
    server.registerResource('me', 'me://me', {}, async (_uri, ctx) => name(ctx));
    const client = await connect(openGateway({ asking: behind(server, back) }), front, {
      elicitation: () => ({ action: 'accept', content: { name: 'Ann' } }),
    });
    expect((await client.getPrompt('asking__greet')).messages).toMatchObject([{ content: { text: 'Greet Ann' } }]);
    expect((await client.readResource('me://me')).contents).toMatchObject([{ text: 'Ann' }]);
  });

  it('exchange a refusal of the user, and a question that the client has no handler for', async () => {
    const server = makeServer('asking');
    server.registerTool('ask', {}, async (ctx) => (await ctx.elicit(who)).action);
    const gateway = openGateway({ asking: behind(server, back) });
    const refusing = await connect(gateway, front, { elicitation: () => ({ action: 'decline' }) });
    expect(textOf(await refusing.callTool('asking__ask'))).toBe('decline');
    const plain = await connect(gateway, front);
    const outcome = await plain.callTool('asking__ask').catch((error: Error) => error);
    expect(outcome instanceof Error ? outcome.message : textOf(outcome)).toMatch(/elicitation/u);
  });

  it('exchange progress, log messages and cancellation', async () => {
    const server = makeServer('slow', { capabilities: { logging: {} } });
    let onCancelled: () => void = () => undefined;
    const cancelled = new Promise<void>((resolve) => (onCancelled = resolve));
    server.registerTool('work', {}, async (ctx) => {
      await ctx.progress(1, 2, 'half');
      await ctx.log.warning('careful', 'worker');
      await ctx.progress(2, 2);
      return 'done';
    });
    server.registerTool('wait', {}, async (ctx) => {
      await ctx.log.info('waiting');
      await new Promise<never>((_, reject) =>
        ctx.signal.addEventListener('abort', () => {
          onCancelled();
          reject(new Error('stopped'));
        }),
      );
      return '';
    });
    const client = await connect(openGateway({ slow: behind(server, back) }), front);
    const logs: unknown[] = [];
    client.onLog(({ level, data, logger }) => logs.push([level, data, logger]));
    await client.setLoggingLevel('info');
    const steps: unknown[] = [];
    expect(
      textOf(
        await client.callTool('slow__work', {}, { onProgress: ({ progress, total, message }) => steps.push([progress, total, message]) }),
      ),
    ).toBe('done');
    expect(steps).toEqual([
      [1, 2, 'half'],
      [2, 2, undefined],
    ]);
    expect(logs).toEqual([['warning', 'careful', 'worker']]);
    const controller = new AbortController();
    const called = client.callTool('slow__wait', {}, { signal: controller.signal });
    await vi.waitFor(() => expect(logs).toHaveLength(2));
    controller.abort(new Error('enough'));
    await expect(called).rejects.toThrow('enough');
    await cancelled;
  });

  it('exchange changes of lists and updates of resources', async () => {
    const server = makeServer('changing', { capabilities: { resources: { subscribe: true } } });
    server.registerTool('one', {}, () => '1');
    server.registerResource('readme', 'docs://readme', {}, () => 'read me');
    const client = await connect(openGateway({ changing: behind(server, back) }), front);
    const changed = new Promise<void>((resolve) => client.onToolsChanged(resolve));
    const updated = new Promise<string>((resolve) => client.onResourceUpdated(({ uri }) => resolve(uri)));
    await client.listTools();
    await client.subscribeResource('docs://readme');
    await vi.waitFor(() => expect(back === 'legacy' || server.listens.size > 1).toBe(true));
    server.registerTool('two', {}, () => '2');
    await changed;
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['changing__one', 'changing__two']);
    await server.sendResourceUpdated({ uri: 'docs://readme' });
    expect(await updated).toBe('docs://readme');
    await client.unsubscribeResource('docs://readme');
  });

  it('exchange each change of a list to which the client subscribed, whether it has read the list or not', async () => {
    const server = makeServer('changing');
    server.registerPrompt('one', {}, () => '1');
    const client = await connect(openGateway({ changing: behind(server, back) }), front);
    if (front === 'legacy') await client.listPrompts();
    const changes = client.listen({ promptsListChanged: true });
    await changes.accepted;
    const names = ['two', 'three'];
    const addOne = (): boolean => {
      const name = names.shift();
      if (name !== undefined) server.registerPrompt(name, {}, () => name);
      return name !== undefined;
    };
    addOne();
    for await (const { method } of changes) if (method.endsWith('/list_changed') && !addOne()) break;
  });

  it('exchange the results of tools that run as tasks, for which the gateway waits', async () => {
    const server = makeServer('worker', { extensions: [createTasks()] });
    server.registerTool('long', { execution: { taskSupport: 'optional' } }, () => 'done');
    const gateway = openGateway({ worker: behind(server, back) }, { extensions: () => [taskClient({ prefersTasks: true })] });
    const client = await connect(gateway, front);
    expect(textOf(await client.callTool('worker__long'))).toBe('done');
  });
});

describe.each(pairings)('tasks of a %s client at a gateway in front of a %s server', (front, back) => {
  const tools = (tool: Tool): Tool => ({ ...tool, execution: { taskSupport: 'optional' } });
  const open = async (server: McpServer, options: ClientOptions = {}): Promise<TaskClient> => {
    const gateway = openGateway({ worker: behind(server, back, { tools }) }, { tasks: createTasks({ pollIntervalMs: 10 }) });
    const tasks = taskClient();
    await connect(gateway, front, { ...options, extensions: [tasks] });
    return tasks;
  };

  it('have questions, progress and results of ordinary calls behind', async () => {
    const server = makeServer('worker');
    server.registerTool('long', {}, async (ctx) => {
      await ctx.progress(1, 2, 'half');
      const { content } = (await ctx.elicit(who)) as { readonly content?: JsonObject };
      return `done for ${String(content?.['name'])}`;
    });
    server.registerTool('fail', {}, () => {
      throw new Error('it broke');
    });
    const tasks = await open(server, { elicitation: () => ({ action: 'accept', content: { name: 'Ann' } }) });
    const task = await tasks.start('worker__long');
    expect(task.id).toBeTypeOf('string');
    expect(textOf(await task.result())).toBe('done for Ann');
    const failed = await tasks.start('worker__fail');
    expect(await failed.result()).toMatchObject({ isError: true, content: [{ text: 'it broke' }] });
  });

  it('cancel the call behind when they are cancelled', async () => {
    const server = makeServer('worker');
    let onCancelled: () => void = () => undefined;
    const cancelled = new Promise<void>((resolve) => (onCancelled = resolve));
    const started = new Promise<void>((resolve) => {
      server.registerTool('wait', {}, (ctx) => {
        resolve();
        return new Promise<string>((done) =>
          ctx.signal.addEventListener('abort', () => {
            onCancelled();
            done('');
          }),
        );
      });
    });
    const task = await (await open(server)).start('worker__wait');
    await started;
    await task.cancel();
    await cancelled;
  });
});

describe('a server of 2025-11-25 that needs the user to open a page first', () => {
  it.each(['legacy', 'modern'] as const)('can be used by a %s client', async (front) => {
    const server = makeServer('pages');
    let isOpened = false;
    server.registerTool('act', {}, () => {
      if (!isOpened) throw new UrlElicitationRequiredError([{ message: 'Sign in', url: 'https://login.example/' }]);
      return 'acted';
    });
    const url = vi.fn(() => {
      isOpened = true;
      return { action: 'accept' as const };
    });
    const client = await connect(openGateway({ pages: behind(server, 'legacy') }), front, { elicitation: { url } });
    const outcome = await client.callTool('pages__act').catch((error: unknown) => error);
    if (front === 'modern') {
      expect(textOf(outcome as never)).toBe('acted');
      expect(url).toHaveBeenCalledTimes(1);
    } else expect(outcome).toMatchObject({ code: 'ERR_INPUT_REQUIRED', elicitations: [{ url: 'https://login.example/' }] });
  });
});

/** Capabilities with which the clients of one principal are different callers. */
const CAPABILITIES: readonly ClientCapabilities[] = [
  { sampling: {} },
  { roots: {} },
  { elicitation: { form: {} } },
  { sampling: {}, roots: {} },
  { sampling: { tools: {} } },
  { roots: { listChanged: true } },
  { elicitation: { url: {} } },
  { elicitation: { form: {} }, roots: {} },
];

describe('callers', () => {
  /** A server that keeps state by connection, as stdio servers do: each transport has a server of its own. */
  function makeStateful(): { readonly transport: GatewayServer['transport']; readonly servers: McpServer[] } {
    const servers: McpServer[] = [];
    const transport = (): ReturnType<ReturnType<typeof inMemoryTransport>> => {
      const server = makeServer(`copy ${servers.length}`);
      const notes: string[] = [];
      server.registerTool('note', { inputSchema: { text: z.string() } }, ({ text }) => {
        notes.push(text);
        return notes.join();
      });
      servers.push(server);
      return inMemoryTransport(server, { via: 'channel' })();
    };
    return { transport, servers };
  }

  it.each(['legacy', 'modern'] as const)('of the %s era with different principals share no connection', async (front) => {
    const { transport, servers } = makeStateful();
    const gateway = openGateway({ notes: { transport } });
    const [ann, bob] = [await connect(gateway, front, { principal: 'ann' }), await connect(gateway, front, { principal: 'bob' })];
    await ann.callTool('notes__note', { text: 'secret' });
    expect(textOf(await bob.callTool('notes__note', { text: 'mine' }))).toBe('mine');
    expect(textOf(await ann.callTool('notes__note', { text: 'more' }))).toBe('secret,more');
    expect(servers).toHaveLength(2);
  });

  it('of one principal share a connection in the modern era, and have one for each session in the legacy era', async () => {
    const { transport, servers } = makeStateful();
    const gateway = openGateway({ notes: { transport } });
    for (const front of ['modern', 'modern', 'legacy', 'legacy'] as const) {
      const client = await connect(gateway, front, { principal: 'ann' });
      await client.callTool('notes__note', { text: front });
    }
    expect(servers).toHaveLength(3);
    expect(gateway.health()).toEqual({ status: 'ok', callers: 3, servers: { notes: { ready: 3 } } });
  });

  it('share the connection of a pooled server, which cannot ask them', async () => {
    const { transport, servers } = makeStateful();
    const gateway = openGateway({ notes: { transport, isPooled: true } });
    for (const principal of ['ann', 'bob']) {
      const client = await connect(gateway, 'legacy', { principal, elicitation: () => ({ action: 'decline' }) });
      await client.callTool('notes__note', { text: principal });
    }
    expect(servers).toHaveLength(1);
    expect([...(servers[0]?.sessions ?? [])].every(({ client }) => Object.keys(client.capabilities).length === 0)).toBe(true);
  });

  it('[ROBUSTNESS-18] cannot subscribe to more at a pooled server than the gateway allows one listen', async () => {
    const server = makeServer('docs', { capabilities: { resources: { subscribe: true } } });
    server.registerResource('a', 'x://a', {}, () => 'a');
    const subscribed = vi.fn();
    server.use('resources/subscribe', async (_call, next) => {
      subscribed();
      return next();
    });
    const client = await connect(openGateway({ docs: behind(server, 'legacy', { isPooled: true }) }), 'modern');
    const resourceSubscriptions = Array.from({ length: 1_001 }, (_, index) => `x://${index}`);
    await expect(client.listen({ resourceSubscriptions }).accepted).rejects.toMatchObject({ rpcCode: -32602 });
    expect(subscribed).not.toHaveBeenCalled();
  });

  it.each(['legacy', 'modern'] as const)('of the %s era end subscriptions that they began at once', async (front) => {
    const server = makeServer('docs', { capabilities: { resources: { subscribe: true } } });
    server.registerResource('a', 'x://a', {}, () => 'a');
    const seen: string[] = [];
    for (const method of ['resources/subscribe', 'resources/unsubscribe'])
      server.use(method, async (_call, next) => {
        seen.push(method);
        return next();
      });
    const client = await connect(openGateway({ docs: behind(server, 'legacy', { isPooled: true }) }), front);
    if (front === 'legacy') {
      const subscribe = (): Promise<unknown> => client.requestRaw('resources/subscribe', { uri: 'x://a' });
      await Promise.all([subscribe(), subscribe()]);
      await client.requestRaw('resources/unsubscribe', { uri: 'x://a' });
    } else {
      const listens = [1, 2].map(() => client.listen({ resourceSubscriptions: ['x://a'] }));
      await Promise.all(listens.map(({ accepted }) => accepted));
      for (const listen of listens) listen.close();
    }
    await vi.waitFor(() => expect(seen).toEqual(['resources/subscribe', 'resources/unsubscribe']));
  });

  it('each get a change once, however many sessions they have', async () => {
    const server = makeEcho('shared');
    server.registerResource('readme', 'docs://readme', {}, () => 'read me');
    const gateway = openGateway({ shared: behind(server, 'legacy', { isPooled: true }) });
    const seen: string[] = [];
    const clients = await Promise.all(Array.from({ length: 5 }, () => connect(gateway, 'legacy')));
    for (const client of clients) {
      client.onAnyNotification(({ method }) => void seen.push(method));
      await client.listTools();
      await client.subscribeResource('docs://readme');
    }
    server.registerTool('more', {}, () => 'more');
    await server.sendResourceUpdated({ uri: 'docs://readme' });
    await Promise.all(clients.map((client) => client.ping()));
    await vi.waitFor(() => expect(seen).toHaveLength(10));
    expect(seen.filter((method) => method === 'notifications/resources/updated')).toHaveLength(5);
    await clients[0]?.unsubscribeResource('docs://readme');
    await clients[1]?.close();
    await server.sendResourceUpdated({ uri: 'docs://readme' });
    await vi.waitFor(() => expect(seen).toHaveLength(13));
  });

  it('[ROBUSTNESS-17] share a connection whatever capabilities they have that no server asks about', async () => {
    const { transport, servers } = makeStateful();
    const gateway = openGateway({ notes: { transport } });
    for (const capabilities of [
      {},
      { elicitation: undefined },
      { experimental: { x: {} } },
      { extensions: { 'a.example/x': {} } },
    ] as const)
      await (await connect(gateway, 'modern', { principal: 'ann', capabilities })).callTool('notes__note', { text: 'a' });
    expect(servers).toHaveLength(1);
  });

  it('end with their session, and when they are idle', async () => {
    const { transport, servers } = makeStateful();
    const clock = new FakeClock();
    const gateway = openGateway({ notes: { transport } }, { clock, callerIdleMs: 60_000 });
    const legacy = await connect(gateway, 'legacy');
    await legacy.callTool('notes__note', { text: 'a' });
    await legacy.close();
    await vi.waitFor(() => expect(servers[0]?.isConnected()).toBe(false));
    const modern = await connect(gateway, 'modern');
    await modern.callTool('notes__note', { text: 'b' });
    clock.advance(50_000);
    await modern.callTool('notes__note', { text: 'b' });
    clock.advance(50_000);
    expect(servers[1]?.isConnected()).toBe(true);
    clock.advance(120_000);
    await vi.waitFor(() => expect(servers[1]?.isConnected()).toBe(false));
    expect(textOf(await modern.callTool('notes__note', { text: 'new' }))).toBe('new');
  });

  it('[ROBUSTNESS-8] that are idle make room for others', async () => {
    const { transport, servers } = makeStateful();
    const gateway = openGateway({ notes: { transport } }, { maxCallers: 2 });
    for (const principal of ['a', 'b', 'c', 'd'])
      await (await connect(gateway, 'modern', { principal })).callTool('notes__note', { text: principal });
    expect(gateway.health().callers).toBe(2);
    await vi.waitFor(() => expect(servers.filter((server) => server.isConnected())).toHaveLength(2));
  });

  it('[ROBUSTNESS-18] of one principal cannot push out those of another', async () => {
    const { transport, servers } = makeStateful();
    const gateway = openGateway({ notes: { transport } }, { maxCallers: 4 });
    const ann = await connect(gateway, 'modern', { principal: 'ann' });
    await ann.callTool('notes__note', { text: 'kept' });
    for (let other = 0; other < 8; other += 1) {
      const bob = await connect(gateway, 'modern', { principal: 'bob', capabilities: CAPABILITIES[other % CAPABILITIES.length] });
      await bob.callTool('notes__note', { text: 'bob' });
    }
    expect(servers[0]?.isConnected()).toBe(true);
    expect(textOf(await ann.callTool('notes__note', { text: 'still' }))).toBe('kept,still');
  });

  it('are known to the function that makes their transport, so that each gets a token of its own', async () => {
    const seen: unknown[] = [];
    const server = makeEcho('private');
    const gateway = openGateway({
      private: {
        transportFor: ({ principal, auth }) => {
          seen.push([principal, auth]);
          return inMemoryTransport(server);
        },
      },
    });
    const client = await connect(gateway, 'modern', { principal: 'ann' });
    await client.callTool('private__echo');
    expect(seen).toEqual([['ann', undefined]]);
  });

  it('get the result of a call that ended while they had a question of its server', async () => {
    const server = makeServer('asking');
    let onAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (onAsked = resolve));
    server.registerTool('ask', {}, async (ctx) => {
      ctx.elicit(who).catch(() => undefined);
      await asked;
      return 'done without an answer';
    });
    const gateway = openGateway({ asking: behind(server, 'legacy') });
    const client = await connect(gateway, 'modern', {
      elicitation: async () => {
        onAsked();
        await vi.waitFor(() => expect(server.sessions.size).toBe(1));
        return { action: 'decline' };
      },
    });
    expect(textOf(await client.callTool('asking__ask'))).toBe('done without an answer');
  });

  it.each(['behind', 'of the gateway', undefined])(
    'without a token are asked about their own calls by a modern server (task: %s)',
    async (task) => {
      const tasks = createTasks({ pollIntervalMs: 50 });
      const server = makeServer('asking', task === 'behind' ? { extensions: [tasks] } : {});
      let onBoth: () => void = () => undefined;
      const both = new Promise<void>((resolve) => (onBoth = resolve));
      server.registerTool('ask', task === 'behind' ? { execution: { taskSupport: 'required' } } : {}, async (ctx) => {
        await both;
        const { content } = (await ctx.elicit(who)) as { readonly content?: JsonObject };
        return String(content?.['name']);
      });
      server.registerTool('long', {}, (ctx) => {
        onBoth();
        return new Promise<string>((resolve) => ctx.signal.addEventListener('abort', () => resolve('')));
      });
      const tools = (tool: Tool): Tool => (task && tool.name === 'ask' ? { ...tool, execution: { taskSupport: 'optional' } } : tool);
      const gateway = openGateway(
        { asking: behind(server, 'modern', { tools }) },
        task === 'behind' ? { extensions: () => [taskClient()] } : { tasks },
      );
      const open = (name: string): Promise<McpClient> =>
        connect(gateway, 'modern', { extensions: [taskClient()], elicitation: () => ({ action: 'accept', content: { name } }) });
      const [ann, bob] = [await open('Ann'), await open('Bob')];
      const asked = ann.callTool('asking__ask');
      const controller = new AbortController();
      const long = bob.callTool('asking__long', {}, { signal: controller.signal }).catch(() => undefined);
      expect(textOf(await asked)).toBe('Ann');
      controller.abort();
      await long;
    },
  );

  it('get the log messages after a question, however long those before it were', async () => {
    const server = makeServer('asking', { capabilities: { logging: {} } });
    server.registerTool('ask', {}, async (ctx) => {
      await ctx.log.info('x'.repeat(1_100_000));
      await ctx.log.info('before');
      await ctx.elicit(who);
      await ctx.log.info('after');
      return 'done';
    });
    const client = await connect(openGateway({ asking: behind(server, 'legacy') }), 'modern', {
      elicitation: () => ({ action: 'decline' }),
    });
    const logs: string[] = [];
    client.onLog(({ data }) => logs.push(String(data).slice(0, 6)));
    await client.setLoggingLevel('info');
    await client.callTool('asking__ask');
    expect(logs).toEqual(['xxxxxx', 'before', 'after']);
  });

  it('may send answers with the first request, under the keys of the server behind', async () => {
    const server = makeServer('asking');
    server.registerTool('ask', {}, (ctx) =>
      ctx.inputResponses?.['name']
        ? JSON.stringify(ctx.inputResponses['name'])
        : inputRequired({ inputRequests: { name: { method: 'elicitation/create', params: who } } }),
    );
    const gateway = openGateway({ asking: behind(server, 'modern') });
    const client = await connect(gateway, 'modern', { capabilities: { elicitation: { form: {} } } });
    const first = await client.requestRaw('tools/call', { name: 'asking__ask', arguments: {} });
    expect(first).toMatchObject({ result: { resultType: 'input_required', inputRequests: { name: { method: 'elicitation/create' } } } });
    const inputResponses = { name: { action: 'decline' } };
    const known = await client.requestRaw('tools/call', { name: 'asking__ask', arguments: {}, inputResponses });
    expect(known).toMatchObject({ result: { content: [{ text: '{"action":"decline"}' }] } });
  });

  it('[ROBUSTNESS-8] are asked questions with any key', async () => {
    const server = makeServer('asking');
    server.registerTool('ask', {}, (ctx) =>
      ctx.inputResponses
        ? JSON.stringify(ctx.inputResponses)
        : inputRequired({ inputRequests: { ['constructor' as string]: { method: 'elicitation/create', params: who } } }),
    );
    const gateway = openGateway({ asking: behind(server, 'modern') });
    const client = await connect(gateway, 'modern', { elicitation: () => ({ action: 'decline' }) });
    expect(textOf(await client.callTool('asking__ask'))).toBe('{"constructor":{"action":"decline"}}');
  });

  it('[ROBUSTNESS-18] that left questions unanswered make room for other calls', async () => {
    const server = makeServer('asking');
    server.registerTool('ask', {}, async (ctx) => (await ctx.elicit(who)).action);
    server.registerTool('plain', {}, () => 'done');
    const gateway = openGateway({ asking: behind(server, 'modern') });
    const client = await connect(gateway, 'modern', { capabilities: { elicitation: { form: {} } } });
    const ask = (): Promise<unknown> => client.requestRaw('tools/call', { name: 'asking__ask', arguments: {} });
    await Promise.all(Array.from({ length: 1_000 }, ask));
    expect(textOf(await client.callTool('asking__plain'))).toBe('done');
  });

  it('[ROBUSTNESS-3] cannot answer the questions of others, nor join their calls', async () => {
    const server = makeServer('asking');
    server.registerTool('ask', {}, async (ctx) => (await ctx.elicit(who)).action);
    const gateway = openGateway({ asking: behind(server, 'legacy') });
    const elicitation = { form: {} };
    const ann = await connect(gateway, 'modern', { principal: 'ann', capabilities: { elicitation } });
    const bob = await connect(gateway, 'modern', { principal: 'bob', capabilities: { elicitation } });
    const asked = (await ann.requestRaw('tools/call', { name: 'asking__ask', arguments: {} })) as unknown as {
      readonly result: { readonly requestState: string; readonly inputRequests: JsonObject };
    };
    const [key = ''] = Object.keys(asked.result.inputRequests);
    const retry = {
      name: 'asking__ask',
      arguments: {},
      requestState: asked.result.requestState,
      inputResponses: { [key]: { action: 'decline' } },
    };
    expect(await bob.requestRaw('tools/call', retry)).toMatchObject({ error: { code: -32602 } });
    expect(await ann.requestRaw('tools/call', retry)).toMatchObject({ result: { content: [{ text: 'decline' }] } });
    expect(await ann.requestRaw('tools/call', retry)).toMatchObject({ error: { code: -32602 } });
  });
});

describe('over HTTP', () => {
  it('arguments that are also sent in headers are compared with them, for callers who may see the tool', async () => {
    const server = makeServer('regions');
    const region = { type: 'string', 'x-mcp-header': 'Region' } as const;
    server.registerTool('where', { inputSchema: { type: 'object', properties: { region } } }, (args) =>
      String((args as JsonObject)['region']),
    );
    const gateway = openGateway({ regions: behind(server, 'legacy') });
    const serving = await serveHttp(gateway, { port: 0 });
    onTestFinished(() => serving.close());
    let isTampering = false;
    const fetchWith = (url: string, init: RequestInit = {}): Promise<Response> => {
      const headers = new Headers(init.headers);
      if (isTampering) headers.set('Mcp-Param-Region', 'us');
      return fetch(url, { ...init, headers });
    };
    const transport = httpTransport(serving.url, { fetch: fetchWith });
    const client = await McpClient.connect(transport, { name: 'test', version: '1' }, { era: 'modern' });
    onTestFinished(() => client.close());
    await client.listTools();
    expect(textOf(await client.callTool('regions__where', { region: 'eu' }))).toBe('eu');
    isTampering = true;
    await expect(client.callTool('regions__where', { region: 'eu' })).rejects.toMatchObject({ rpcCode: -32020 });
  });

  it('a caller whose tool has a header leaves the tools of other callers alone', async () => {
    const make = (more: object): McpServer => {
      const server = makeServer('own');
      server.registerTool('search', { inputSchema: { type: 'object', properties: { q: { type: 'string', ...more } } } }, () => 'found');
      return server;
    };
    const servers = new Map([
      ['ann', make({ 'x-mcp-header': 'Q' })],
      ['bob', make({})],
    ]);
    const gateway = openGateway({ own: { transportFor: ({ principal }) => inMemoryTransport(servers.get(principal) as McpServer) } });
    const tokenVerifier = { verify: async ({ token = '' }) => ({ principal: token, scopes: [] }) };
    const serving = await serveHttp(gateway, { port: 0, tokenVerifier });
    onTestFinished(() => serving.close());
    const open = async (token: string): Promise<McpClient> => {
      const transport = httpTransport(serving.url, { headers: { authorization: `Bearer ${token}` } });
      const client = await McpClient.connect(transport, { name: 'test', version: '1' }, { era: 'modern' });
      onTestFinished(() => client.close());
      await client.listTools();
      return client;
    };
    const [bob, ann] = [await open('bob'), await open('ann')];
    for (const client of [bob, ann]) expect(textOf(await client.callTool('own__search', { q: 'x' }))).toBe('found');
  });

  it('two gateways share a port by their paths', async () => {
    const [one, two] = ['one', 'two'].map((name) =>
      createHttpHandler(openGateway({ [name]: behind(makeEcho(name), 'legacy') }), { path: `/${name}/mcp` }),
    );
    const fetch = (url: string, init?: RequestInit): Promise<Response> =>
      (new URL(url).pathname.startsWith('/one/') ? one : two)?.fetch(new Request(url, init)) ?? Promise.reject(new Error('none'));
    for (const name of ['one', 'two']) {
      const transport = httpTransport(`http://127.0.0.1/${name}/mcp`, { fetch });
      const client = await McpClient.connect(transport, { name: 'test', version: '1' });
      onTestFinished(() => client.close());
      expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual([`${name}__echo`]);
    }
  });
});

/** Resolves with the first change of a list that a subscription reports. */
async function firstChange(subscription: AsyncIterable<{ readonly method: string }>): Promise<void> {
  for await (const { method } of subscription) if (method.endsWith('/list_changed')) return;
}

describe('over WebSocket', () => {
  it('clients of each era use a server, and its changes reach all callers of a pooled one', async () => {
    const server = makeEcho('pooled');
    const gateway = openGateway({ pooled: behind(server, 'legacy', { isPooled: true }) });
    const serving = await serveWebSocket(gateway, { port: 0 });
    onTestFinished(() => serving.close());
    const changes: Promise<void>[] = [];
    for (const era of ['legacy', 'modern'] as const) {
      const client = await McpClient.connect(webSocketTransport(serving.url), { name: 'test', version: '1' }, { era });
      onTestFinished(() => client.close());
      expect(textOf(await client.callTool('pooled__echo'))).toBe('pooled');
      const changesOf = client.listen({ toolsListChanged: true });
      await changesOf.accepted;
      changes.push(firstChange(changesOf));
    }
    server.registerTool('more', {}, () => 'more');
    await Promise.all(changes);
  });
});

describe('the end of a gateway', () => {
  it('ends the connections of all callers, and calls that wait for an answer', async () => {
    const server = makeServer('asking');
    const stopped = new Promise<void>((resolve) => {
      server.registerTool('ask', {}, async (ctx) => {
        ctx.signal.addEventListener('abort', () => resolve());
        return (await ctx.elicit(who)).action;
      });
    });
    const gateway = openGateway({ asking: { transport: inMemoryTransport(server, { via: 'channel' }), client: { era: 'legacy' } } });
    const client = await connect(gateway, 'modern', { capabilities: { elicitation: { form: {} } } });
    await client.requestRaw('tools/call', { name: 'asking__ask', arguments: {} });
    await gateway.close();
    await gateway.close();
    await stopped;
    await vi.waitFor(() => expect(server.isConnected()).toBe(false));
    expect(gateway.health()).toEqual({ status: 'ok', callers: 0, servers: { asking: {} } });
  });
});

describe('names, filters and failures', () => {
  it('keeps, changes and leaves out what the options say', async () => {
    const one = makeEcho('one');
    one.registerTool('hidden', {}, () => 'hidden');
    one.registerTool('old', {}, () => 'renamed');
    one.registerResource('a', 'x://a', {}, () => 'a');
    one.registerResource('b', 'x://b', {}, () => 'b');
    const gateway = openGateway({
      one: behind(one, 'legacy', {
        keepsNames: true,
        tools: (tool) =>
          tool.name === 'hidden' ? undefined : tool.name === 'old' ? { ...tool, name: 'new', description: 'Better' } : tool,
        resources: ({ uri }) => uri !== 'x://b',
      }),
      two: behind(makeEcho('two'), 'modern', { keepsNames: true }),
      three: behind(makeEcho('three'), 'modern'),
    });
    const client = await connect(gateway, 'modern');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['echo', 'new', 'three__echo']);
    expect(textOf(await client.callTool('echo'))).toBe('one');
    expect(textOf(await client.callTool('new'))).toBe('renamed');
    await expect(client.callTool('hidden')).rejects.toMatchObject({ rpcCode: -32602 });
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['x://a']);
  });

  it('offers each caller what the filter says for this caller', async () => {
    const tools: GatewayServer['tools'] = (tool, { principal }) => (principal === 'ann' ? tool : undefined);
    const gateway = openGateway({ files: behind(makeEcho('files'), 'modern', { tools }) });
    const [ann, bob] = [await connect(gateway, 'modern', { principal: 'ann' }), await connect(gateway, 'legacy', { principal: 'bob' })];
    expect(textOf(await ann.callTool('files__echo'))).toBe('files');
    expect((await bob.listTools()).tools).toEqual([]);
    await expect(bob.callTool('files__echo')).rejects.toThrow('Unknown tool: files__echo');
  });

  it('does not read a resource that the filter leaves out of the list, however its URI is found', async () => {
    const server = makeServer('docs', { capabilities: { resources: { subscribe: true } } });
    server.registerResource('secret', 'x://secret', {}, () => 'secret');
    server.registerResource('any', new ResourceTemplate('x://{name}', { list: undefined }), {}, (uri) => uri.href);
    for (const resourceTemplates of [() => true, () => false, undefined]) {
      const gateway = openGateway({ docs: behind(server, 'modern', { resources: ({ uri }) => uri !== 'x://secret', resourceTemplates }) });
      const client = await connect(gateway, 'legacy');
      await expect(client.readResource('x://secret')).rejects.toMatchObject({ code: 'ERR_RESOURCE_NOT_FOUND' });
      await expect(client.subscribeResource('x://secret')).rejects.toThrow();
      const other = client.readResource('x://other');
      if (resourceTemplates?.() === false) await expect(other).rejects.toMatchObject({ code: 'ERR_RESOURCE_NOT_FOUND' });
      else expect((await other).contents).toMatchObject([{ text: 'x://other' }]);
    }
  });

  it.each([({ name }: Resource) => name !== 'secret', ({ mimeType }: Resource) => mimeType !== 'application/x-keys'])(
    'does not read a resource that the filter leaves out by what the list says of it: %s',
    async (resources) => {
      const server = makeServer('docs');
      server.registerResource('secret', 'x://keys', { mimeType: 'application/x-keys' }, () => 'secret');
      server.registerResource('any', new ResourceTemplate('x://{name}', { list: undefined }), {}, (uri) => uri.href);
      const client = await connect(openGateway({ docs: behind(server, 'modern', { resources }) }), 'modern');
      await expect(client.readResource('x://keys')).rejects.toMatchObject({ code: 'ERR_RESOURCE_NOT_FOUND' });
      expect((await client.readResource('x://other')).contents).toMatchObject([{ text: 'x://other' }]);
    },
  );

  it.each([false, true])(
    'serves the others when a server is broken, tells nothing of how it is reached, and lists it again later (pooled: %s)',
    async (isPooled) => {
      let isThere = false;
      const late = makeEcho('late');
      const clock = new FakeClock();
      const transport = (): ReturnType<ReturnType<typeof inMemoryTransport>> => {
        if (!isThere) throw new Error('ENOENT /secret/path');
        return inMemoryTransport(late, { via: 'channel' })();
      };
      const gateway = openGateway({ late: { transport, isPooled }, sound: behind(makeEcho('sound'), 'legacy') }, { clock });
      const client = await connect(gateway, 'legacy');
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['sound__echo']);
      expect(gateway.health()).toMatchObject({ status: 'degraded', servers: { late: { failed: 1 }, sound: { ready: 1 } } });
      const changed = new Promise<void>((resolve) => client.onToolsChanged(resolve));
      isThere = true;
      await vi.waitFor(() => {
        clock.advance(1_000);
        expect(gateway.health().status).toBe('ok');
      });
      await changed;
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['late__echo', 'sound__echo']);
    },
  );

  it('leaves out what a filter throws at, and for one caller the server that it cannot be connected to', async () => {
    const server = makeEcho('one');
    server.registerTool('bare', {}, () => 'bare');
    const gateway = openGateway({
      one: behind(server, 'modern', { tools: (tool) => ((tool.description as string).includes('x') ? undefined : tool) }),
      private: {
        transportFor: () => {
          throw new Error('no token of this caller is kept');
        },
      },
    });
    const client = await connect(gateway, 'modern');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['one__echo']);
    expect(textOf(await client.callTool('one__echo'))).toBe('one');
    expect(gateway.health()).toMatchObject({ status: 'degraded', servers: { private: { failed: 1 } } });
  });

  it('waits for the server of a tool, and says if it is away, not that there is no such tool', async () => {
    const transport = (): never => {
      throw new Error('it is not there');
    };
    const slow = makeEcho('slow', 'one');
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    slow.use('tools/list', async (_call, next) => {
      await gate;
      return next();
    });
    const servers = { down: { transport }, slow: behind(slow, 'modern'), sound: behind(makeEcho('sound'), 'modern') };
    const warned = vi.fn();
    const client = await connect(openGateway(servers, { listWaitMs: 0, logger: { log: (_level, message) => warned(message) } }), 'modern');
    await expect(client.callTool('down__one')).rejects.toThrow('The server "down" behind this gateway is not available');
    expect(warned).toHaveBeenCalledWith('The server "down" behind the gateway: it is not there');
    await expect(client.callTool('sound__one')).rejects.toThrow('Unknown tool: sound__one');
    const called = client.callTool('slow__one');
    release();
    expect(textOf(await called)).toBe('slow');
  });

  it('finds a tool that keeps its name at a slow server while another server is down', async () => {
    const slow = makeEcho('slow');
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    slow.use('tools/list', async (_call, next) => {
      await gate;
      return next();
    });
    const down = (): never => {
      throw new Error('it is not there');
    };
    const servers = { down: { transport: down, keepsNames: true }, slow: behind(slow, 'modern', { keepsNames: true }) };
    const client = await connect(openGateway(servers, { listWaitMs: 0, logger: { log: () => undefined } }), 'modern');
    const called = client.callTool('echo');
    release();
    expect(textOf(await called)).toBe('slow');
    await expect(client.callTool('other')).rejects.toThrow('The server "down" behind this gateway is not available');
  });

  it.each(['legacy', 'modern'] as const)('lists what a %s server has now if it does not say when its lists change', async (era) => {
    let name = 'old';
    const server = new Server({ name: 'plain', version: '1.0.0' });
    server.setRequestHandler('tools/list' as string, () => ({ tools: [{ name, inputSchema: { type: 'object' } }] }));
    server.setRequestHandler('tools/call' as string, ({ params }) => ({ content: [{ type: 'text', text: String(params['name']) }] }));
    const gateway = openGateway({ plain: { transport: inMemoryTransport(server), client: { era } } });
    const client = await connect(gateway, 'legacy');
    const host = openHost({ servers: { plain: { transport: inMemoryTransport(server), client: { era } } } });
    for (name of ['old', 'new', 'newest']) {
      if (name !== 'newest') expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual([`plain__${name}`]);
      expect(textOf(await client.callTool(`plain__${name}`))).toBe(name);
      expect(textOf(await host.callTool(`plain__${name}`))).toBe(name);
    }
    expect((await host.tools()).map((tool) => tool.name)).toEqual(['plain__newest']);
  });

  it('answers a call whose server ends with an error that says so', async () => {
    const server = makeServer('fragile');
    server.registerTool('die', {}, async () => {
      void server.close();
      return new Promise<string>(() => undefined);
    });
    const gateway = openGateway({ fragile: { transport: inMemoryTransport(server, { via: 'channel' }) } });
    const client = await connect(gateway, 'modern');
    await expect(client.callTool('fragile__die')).rejects.toThrow('The server "fragile" behind this gateway ended during the call');
  });

  it.each([
    [{ servers: { a: {} } }, 'the server "a" needs either transport or transportFor'],
    [{ servers: { a: { transportFor: () => 1, isPooled: true } } }, 'is pooled'],
    [{ servers: { a: { transport: () => 1, rename: 1 } } }, 'unknown option "rename"'],
    [{ servers: {}, sevrers: {} }, 'unknown option "sevrers"'],
  ] satisfies readonly (readonly [object, string])[])('refuses the options %o', (options, message) =>
    expect(() => createGateway(options as never)).toThrow(message),
  );
});
