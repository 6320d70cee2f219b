/** Several servers at once: lists, names, events, isolation, what servers ask, and the end. */

import { McpClient } from '@mortise/client';
import { inMemoryTransport } from '@mortise/client/in-memory';
import { createInMemoryPair, type JsonObject, RemoteError } from '@mortise/jsonrpc-core';
import { ResourceTemplate } from '@mortise/server';
import { Server } from '@mortise/server/low-level';
import { taskClient } from '@mortise/tasks/client';
import { createTasks } from '@mortise/tasks/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createHost, ServerUnavailableError, ToolRefusedError } from '../src/index.ts';
import { makeEcho, makeServer, nextEvent, openHost, reach, textOf } from './servers.ts';

const eras = ['legacy', 'modern'] as const;

describe.each(eras)('servers of the %s era', (era) => {
  it('are started by the first list, and are listed under names of their own', async () => {
    const host = openHost({
      servers: { one: reach(makeEcho('first'), { client: { era } }), two: reach(makeEcho('second'), { client: { era } }) },
    });
    expect([...host.states.values()]).toEqual([{ status: 'idle' }, { status: 'idle' }]);
    const tools = await host.tools();
    expect(tools.map(({ name, server }) => [name, server])).toEqual([
      ['one__echo', 'one'],
      ['two__echo', 'two'],
    ]);
    expect([...host.states.values()]).toEqual([{ status: 'ready' }, { status: 'ready' }]);
    expect(textOf(await host.callTool('two__echo'))).toBe('second');
  });

  it('merge prompts, resources and templates, and reach each at its own server', async () => {
    const docs = makeServer('docs');
    docs.registerPrompt('explain', {}, () => 'Explain!');
    docs.registerResource('readme', 'docs://readme', {}, () => 'read me');
    const complete = { name: (value: string) => ['ann', 'bob'].filter((name) => name.startsWith(value)) };
    docs.registerResource('people', new ResourceTemplate('docs://{name}', { list: undefined, complete }), {}, (uri) => String(uri));
    const other = makeServer('other');
    other.registerResource('readme', 'docs://readme', {}, () => 'of the other');
    const host = openHost({ servers: { docs: reach(docs, { client: { era } }), other: reach(other, { client: { era } }) } });
    expect((await host.prompts()).map(({ name }) => name)).toEqual(['docs__explain']);
    expect((await host.getPrompt('docs__explain')).messages).toHaveLength(1);
    expect((await host.resources()).map(({ server, resource }) => [server, resource.uri])).toEqual([
      ['docs', 'docs://readme'],
      ['other', 'docs://readme'],
    ]);
    const read = await host.readResource({ server: 'other', uri: 'docs://readme' });
    expect(read.contents).toMatchObject([{ text: 'of the other' }]);
    expect((await host.resourceTemplates()).map(({ resourceTemplate }) => resourceTemplate.uriTemplate)).toEqual(['docs://{name}']);
    const ref = { type: 'ref/resource', uri: 'docs://{name}' } as const;
    expect((await host.complete('docs', { ref, argument: { name: 'name', value: 'a' } })).completion.values).toEqual(['ann']);
  });

  it('report a list that changed, and the next reading has the change', async () => {
    const server = makeEcho('growing');
    const host = openHost({ servers: { growing: reach(server, { client: { era } }) } });
    await host.tools();
    expect(host.events.map(({ type }) => type)).toEqual(['state', 'state']);
    const changed = nextEvent(host, ({ type }) => type === 'list changed');
    server.registerTool('more', {}, () => 'more');
    expect(await changed).toEqual({ type: 'list changed', server: 'growing', list: 'tools' });
    expect((await host.tools()).map(({ name }) => name)).toEqual(['growing__echo', 'growing__more']);
  });

  it('report updates of a resource that the program subscribed to, with the name of the server', async () => {
    const server = makeServer('docs', { capabilities: { resources: { subscribe: true } } });
    server.registerResource('readme', 'docs://readme', {}, () => 'read me');
    const host = openHost({ servers: { docs: reach(server, { client: { era } }) } });
    await host.subscribeResource({ server: 'docs', uri: 'docs://readme' });
    const updated = nextEvent(host, ({ type }) => type === 'resource updated');
    await server.sendResourceUpdated({ uri: 'docs://readme' });
    expect(await updated).toEqual({ type: 'resource updated', server: 'docs', uri: 'docs://readme' });
  });

  it('ask in one place, each with its name', async () => {
    const makeAsking = (name: string): ReturnType<typeof makeServer> => {
      const server = makeServer(name);
      server.registerTool('ask', {}, async (ctx) => {
        const { content } = (await ctx.elicit({
          message: 'Who?',
          requestedSchema: { type: 'object', properties: { who: { type: 'string' } } },
        })) as { content: JsonObject };
        const { roots } = await ctx.listRoots();
        const sampled = await ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 100_000 });
        return `${String(content['who'])}, ${roots.map(({ uri }) => uri).join()}, ${sampled.model}`;
      });
      return server;
    };
    const seen: string[] = [];
    const host = openHost({
      servers: { a: reach(makeAsking('one'), { client: { era } }), b: reach(makeAsking('two'), { client: { era } }) },
      elicitation: (_params, { server }) => ({ action: 'accept', content: { who: `the user of ${server}` } }),
      roots: (server) => [{ uri: `file:///home/${server}` }],
      sampling: {
        approveRequest: ({ maxTokens }, { server }) => Boolean(seen.push(`before ${server} ${maxTokens}`)),
        createMessage: (_params, { server }) => ({ role: 'assistant', model: `model of ${server}`, content: { type: 'text', text: 'Ho' } }),
        approveResult: (_result, _params, { server }) => Boolean(seen.push(`after ${server}`)),
      },
    });
    expect(textOf(await host.callTool('a__ask'))).toBe('the user of a, file:///home/a, model of a');
    expect(textOf(await host.callTool('b__ask'))).toBe('the user of b, file:///home/b, model of b');
    expect(seen).toEqual(['before a 4096', 'after a', 'before b 4096', 'after b']);
  });

  it('send progress and log messages, and are told of a cancelled call', async () => {
    const server = makeServer('slow', { capabilities: { logging: {} } });
    const cancelled = new Promise<void>((resolve) => {
      server.registerTool('wait', {}, async (ctx) => {
        await ctx.progress(1, 2, 'half');
        await ctx.log.info('waiting');
        return new Promise<string>((_, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('stopped'))));
      });
      server.use('tools/call', async (call, next) => {
        call.signal.addEventListener('abort', () => resolve());
        return next();
      });
    });
    const host = openHost({ servers: { slow: reach(server, { client: { era } }) }, logLevel: 'info' });
    const controller = new AbortController();
    const progress: number[] = [];
    const logged = nextEvent(host, ({ type }) => type === 'log');
    const called = host.callTool('slow__wait', {}, { signal: controller.signal, onProgress: (step) => progress.push(step.progress) });
    expect(await logged).toMatchObject({ type: 'log', server: 'slow', level: 'info', data: 'waiting' });
    controller.abort(new Error('enough'));
    await expect(called).rejects.toThrow('enough');
    await cancelled;
    expect(progress).toEqual([1]);
  });

  it('run a tool as a task of either generation, whose handle has the name of the server', async () => {
    const server = makeServer('worker', { extensions: [createTasks()] });
    server.registerTool('long', { execution: { taskSupport: 'optional' } }, () => 'done');
    const tasks: string[] = [];
    const host = openHost({
      servers: { worker: reach(server, { client: { era } }) },
      extensions: (name) => [taskClient({ prefersTasks: true, onTask: (_task, { tool }) => tasks.push(`${name}: ${tool}`) })],
    });
    expect(textOf(await host.callTool('worker__long'))).toBe('done');
    expect(tasks).toEqual(['worker: long']);
  });
});

