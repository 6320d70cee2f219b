import { describe, expect, it } from 'vitest';
import { McpServer, type McpServerOptions, ResourceTemplate } from '@mortise/server';
import { ALL, LEGACY, type Loose, MODERN, RawPeer } from './raw-peer.ts';

function serve(options: McpServerOptions = {}): McpServer {
  const server = new McpServer({ name: 'm', version: '1' }, { pageSize: 2, ...options });
  for (const name of ['a', 'b', 'c']) {
    server.registerTool(name, {}, () => 'x');
    server.registerPrompt(name, {}, () => 'x');
    server.registerResource(name, `x://${name}`, {}, () => name);
    server.registerResource(name, new ResourceTemplate(`y://${name}/{id}`, { list: undefined }), {}, () => name);
  }
  return server;
}

const LISTS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'server/discover'] as const;
const hintsOf = ({ ttlMs, cacheScope }: Loose): Loose => ({ ttlMs, cacheScope });

describe('cache hints', () => {
  it('[CACHE-001][CACHE-003] stand on every result that has them, an integer and a scope', async () => {
    const peer = await RawPeer.open(serve(), MODERN);
    for (const method of LISTS) expect(hintsOf(await peer.call(method))).toEqual({ ttlMs: 0, cacheScope: 'public' });
    expect(hintsOf(await peer.call('resources/read', { uri: 'x://a' }))).toEqual({ ttlMs: 0, cacheScope: 'private' });
    for (const method of ['tools/call', 'prompts/get'])
      expect(hintsOf(await peer.call(method, { name: 'a' }))).toEqual({ ttlMs: undefined, cacheScope: undefined });
  });

  it.each(LEGACY)('stand on none in %s, which has no such thing', async (version) => {
    const peer = await RawPeer.open(serve({ cache: { listTtlMs: 5 } }), version);
    for (const method of LISTS.filter((each) => each !== 'server/discover'))
      expect(hintsOf(await peer.call(method))).toEqual({ ttlMs: undefined, cacheScope: undefined });
  });

  it('[CACHE-015] have one scope on all pages of a list', async () => {
    for (const cacheScope of ['public', 'private'] as const) {
      const peer = await RawPeer.open(serve({ cache: { listScope: cacheScope } }), MODERN);
      const first = await peer.call('tools/list');
      const second = await peer.call('tools/list', { cursor: first.nextCursor });
      expect([first.cacheScope, second.cacheScope, second.nextCursor]).toEqual([cacheScope, cacheScope, undefined]);
    }
  });

  it('[CACHE-003] that may not be sent are refused where they are written, and left out where a reader gives them', async () => {
    const bad: [McpServerOptions['cache'], RegExp][] = [
      [{ listTtlMs: 0.5 }, /cache: "listTtlMs" and "readTtlMs" must be integers of 0 or more milliseconds/],
      [{ readTtlMs: -1 }, /cache: "readTtlMs" must be a number, 0 or more, got -1/],
      [{ listTtlMs: Infinity }, /integers of 0 or more milliseconds/],
      [{ listScope: 'shared' as 'public' }, /"public" or "private"/],
    ];
    for (const [cache, message] of bad) expect(() => serve({ cache })).toThrow(message);
    const server = serve();
    expect(() => server.registerResource('d', 'x://d', { ttlMs: -1 }, () => 'd')).toThrow(
      /resource "d": "ttlMs" must be a number, 0 or more, got -1/,
    );
    expect(() => server.registerResource('t', new ResourceTemplate('z://{i}', { list: undefined }), { ttlMs: 0.1 }, () => 'd')).toThrow(
      /"ttlMs" must be an integer of 0 or more milliseconds/,
    );
    const handle = server.registerResource('e', 'x://e', {}, () => ({ contents: [{ text: 'e' }], ttlMs: -5, cacheScope: 'all' }) as Loose);
    expect(() => handle.update({ cacheScope: 'x' as 'public' })).toThrow(/"public" or "private"/);
    const peer = await RawPeer.open(server, MODERN);
    expect(hintsOf(await peer.call('resources/read', { uri: 'x://e' }))).toEqual({ ttlMs: 0, cacheScope: 'private' });
  });

  it('[CACHE-018] open nothing: what a caller may not see stays hidden behind a public scope', async () => {
    const server = serve({ cache: { listScope: 'public', listTtlMs: 60_000 } });
    const visible = ({ principal }: { readonly principal: string }): boolean => principal === 'ann';
    server.registerTool('secret', { visible }, () => 'x');
    server.registerResource('secret', 'x://secret', { visible, cacheScope: 'public', ttlMs: 60_000 }, () => 'x');
    server.registerTool('scoped', { scopes: ['admin'] }, () => 'x');
    const [ann, bob] = [
      await RawPeer.open(server, MODERN, { info: { principal: 'ann' } }),
      await RawPeer.open(server, MODERN, { info: { principal: 'bob' } }),
    ];
    expect((await ann.call('resources/read', { uri: 'x://secret' })).contents[0].text).toBe('x');
    expect((await ann.callTool('secret')).content[0].text).toBe('x');
    for (const [method, params] of [
      ['resources/read', { uri: 'x://secret' }],
      ['tools/call', { name: 'secret' }],
    ] as const)
      expect((await bob.request(method, params)).error?.code).toBe(-32602);
    expect((await bob.request('tools/call', { name: 'scoped' })).error).toBeDefined();
    // A list that differs by caller is private, whatever the options say.
    expect((await bob.call('tools/list')).cacheScope).toBe('private');
  });
});

describe.each(ALL)('the order of lists in %s', (version) => {
  it('is that of registration, the same each time, through changes of other items', async () => {
    const server = serve({ pageSize: 10 });
    const b = server.registerTool('between', {}, () => 'x');
    server.registerTool('last', {}, () => 'x');
    const peer = await RawPeer.open(server, version);
    const names = async (): Promise<string[]> => (await peer.call('tools/list')).tools.map(({ name }: Loose) => name);
    expect(await names()).toEqual(['a', 'b', 'c', 'between', 'last']);
    b.disable();
    expect(await names()).toEqual(['a', 'b', 'c', 'last']);
    b.update({ name: 'renamed', enabled: true });
    expect(await names()).toEqual(['a', 'b', 'c', 'renamed', 'last']);
    expect(await names()).toEqual(await names());
    await peer.close();
  });
});
