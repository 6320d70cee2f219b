/** What stands around requests, and the extensions that use it. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { NEWEST, NEWEST_LEGACY, REVISIONS } from '@mortise/protocol';
import { META_CLIENT_CAPABILITIES } from '@mortise/protocol/wire';
import type { ClientExtension, ClientExtensionHost } from '@mortise/protocol/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, McpClient } from '../src/index.ts';
import { complete, info, legacyScript, modernScript, type Script, ScriptedServer, scriptOf } from './scripted-server.ts';

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function connect(script: Script, options: ClientOptions = {}): Promise<{ client: McpClient; server: ScriptedServer }> {
  const server = new ScriptedServer(script);
  const client = await McpClient.connect(server.factory, info, options);
  open.push(client);
  return { client, server };
}

describe.each(REVISIONS)('middleware in $version', (revision) => {
  const script = scriptOf(revision, {
    'tools/call': ({ params }) => complete(revision, { content: [{ type: 'text', text: JSON.stringify(params?.['arguments'] ?? null) }] }),
    'tools/list': () => complete(revision, { tools: [] }),
  });

  it('wraps every request, the first one added outermost, or those of one method', async () => {
    const { client } = await connect(script, { protocolVersion: revision.version });
    const order: string[] = [];
    client
      .use(async (call, next) => {
        order.push(`outer ${call.method} ${call.target ?? '-'}`);
        const result = await next();
        order.push('outer done');
        return result;
      })
      .use('tools/call', (call, next) => {
        order.push(`inner ${call.revision.version} ${call.era} ${call.server.info?.name ?? ''}`);
        return next();
      });
    await client.callTool('x');
    await client.listTools();
    expect(() => client.use('tools/call', undefined as never)).toThrow('use("tools/call") needs a middleware');
    expect(order).toEqual([
      'outer tools/call x',
      `inner ${revision.version} ${revision.era} scripted`,
      'outer done',
      'outer tools/list -',
      'outer done',
    ]);
  });

  it('may change parameters and results, answer by itself, and pass something on', async () => {
    const { client, server } = await connect(script, { protocolVersion: revision.version });
    client.use('tools/call', async (call, next) => {
      call.state.set('who', 'first');
      const result = await next({ ...call.params, arguments: { a: 2 } });
      return { ...result, extra: call.state.get('who') as string };
    });
    client.use('tools/call', (call, next) => {
      expect(call.params['arguments']).toEqual({ a: 2 });
      call.state.set('who', `${String(call.state.get('who'))} second`);
      return next();
    });
    client.use('tools/list', () => ({ tools: [{ name: 'made up' }] }));
    expect(await client.callTool('x', { a: 1 })).toMatchObject({ content: [{ text: '{"a":2}' }], extra: 'first second' });
    expect((await client.listTools()).tools).toMatchObject([{ name: 'made up' }]);
    expect(server.requests('tools/list')).toHaveLength(0);
  });

  it('sees the errors, and its own reach the caller', async () => {
    const { client } = await connect(script, { protocolVersion: revision.version });
    client.use('prompts/get', async (_call, next) => {
      await expect(next()).rejects.toMatchObject({ rpcCode: -32601 });
      throw new Error('mine');
    });
    await expect(client.getPrompt('p')).rejects.toThrow('mine');
  });
});

describe('an extension', () => {
  it('is given everything of the client that it needs', async () => {
    let host: ClientExtensionHost | undefined;
    const heard: JsonObject[] = [];
    const extension: ClientExtension = {
      id: 'x.example/all',
      settings: { a: 1 },
      install: (given) => {
        host = given;
        given.onNotification('x.example/event', (params) => heard.push(params));
        given.intercept('tools/call', async (params, next) => ({ ...(await next({ ...params, arguments: { added: true } })), seen: true }));
        given.addMethod('x.example/ask', ({ q }) => ({ a: q ?? null }));
      },
    };
    const { client, server } = await connect(
      modernScript(
        {
          'tools/call': ({ params }) => complete(NEWEST, { content: [], args: params?.['arguments'] ?? null }),
          'x.example/do': ({ params }) => ({ result: { resultType: 'complete', did: params?.['what'] ?? null } }),
        },
        { capabilities: { tools: {}, extensions: { 'x.example/all': {} } } },
      ),
      { extensions: [extension] },
    );
    if (!host) throw new Error('install must have been called');
    expect(host.revision).toBe(NEWEST);
    expect(host.serverCapabilities).toMatchObject({ tools: {} });
    expect(await host.request('x.example/do', { what: 'it' })).toMatchObject({ did: 'it' });
    expect(server.requests('x.example/do')[0]?.params?.['_meta']).toMatchObject({
      [META_CLIENT_CAPABILITIES]: { extensions: { 'x.example/all': { a: 1 } } },
    });
    expect(await host.requestRaw('x.example/no', {})).toMatchObject({ error: { code: -32601 } });
    await host.notify('x.example/tell', { b: 2 });
    expect((await server.nextMethod('x.example/tell')).params).toEqual({ b: 2 });
    expect(await host.answer({ method: 'x.example/ask', params: { q: 5 } })).toEqual({ a: 5 });
    expect(await client.callTool('x')).toMatchObject({ args: { added: true }, seen: true });
    await server.notify('x.example/event', { c: 3 });
    await client.ping();
    expect(heard).toEqual([{ c: 3 }]);
    const listening = host.listen({ mine: true })[Symbol.asyncIterator]();
    await server.nextMethod('subscriptions/listen');
    expect(server.requests('subscriptions/listen')[0]?.params?.['notifications']).toEqual({ mine: true });
    await listening.return?.();
  });

  it('declares top-level capabilities in the revisions that it names, and answers what the server then asks', async () => {
    const extension: ClientExtension = {
      id: 'x.example/tasks',
      capabilities: (revision): JsonObject => (revision.rules.coreTasks ? { tasks: { list: {} } } : {}),
      install: (host) => host.addMethod('tasks/list', () => ({ tasks: [] })),
    };
    const { server } = await connect(legacyScript(NEWEST_LEGACY.version), { extensions: [extension], era: 'legacy' });
    expect(server.requests('initialize')[0]?.params?.['capabilities']).toMatchObject({ tasks: { list: {} } });
    await server.send({ jsonrpc: '2.0', id: 'q', method: 'tasks/list' });
    expect(await server.next((message) => 'result' in message && message.id === 'q')).toMatchObject({ result: { tasks: [] } });
  });

  it("stands around a request inside the program's own middleware", async () => {
    const order: string[] = [];
    const extension: ClientExtension = {
      id: 'x.example/a',
      install: (host) =>
        host.intercept('tools/list', (params, next) => {
          order.push('extension');
          return next(params);
        }),
    };
    const { client } = await connect(modernScript({ 'tools/list': () => complete(NEWEST, { tools: [] }) }), { extensions: [extension] });
    client.use((_call, next) => {
      order.push('program');
      return next();
    });
    await client.listTools();
    expect(order).toEqual(['program', 'extension']);
  });
});

it.each(['noprefix', '/name', 'x.example/', '1x.example/a', 'x..example/a', 'x.example/-a'])(
  '[CAP-012][VERS-012] an extension cannot be called %j',
  (id) => {
    expect(() => new McpClient(info, { extensions: [{ id }] })).toThrow(/Extension identifier/u);
  },
);
