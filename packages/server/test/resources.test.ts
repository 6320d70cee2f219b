import { describe, expect, it } from 'vitest';
import { RESOURCE_NOT_FOUND_LEGACY } from '@mortise/protocol/wire';
import { defineResource, McpServer, RegistrationError, ResourceTemplate } from '@mortise/server';
import { ALL, LEGACY, type Loose, MODERN, RawPeer } from './raw-peer.ts';

const create = (options = {}): McpServer => new McpServer({ name: 'resources', version: '1.0.0' }, options);
const since = (version: string, first: string): boolean =>
  (ALL as readonly string[]).indexOf(version) >= (ALL as readonly string[]).indexOf(first);

function createLibrary(): McpServer {
  const server = create();
  server.registerResource('readme', 'docs://readme', { title: 'Read me', mimeType: 'text/markdown', size: 7 }, () => '# Hello');
  server.registerResource('logo', 'docs://logo', { mimeType: 'image/png' }, () => new Uint8Array([1, 2, 255]));
  server.registerResource(
    'book',
    new ResourceTemplate('book://{author}/{title}', { list: undefined }),
    { mimeType: 'text/plain' },
    (_uri, { author, title }) => `${String(title)} by ${String(author)}`,
  );
  return server;
}

describe.each(ALL)('resources in %s', (version) => {
  it('[RES-001] advertises the capability with its two flags once a resource is registered', async () => {
    const told = async (server: McpServer) => {
      const peer = await RawPeer.attach(server, version);
      return (peer.isModern ? await peer.call('server/discover') : (await peer.initialize()).result).capabilities.resources;
    };
    expect(await told(create())).toBeUndefined();
    expect(await told(createLibrary())).toEqual({ listChanged: true, subscribe: true });
    const declared = create({ capabilities: { resources: { subscribe: false } } });
    declared.registerResource('r', 'test://r', {}, () => 'r');
    expect(await told(declared)).toEqual({ listChanged: true, subscribe: false });
  });

  it('[RES-003][RES-004] lists resources and templates with what the revision has', async () => {
    const peer = await RawPeer.open(createLibrary(), version);
    const { resources } = await peer.call('resources/list');
    expect(resources[0]).toMatchObject({ uri: 'docs://readme', name: 'readme', mimeType: 'text/markdown', size: 7 });
    expect('title' in resources[0]).toBe(since(version, '2025-06-18'));
    const { resourceTemplates } = await peer.call('resources/templates/list');
    expect(resourceTemplates).toEqual([{ uriTemplate: 'book://{author}/{title}', name: 'book', mimeType: 'text/plain' }]);
  });

  it('[RES-005] reads text, bytes as base64, and several items', async () => {
    const server = createLibrary();
    server.registerResource('many', 'docs://many', {}, (uri) => [
      { text: 'one' },
      { uri: `${uri.href}/two`, blob: 'aGk=', mimeType: 'a/b' },
    ]);
    const peer = await RawPeer.open(server, version);
    const contents = async (uri: string) => (await peer.call('resources/read', { uri })).contents;
    expect(await contents('docs://readme')).toEqual([{ uri: 'docs://readme', mimeType: 'text/markdown', text: '# Hello' }]);
    expect(await contents('docs://logo')).toEqual([{ uri: 'docs://logo', mimeType: 'image/png', blob: 'AQL/' }]);
    expect(await contents('docs://many')).toEqual([
      { uri: 'docs://many', text: 'one' },
      { uri: 'docs://many/two', mimeType: 'a/b', blob: 'aGk=' },
    ]);
  });

  it('gives a template its variables percent-decoded', async () => {
    const peer = await RawPeer.open(createLibrary(), version);
    const { contents } = await peer.call('resources/read', { uri: 'book://J.%20Doe/A%20%2F%20B' });
    expect(contents).toEqual([{ uri: 'book://J.%20Doe/A%20%2F%20B', mimeType: 'text/plain', text: 'A / B by J. Doe' }]);
  });

  it('[RES-006][RES-007][ERR-011] answers a missing resource with the code of the revision, and its URI', async () => {
    const server = createLibrary();
    server.registerResource('none', new ResourceTemplate('maybe://{x}', { list: undefined }), {}, () => undefined);
    const peer = await RawPeer.open(server, version);
    const code = version === MODERN ? -32602 : RESOURCE_NOT_FOUND_LEGACY;
    for (const uri of ['docs://nothing', 'maybe://x'])
      expect((await peer.request('resources/read', { uri })).error).toMatchObject({ code, data: { uri } });
  });

  it('[RES-010] never gives empty contents for what does not exist, but does for what is empty', async () => {
    const server = createLibrary();
    server.registerResource('empty', 'docs://empty', {}, () => ({ contents: [] }));
    const peer = await RawPeer.open(server, version);
    expect((await peer.call('resources/read', { uri: 'docs://empty' })).contents).toEqual([]);
    expect((await peer.request('resources/read', { uri: 'docs://gone' })).result).toBeUndefined();
  });

  it('[RES-009][ERR-001] answers a failing reader with -32603 and nothing of its words', async () => {
    const server = create();
    server.registerResource('broken', 'docs://broken', {}, () => Promise.reject(new Error('disk /dev/sda1 is gone')));
    server.registerResource('wrong', 'docs://wrong', {}, () => 5 as Loose);
    const peer = await RawPeer.open(server, version);
    for (const uri of ['docs://broken', 'docs://wrong'])
      expect((await peer.request('resources/read', { uri })).error).toEqual({ code: -32603, message: 'Internal error' });
  });

  it.each(['not a uri', '', 'relative/path', 'docs://[bad'])('[RES-018] refuses to read %j, which is no URI', async (uri) => {
    const peer = await RawPeer.open(createLibrary(), version);
    expect((await peer.request('resources/read', { uri })).error?.code).toBe(-32602);
  });

  it('[RES-019] hides a resource from those who may not see it, in list and read alike', async () => {
    const server = createLibrary();
    server.registerResource('secret', 'docs://secret', { visible: ({ auth }) => auth?.scopes.includes('read') === true }, () => 's');
    server.registerResource(
      'family',
      new ResourceTemplate('vault://{x}', { list: undefined }),
      { visible: ({ auth }) => auth !== undefined },
      () => 'v',
    );
    const insider = await RawPeer.open(server, version, { info: { principal: 'ann', auth: { principal: 'ann', scopes: ['read'] } } });
    const outsider = await RawPeer.open(server, version);
    const uris = async (peer: RawPeer) => (await peer.call('resources/list')).resources.map((each: Loose) => each.uri);
    expect(await uris(insider)).toContain('docs://secret');
    expect(await uris(outsider)).not.toContain('docs://secret');
    expect((await outsider.call('resources/templates/list')).resourceTemplates).toHaveLength(1);
    for (const uri of ['docs://secret', 'vault://x']) {
      expect((await insider.request('resources/read', { uri })).error).toBeUndefined();
      expect((await outsider.request('resources/read', { uri })).error?.code).toBe(version === MODERN ? -32602 : -32002);
    }
  });

  it('[RES-002] may list nothing once declared', async () => {
    const peer = await RawPeer.open(create({ capabilities: { resources: {} } }), version);
    expect((await peer.call('resources/list')).resources).toEqual([]);
    expect((await peer.call('resources/templates/list')).resourceTemplates).toEqual([]);
  });

  it('lists the members that a template names, with what the template says of them', async () => {
    const server = create();
    const list = () => ({
      resources: [
        { uri: 'note://1', name: 'One' },
        { uri: 'note://2', mimeType: 'text/html' },
      ],
    });
    server.registerResource(
      'note',
      new ResourceTemplate('note://{id}', { list }),
      { mimeType: 'text/plain', description: 'A note' },
      () => 'n',
    );
    const peer = await RawPeer.open(server, version);
    expect((await peer.call('resources/list')).resources).toEqual([
      { uri: 'note://1', name: 'One', mimeType: 'text/plain', description: 'A note' },
      { uri: 'note://2', name: 'note://2', mimeType: 'text/html', description: 'A note' },
    ]);
  });
});

