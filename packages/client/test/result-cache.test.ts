/** Results that may be used again: as long as the server says, for whom it says, until it tells of a change. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClientOptions, createResultCache, McpClient } from '../src/index.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { info, legacyScript, modernScript, type Reply, type Script, ScriptedServer } from './scripted-server.ts';

const open: McpClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

const kept = (result: JsonObject, ttlMs: unknown = 1000, cacheScope = 'private'): Reply => ({
  result: { resultType: 'complete', ttlMs, cacheScope, ...result } as JsonObject,
});
const contents = (text: string): JsonObject => ({ contents: [{ uri: 'a:b', text }] });

interface Kept {
  readonly client: McpClient;
  readonly server: ScriptedServer;
  readonly clock: FakeClock;
  /** How often the server was asked. */
  count(method: string): number;
}

async function connect(script: Script, options: ClientOptions = {}, eraKey?: string): Promise<Kept> {
  const clock = new FakeClock();
  const server = new ScriptedServer(modernScript(script));
  const source = eraKey === undefined ? server.factory : Object.assign(() => server.factory(), { eraKey });
  const client = await McpClient.connect(source, info, { clock, resultCache: createResultCache(), ...options });
  open.push(client);
  return { client, server, clock, count: (method) => server.requests(method).length };
}