describe('isolation', () => {
  it('[ROBUSTNESS-18] keeps the lists and calls of sound servers free from one that never answers and one that does not start', async () => {
    const host = openHost({
      servers: {
        silent: { transport: () => createInMemoryPair()[0] },
        broken: {
          transport: () => {
            throw new Error('no such program');
          },
        },
        sound: reach(makeEcho('sound')),
      },
      listWaitMs: 20,
    });
    expect(textOf(await host.callTool('sound__echo'))).toBe('sound');
    expect((await host.tools()).map(({ name }) => name)).toEqual(['sound__echo']);
    expect(host.states.get('silent')).toEqual({ status: 'starting' });
    expect(host.states.get('broken')).toMatchObject({ status: 'failed', reason: 'no such program', willRetry: true });
    const error: unknown = await host.callTool('broken__any').catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ServerUnavailableError);
    expect(error).toMatchObject({ code: 'ERR_SERVER_UNAVAILABLE', server: 'broken' });
  });

  it('announces the list of a slow server when it has arrived', async () => {
    const server = makeEcho('slow');
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    server.use('tools/list', async (_call, next) => {
      await gate;
      return next();
    });
    const host = openHost({ servers: { slow: reach(server) }, listWaitMs: 0 });
    expect(await host.tools()).toEqual([]);
    const there = nextEvent(host, ({ type }) => type === 'list changed');
    release();
    await there;
    expect((await host.tools()).map(({ name }) => name)).toEqual(['slow__echo']);
  });

  it('shows no server the name, tools or errors of another', async () => {
    const seen: string[] = [];
    const watched = (name: string): ReturnType<typeof makeServer> => {
      const server = makeEcho(name);
      server.use((call, next) => {
        seen.push(JSON.stringify([call.method, call.params, call.client]));
        return next();
      });
      return server;
    };
    const host = openHost({ servers: { secretA: reach(watched('one')), secretB: reach(watched('two')) }, roots: [{ uri: 'file:///a' }] });
    await host.tools();
    await host.callTool('secretA__echo', { x: 1 });
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.join('\n')).not.toMatch(/secret/u);
  });

  it('[ROBUSTNESS-7] leaves out the rest of a list that is too long, and says so', async () => {
    const server = makeServer('huge', { pageSize: 1_000 });
    for (let index = 0; index < 10_050; index += 1) server.registerTool(`tool-${index}`, {}, () => '');
    const host = openHost({ servers: { huge: reach(server) } });
    expect(await host.tools()).toHaveLength(10_000);
    expect(host.events).toContainEqual(expect.objectContaining({ type: 'error', server: 'huge' }));
  });

  it('has a name once: what the model reads is what the user is asked about', async () => {
    const read = (description: string): object => ({ name: 'read', description, inputSchema: { type: 'object' } });
    const server = new Server({ name: 'twice', version: '1.0.0' });
    server.setRequestHandler('tools/list' as string, () => ({ tools: [read('Reads a note'), read('Reads, and sends')] }) as JsonObject);
    const host = openHost({ servers: { twice: { transport: inMemoryTransport(server) } } });
    expect((await host.tools()).map(({ name, tool }) => [name, tool.description])).toEqual([['twice__read', 'Reads a note']]);
    expect(host.events).toContainEqual({
      type: 'error',
      server: 'twice',
      error: expect.objectContaining({ code: 'ERR_INVALID_RESPONSE' }),
    });
  });

  it('[ROBUSTNESS-18] leaves a place for the samplings of others, and none to those that were cancelled', async () => {
    const server = makeServer('asking');
    const ask = { messages: [], maxTokens: 1 };
    server.registerTool('sample', {}, async (ctx) => (await ctx.sample(ask)).model);
    const open = { transport: inMemoryTransport(server), client: { era: 'legacy' } } as const;
    let isQuick = false;
    let onStarted: () => void = () => undefined;
    const started = new Promise<void>((resolve) => (onStarted = resolve));
    const answer = { role: 'assistant', model: 'm', content: { type: 'text', text: '' } } as const;
    const host = openHost({
      servers: { bad: open, good: open },
      sampling: {
        maxAtOnce: 2,
        createMessage: () => {
          onStarted();
          return isQuick ? answer : new Promise(() => undefined);
        },
        approveRequest: () => true,
        approveResult: () => true,
      },
    });
    const controller = new AbortController();
    const hanging = host.callTool('bad__sample', {}, { signal: controller.signal }).catch(() => undefined);
    await started;
    expect((await host.callTool('bad__sample')).isError).toBe(true);
    isQuick = true;
    expect(textOf(await host.callTool('good__sample'))).toBe('m');
    controller.abort();
    await hanging;
    await vi.waitFor(async () => expect(textOf(await host.callTool('bad__sample'))).toBe('m'));
  });

  it('leaves out a tool that the filter of the program throws at, and no other', async () => {
    const server = makeEcho('one');
    server.registerTool('bare', {}, () => 'bare');
    const tools = ({ description }: { readonly description?: string | undefined }): boolean => (description as string).includes('Says');
    const host = openHost({ servers: { one: reach(server, { tools }), other: reach(makeEcho('other')) } });
    expect((await host.tools()).map(({ name }) => name)).toEqual(['one__echo', 'other__echo']);
    expect(host.events).toContainEqual({ type: 'error', server: 'one', error: expect.any(TypeError) });
  });

  it('[SAMP-021] bounds how many samplings run at once, over all servers and however deep', async () => {
    let depth = 0;
    const server = makeServer('deep');
    server.registerTool('sample', {}, async (ctx) => {
      const { model } = await ctx.sample({ messages: [{ role: 'user', content: { type: 'text', text: 'again' } }], maxTokens: 1 });
      return model;
    });
    const host = openHost({
      servers: { deep: reach(server, { client: { era: 'legacy' } }) },
      sampling: {
        maxAtOnce: 4,
        approveRequest: () => true,
        approveResult: () => true,
        createMessage: async () => {
          depth += 1;
          const inner = await host.callTool('deep__sample');
          return { role: 'assistant', model: inner.isError ? 'refused' : 'deeper', content: { type: 'text', text: '' } };
        },
      },
    });
    await host.callTool('deep__sample');
    expect(depth).toBe(3);
  });
});