describe('registering a resource', () => {
  it.each(['no scheme', '1x://a', 'docs://with space', 'docs://ü', 'docs://a"b'])('[RES-020] refuses the URI %j', (uri) => {
    expect(() => create().registerResource('r', uri, {}, () => 'r')).toThrow(RegistrationError);
  });

  it.each(['urn:isbn:123', 'x-own+scheme://a.b/c?d=e#f', 'file:///a/b%20c', 'docs://%C3%BC'])('[RES-020] takes the URI %j', (uri) => {
    expect(() => create().registerResource('r', uri, {}, () => 'r')).not.toThrow();
  });

  it.each([{ audience: ['robot'] }, { priority: 1.5 }, { priority: -1 }, { lastModified: 'yesterday' }] as Loose[])(
    '[RES-022] refuses the annotations %j',
    (annotations) => {
      expect(() => create().registerResource('r', 'test://r', { annotations }, () => 'r')).toThrow(RegistrationError);
    },
  );

  it.each(ALL)('[RES-022] shows good annotations in %s, with lastModified where the revision has it', async (version) => {
    const server = create();
    server.registerResource(
      'r',
      'test://r',
      { annotations: { audience: ['user'], priority: 0.5, lastModified: '2025-01-12T15:00:58Z' } },
      () => 'r',
    );
    const peer = await RawPeer.open(server, version);
    const [{ annotations }] = (await peer.call('resources/list')).resources;
    expect(annotations).toMatchObject({ audience: ['user'], priority: 0.5 });
    expect('lastModified' in annotations).toBe(since(version, '2025-06-18'));
  });

  it('refuses an address or a template name that is taken', () => {
    const server = createLibrary();
    expect(() => server.registerResource('other', 'docs://readme', {}, () => 'r')).toThrow(RegistrationError);
    expect(() => server.registerResource('book', new ResourceTemplate('other://{x}', { list: undefined }), {}, () => 'r')).toThrow(
      RegistrationError,
    );
  });

  it('takes resources as values', async () => {
    const server = create({
      resources: {
        one: defineResource('test://one', {}, () => 'one'),
        all: defineResource(new ResourceTemplate('test://all/{x}', { list: undefined }), {}, (_uri, { x }) => String(x)),
      },
    });
    const peer = await RawPeer.open(server, MODERN);
    expect((await peer.call('resources/read', { uri: 'test://one' })).contents[0].text).toBe('one');
    expect((await peer.call('resources/read', { uri: 'test://all/5' })).contents[0].text).toBe('5');
  });

  it('[RES-021] leaves custom schemes and https alone: what is registered is what is listed', async () => {
    const server = create();
    server.registerResource('web', 'https://example.com/page', {}, () => 'page');
    const peer = await RawPeer.open(server, MODERN);
    expect((await peer.call('resources/list')).resources[0].uri).toBe('https://example.com/page');
  });
});