describe('a result with ttlMs', () => {
  it('[CACHE-006][CACHE-008][CACHE-009] is used again until it is that old, and then fetched when it is wanted: nothing is ever polled for', async () => {
    const { client, clock, count } = await connect({ 'tools/list': () => kept({ tools: [] }) });
    const first = await client.listTools();
    clock.advance(999);
    expect(await client.listTools()).toEqual(first);
    expect(count('tools/list')).toBe(1);
    clock.advance(1);
    await client.ping();
    clock.advance(100_000);
    await client.ping();
    expect(count('tools/list')).toBe(1);
    await client.listTools();
    expect(count('tools/list')).toBe(2);
  });

  it.each([undefined, 0, -5, '1000', null, Number.NaN])('[CACHE-007] of %s is not used again', async (ttlMs) => {
    const result = { resultType: 'complete', tools: [], cacheScope: 'public', ...(ttlMs !== undefined && { ttlMs }) };
    const { client, count } = await connect({ 'tools/list': () => ({ result }), 'prompts/list': () => kept({ prompts: [] }) });
    // With a result that is kept there is a cache, and every later one passes through it.
    await client.listPrompts();
    await client.listTools();
    await client.listTools();
    expect(count('tools/list')).toBe(2);
  });

  it('[CACHE-004] answers no request but the same one', async () => {
    const { client, count } = await connect({
      'resources/read': ({ params }) => kept(contents(String(params?.['uri']))),
      'tools/list': ({ params }) => kept({ tools: [], ...(params?.['cursor'] === undefined && { nextCursor: 'two' }) }),
    });
    expect((await client.readResource('a:1')).contents[0]).toMatchObject({ text: 'a:1' });
    expect((await client.readResource('a:2')).contents[0]).toMatchObject({ text: 'a:2' });
    expect((await client.readResource('a:1')).contents[0]).toMatchObject({ text: 'a:1' });
    expect(count('resources/read')).toBe(2);
    expect((await client.listTools()).nextCursor).toBe('two');
    expect((await client.listTools({ cursor: 'two' })).nextCursor).toBeUndefined();
    await client.listTools({ cursor: 'two' });
    expect(count('tools/list')).toBe(2);
  });

  it('[CACHE-005] is not kept where input was given for it', async () => {
    const { client, count } = await connect(
      {
        'resources/read': ({ params }) =>
          params?.['inputResponses'] === undefined
            ? { result: { resultType: 'input_required', inputRequests: { r: { method: 'roots/list' } }, requestState: 's' } }
            : kept(contents('x')),
      },
      { roots: [] },
    );
    await client.readResource('a:b');
    await client.readResource('a:b');
    expect(count('resources/read')).toBe(4);
    await client.request('resources/read', { uri: 'a:b', requestState: 's', inputResponses: {} });
    await client.request('resources/read', { uri: 'a:b', requestState: 's', inputResponses: {} });
    expect(count('resources/read')).toBe(6);
  });

  it.each([
    { change: 'notifications/tools/list_changed', method: 'tools/list', call: (client: McpClient) => client.listTools() },
    { change: 'notifications/prompts/list_changed', method: 'prompts/list', call: (client: McpClient) => client.listPrompts() },
    { change: 'notifications/resources/list_changed', method: 'resources/list', call: (client: McpClient) => client.listResources() },
    {
      change: 'notifications/resources/list_changed',
      method: 'resources/templates/list',
      call: (client: McpClient) => client.listResourceTemplates(),
    },
    { change: 'notifications/resources/updated', method: 'resources/read', call: (client: McpClient) => client.readResource('a:b') },
    { change: 'notifications/resources/updated', method: 'resources/read', call: (client: McpClient) => client.readResource('a:b/c') },
  ])('[CACHE-013][CACHE-010] of $method is fetched again at once after $change', async ({ change, method, call }) => {
    const answer = (): Reply => kept({ tools: [], prompts: [], resources: [], resourceTemplates: [], contents: [] });
    const { client, server, count } = await connect({
      [method]: answer,
      'completion/complete': () => kept({ completion: { values: [] } }),
    });
    await call(client);
    await server.notify('notifications/resources/updated', { uri: 'z:other' });
    await client.ping();
    await call(client);
    expect(count(method)).toBe(1);
    await server.notify(change, { uri: 'a:b' });
    await client.ping();
    await call(client);
    expect(count(method)).toBe(2);
  });

  it('[CACHE-013] is not kept where the change was told while it was on its way', async () => {
    let isFirst = true;
    const { client, count } = await connect({
      'tools/list': async (_request, server) => {
        if (isFirst) await server.notify('notifications/tools/list_changed');
        isFirst = false;
        return kept({ tools: [] });
      },
    });
    await client.listTools();
    await client.listTools();
    expect(count('tools/list')).toBe(2);
  });

  it('[CACHE-014][CACHE-016] is as old as its own page, and a page is fetched again by its own cursor', async () => {
    const { client, clock, server, count } = await connect({
      'tools/list': ({ params }) =>
        params?.['cursor'] === 'two' ? kept({ tools: [] }, 100) : kept({ tools: [], nextCursor: 'two' }, 1000),
    });
    const read = async (): Promise<void> => {
      for await (const _tool of client.tools()) expect(_tool).toBeDefined();
    };
    await read();
    clock.advance(100);
    await read();
    expect(server.requests('tools/list').map(({ params }) => params?.['cursor'])).toEqual([undefined, 'two', 'two']);
    clock.advance(950);
    await read();
    expect(count('tools/list')).toBe(5);
  });

  it('[CACHE-017] is dropped with all pages of its list when a cursor is refused, and the list is read from its beginning', async () => {
    let generation = 1;
    const tool = (name: string): JsonObject => ({ name, inputSchema: { type: 'object' } });
    const { client, clock, server } = await connect({
      'tools/list': ({ params }) => {
        const cursor = params?.['cursor'];
        if (cursor === undefined) return kept({ tools: [tool('a')], nextCursor: `g${generation}` }, 1000);
        return cursor === `g${generation}`
          ? kept({ tools: [tool(`b${generation}`)] }, 100)
          : { error: { code: -32602, message: 'Invalid cursor' } };
      },
    });
    const read = async (): Promise<string[]> => {
      const names: string[] = [];
      for await (const { name } of client.tools()) names.push(name);
      return names;
    };
    expect(await read()).toEqual(['a', 'b1']);
    generation = 2;
    clock.advance(100);
    expect(await read()).toEqual(['a', 'b2']);
    expect(server.requests('tools/list').map(({ params }) => params?.['cursor'])).toEqual([undefined, 'g1', 'g1', undefined, 'g2']);
  });

  it('is the same for all who are given it, whatever one of them does to it', async () => {
    const { client } = await connect({ 'tools/list': () => kept({ tools: [], _meta: { k: { v: 1 } } }) });
    await client.listTools();
    const spoilt = (await client.listTools()) as unknown as { _meta: { k: { v: number } } };
    spoilt._meta.k.v = 2;
    expect((await client.listTools())._meta).toEqual({ k: { v: 1 } });
  });

  it('is not used again where the answer may depend on more than the parameters, nor once it is forgotten', async () => {
    const { client, count } = await connect({ 'tools/list': () => kept({ tools: [] }) });
    await client.listTools();
    await client.listTools({}, { headers: { 'x-tenant': 'a' } });
    await client.listTools({}, { meta: { 'x.example/tenant': 'a' } });
    expect(count('tools/list')).toBe(3);
    await client.listTools();
    expect(count('tools/list')).toBe(3);
    client.forgetResults();
    await client.listTools();
    expect(count('tools/list')).toBe(4);
  });

  it('is never used again without resultCache, nor from a legacy server', async () => {
    const { client, count } = await connect({ 'tools/list': () => kept({ tools: [] }) }, { resultCache: undefined });
    await client.listTools();
    await client.listTools();
    expect(count('tools/list')).toBe(2);
    const server = new ScriptedServer(legacyScript('2025-11-25', { 'tools/list': () => kept({ tools: [] }) }));
    const legacy = await McpClient.connect(server.factory, info, { era: 'legacy', resultCache: createResultCache() });
    open.push(legacy);
    await legacy.listTools();
    await legacy.listTools();
    expect(server.requests('tools/list')).toHaveLength(2);
  });

  it('is not a tool call, whatever it says', async () => {
    const { client, count } = await connect({ 'tools/call': () => kept({ content: [] }) });
    await client.callTool('x');
    await client.callTool('x');
    expect(count('tools/call')).toBe(2);
  });
});