describe('the names of servers and tools', () => {
  it('are errors when they are unknown', async () => {
    const host = openHost({ servers: { a: reach(makeEcho('a')) } });
    await expect(host.callTool('b__echo')).rejects.toThrow(ToolRefusedError);
    await expect(host.callTool('a__other')).rejects.toMatchObject({ code: 'ERR_TOOL_UNKNOWN' });
    await expect(host.getPrompt('a__other')).rejects.toMatchObject({ code: 'ERR_TOOL_UNKNOWN' });
    await expect(host.readResource({ server: 'a', uri: 'x:y' })).rejects.not.toBeInstanceOf(RemoteError);
    await expect(host.readResource({ server: 'z', uri: 'x:y' })).rejects.toThrow('there is no server "z" (servers: a)');
  });

  it('leave out tools that the program filters', async () => {
    const server = makeEcho('a');
    server.registerTool('rm', {}, () => 'gone');
    const host = openHost({ servers: { a: reach(server, { tools: ({ name }) => name !== 'rm' }) } });
    expect((await host.tools()).map(({ name }) => name)).toEqual(['a__echo']);
    await expect(host.callTool('a__rm')).rejects.toMatchObject({ code: 'ERR_TOOL_UNKNOWN' });
  });
});

describe('options', () => {
  const servers = { a: { transport: () => createInMemoryPair()[0] } };
  const policy = (): boolean => true;
  it.each([
    [{ servers }, 'createHost needs a policy'],
    [{ servers, policy, polcy: 1 }, 'unknown option "polcy"'],
    [{ servers: { a: {} }, policy }, 'the server "a" needs a transport'],
    [{ servers: { a: { ...servers.a, roots: 1 } }, policy }, 'server "a": "roots" must be'],
    [{ servers: { a__b: servers.a, a_b: servers.a, 'a__b ': servers.a }, policy: 1 }, '"policy" must be'],
    [{ servers, policy, sampling: { createMessage: policy, maxTokens: 0 } }, 'sampling: "maxTokens" must be'],
  ] satisfies readonly (readonly [object, string])[])('refuses %o', (options, message) =>
    expect(() => createHost(options as never)).toThrow(message),
  );
});