describe('handles of resources', () => {
  it('change address, name, reader and visibility while clients are connected', async () => {
    const server = create();
    const one = server.registerResource('one', 'test://1', {}, () => 'one');
    const family = server.registerResource('family', new ResourceTemplate('test://f/{x}', { list: undefined }), {}, () => 'old');
    const peer = await RawPeer.open(server, MODERN);
    const read = async (uri: string) => (await peer.request('resources/read', { uri })).result?.contents[0].text;
    one.update({ uri: 'test://2', name: 'two', title: 'Two', handler: () => 'two' });
    expect([one.uri, one.name]).toEqual(['test://2', 'two']);
    expect([await read('test://1'), await read('test://2')]).toEqual([undefined, 'two']);
    family.update({ handler: (_uri: URL, { x }: { x: string }) => `new ${x}` });
    expect(await read('test://f/1')).toBe('new 1');
    family.disable();
    one.disable();
    expect([await read('test://f/1'), await read('test://2')]).toEqual([undefined, undefined]);
    one.enable();
    one.update({ uri: null });
    family.remove();
    expect((await peer.call('resources/list')).resources).toEqual([]);
  });

  it.each(LEGACY)('[RES-011] tell %s clients unasked that the list changed', async (version) => {
    const server = createLibrary();
    const peer = await RawPeer.open(server, version);
    await peer.settle();
    server.registerResource('new', 'docs://new', {}, () => 'n');
    await peer.nextNotification('notifications/resources/list_changed');
  });

  it('[RES-012] tell modern clients on subscriptions alone', async () => {
    const server = createLibrary();
    const peer = await RawPeer.open(server, MODERN);
    server.registerResource('new', 'docs://new', {}, () => 'n');
    await peer.settle();
    expect(peer.notifications()).toEqual([]);
    void peer.request('subscriptions/listen', { notifications: { resourcesListChanged: true } });
    await peer.nextNotification('notifications/subscriptions/acknowledged');
    server.registerResource('newer', 'docs://newer', {}, () => 'n');
    await peer.nextNotification('notifications/resources/list_changed');
  });
});