describe('a cache that clients share', () => {
  const key = 'https://one.example/mcp';
  const script = (cacheScope: string): Script => ({ 'tools/list': () => kept({ tools: [] }, 1000, cacheScope) });

  it('[CACHE-012] gives a public result of a server to all of them', async () => {
    const resultCache = createResultCache();
    const first = await connect(script('public'), { resultCache }, key);
    await first.client.listTools();
    const second = await connect(script('public'), { resultCache }, key);
    await second.client.listTools();
    expect(second.count('tools/list')).toBe(0);
    const elsewhere = await connect(script('public'), { resultCache }, 'https://two.example/mcp');
    await elsewhere.client.listTools();
    const nameless = await connect(script('public'), { resultCache });
    await nameless.client.listTools();
    expect([elsewhere.count('tools/list'), nameless.count('tools/list')]).toEqual([1, 1]);
  });

  it('[CACHE-011] gives a private one to clients of the same authorization only, and to no other client where that is not known', async () => {
    const resultCache = createResultCache();
    const ask = async (authContext?: string): Promise<number> => {
      const server = new ScriptedServer(modernScript(script('private')));
      const source = Object.assign(() => Object.assign(server.factory(), { authContext }), { eraKey: key });
      const client = await McpClient.connect(source, info, { clock: new FakeClock(), resultCache });
      open.push(client);
      await client.listTools();
      return server.requests('tools/list').length;
    };
    expect(await ask('ada')).toBe(1);
    expect(await ask('ada')).toBe(0);
    expect(await ask('bob')).toBe(1);
    expect(await ask()).toBe(1);
    expect(await ask()).toBe(1);
  });

  it('[CACHE-011] keeps a private one for the authorization that it was fetched with, where the transport tells them apart', async () => {
    let authContext = 'token-1';
    const server = new ScriptedServer(modernScript(script('private')));
    const source = () => {
      const transport = server.factory();
      Object.defineProperty(transport, 'authContext', { get: () => authContext });
      return transport;
    };
    const client = await McpClient.connect(source, info, { clock: new FakeClock(), resultCache: createResultCache() });
    open.push(client);
    await client.listTools();
    await client.listTools();
    expect(server.requests('tools/list')).toHaveLength(1);
    authContext = 'token-2';
    await client.listTools();
    expect(server.requests('tools/list')).toHaveLength(2);
  });

  it('[CACHE-011] keeps nothing whose authorization changed before it came', async () => {
    let authContext = 'token-1';
    const server = new ScriptedServer(
      modernScript({
        'tools/list': () => {
          // The user signs in as somebody else while the answer to the first is on its way.
          authContext = 'token-2';
          return kept({ tools: [] }, 1000, 'private');
        },
      }),
    );
    const source = () => Object.defineProperty(server.factory(), 'authContext', { get: () => authContext });
    const client = await McpClient.connect(source, info, { clock: new FakeClock(), resultCache: createResultCache() });
    open.push(client);
    for (const sent of [1, 2, 2]) {
      await client.listTools();
      expect(server.requests('tools/list')).toHaveLength(sent);
    }
  });

  it('holds no more than it may, the least recently used going first, and nothing longer than it may', async () => {
    const clock = new FakeClock();
    const resultCache = createResultCache();
    const { client, count } = await connect({ 'resources/read': () => kept(contents('x'), 1e12) }, { resultCache, clock }, key);
    for (let n = 1; n <= 1000; n += 1) await client.readResource(`a:${n}`);
    for (const uri of ['a:1', 'a:1001', 'a:1']) await client.readResource(uri);
    expect(count('resources/read')).toBe(1001);
    expect(resultCache.size).toBe(1000);
    await client.readResource('a:2');
    expect(count('resources/read')).toBe(1002);
    clock.advance(86_399_999);
    await client.readResource('a:2');
    expect(count('resources/read')).toBe(1002);
    clock.advance(1);
    await client.readResource('a:2');
    expect(count('resources/read')).toBe(1003);
    const full = createResultCache();
    const other = await connect({ 'resources/read': () => kept(contents('x'.repeat(9_000_000))) }, { resultCache: full }, key);
    await other.client.readResource('a:1');
    await other.client.readResource('a:2');
    expect(full.size).toBe(1);
    resultCache.clear();
    expect(resultCache.size).toBe(0);
  });
});