describe('the end', () => {
  it('rejects calls in flight, leaves no client, and may be asked for twice', async () => {
    const server = makeServer('slow');
    const started = new Promise<void>((resolve) => {
      server.registerTool('wait', {}, async (ctx) => {
        resolve();
        return new Promise<string>((_, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('over'))));
      });
    });
    const host = createHost({ servers: { slow: { transport: inMemoryTransport(server, { via: 'channel' }) } }, policy: () => true });
    const called = host.callTool('slow__wait');
    called.catch(() => undefined);
    await started;
    await host.close();
    await host.close();
    await expect(called).rejects.toThrow();
    await vi.waitFor(() => expect(server.isConnected()).toBe(false));
    expect(host.states.get('slow')).toEqual({ status: 'closed' });
    await expect(host.callTool('slow__wait')).rejects.toThrow('the host was closed');
  });

  it('rejects calls that wait for the user', async () => {
    let onAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (onAsked = resolve));
    const policy = (): Promise<boolean> => {
      onAsked();
      return new Promise(() => undefined);
    };
    const host = openHost({ servers: { one: reach(makeEcho('one')) }, policy });
    const called = expect(host.callTool('one__echo')).rejects.toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    await asked;
    await host.close();
    await called;
  });

  it('gives the client of a ready server for what the host has no function for', async () => {
    const host = openHost({ servers: { a: reach(makeEcho('a')) } });
    expect(host.client('a')).toBeUndefined();
    await host.start('a');
    expect(host.client('a')).toBeInstanceOf(McpClient);
    onTestFinished(() => host.close());
  });
});