describe.each(LEGACY)('subscriptions to resources in %s', (version) => {
  it('[RES-013][RES-014] tell of updates of what was subscribed to, and of nothing else, until unsubscribed', async () => {
    const server = createLibrary();
    const peer = await RawPeer.open(server, version);
    const other = await RawPeer.open(server, version);
    expect(await peer.call('resources/subscribe', { uri: 'docs://readme' })).toEqual({});
    await server.sendResourceUpdated({ uri: 'docs://logo' });
    await server.sendResourceUpdated({ uri: 'docs://readme' });
    expect((await peer.nextNotification('notifications/resources/updated')).params).toEqual({ uri: 'docs://readme' });
    expect(await peer.call('resources/unsubscribe', { uri: 'docs://readme' })).toEqual({});
    await server.sendResourceUpdated({ uri: 'docs://readme' });
    await peer.settle();
    expect(peer.notifications('notifications/resources/updated')).toHaveLength(1);
    expect(other.notifications()).toEqual([]);
  });

  it('are refused where the server does not offer them', async () => {
    const server = create({ capabilities: { resources: { subscribe: false } } });
    server.registerResource('r', 'test://r', {}, () => 'r');
    const peer = await RawPeer.open(server, version);
    expect((await peer.request('resources/subscribe', { uri: 'test://r' })).error?.code).toBe(-32601);
  });

  it('are bounded for one session', async () => {
    const server = create({ maxSubscriptions: 2 });
    server.registerResource('r', 'test://r', {}, () => 'r');
    const peer = await RawPeer.open(server, version);
    for (const uri of ['test://1', 'test://2', 'test://2']) await peer.call('resources/subscribe', { uri });
    expect((await peer.request('resources/subscribe', { uri: 'test://3' })).error?.code).toBe(-32602);
  });

  it.each([1000, 1])('[ROBUSTNESS-7] are not kept for an address of any length that a client makes up, of %i at most', async (most) => {
    const server = create({ maxSubscriptions: most });
    server.registerResource('r', 'test://r', {}, () => 'r');
    const peer = await RawPeer.open(server, version);
    const subscribe = (length: number) => peer.request('resources/subscribe', { uri: `test://${'r'.repeat(length - 7)}` });
    expect((await subscribe(2049)).error?.code).toBe(-32602);
    expect((await subscribe(2048)).error).toBeUndefined();
  });

  it('[ROBUSTNESS-17] are bounded by their URIs together, too', async () => {
    const server = create({});
    server.registerResource('r', 'test://r', {}, () => 'r');
    const peer = await RawPeer.open(server, version);
    const subscribe = (index: number) => peer.request('resources/subscribe', { uri: `test://${index}/`.padEnd(2048, 'r') });
    for (let index = 0; index < 64; index += 1) expect((await subscribe(index)).error).toBeUndefined();
    expect((await subscribe(64)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('131072 characters in all') as string,
    });
    await peer.call('resources/unsubscribe', { uri: 'test://0/'.padEnd(2048, 'r') });
    expect((await subscribe(64)).error).toBeUndefined();
  });
});

it('[RES-015] has no resources/subscribe in the modern era', async () => {
  const peer = await RawPeer.open(createLibrary(), MODERN);
  for (const method of ['resources/subscribe', 'resources/unsubscribe'])
    expect((await peer.request(method, { uri: 'docs://readme' })).error?.code).toBe(-32601);
});

describe('caching', () => {
  it('says how long a read stays good: by resource, by server, and never publicly unless told', async () => {
    const server = create({ cache: { readTtlMs: 100 } });
    server.registerResource('a', 'test://a', {}, () => 'a');
    server.registerResource('b', 'test://b', { ttlMs: 9000, cacheScope: 'public' }, () => 'b');
    server.registerResource('c', 'test://c', {}, () => ({ contents: [], ttlMs: 5 }));
    const peer = await RawPeer.open(server, MODERN);
    const hints = async (uri: string) => {
      const { ttlMs, cacheScope } = await peer.call('resources/read', { uri });
      return [ttlMs, cacheScope];
    };
    expect(await hints('test://a')).toEqual([100, 'private']);
    expect(await hints('test://b')).toEqual([9000, 'public']);
    expect(await hints('test://c')).toEqual([5, 'private']);
    const old = await RawPeer.open(server, '2025-11-25');
    expect(await old.call('resources/read', { uri: 'test://b' })).toEqual({ contents: [{ uri: 'test://b', text: 'b' }] });
  });
});
