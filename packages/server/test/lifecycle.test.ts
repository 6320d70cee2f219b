import { afterEach, describe, expect, it } from 'vitest';
import { MemoryMessageBus, type Revision, REVISIONS, revisionsOf } from '@mortise/protocol';
import type { BusMessage } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { ALL, LEGACY, type Loose, MODERN, type PeerOptions, RawPeer } from './raw-peer.ts';
import { createCalculator, defer, MemoryLogger } from './support.ts';

/** Counts who listens. */
class CountingBus extends MemoryMessageBus {
  subscriptions = 0;

  override async subscribe(topic: string, onMessage: (message: BusMessage) => void): Promise<() => void> {
    const unsubscribe = await super.subscribe(topic, onMessage);
    this.subscriptions += 1;
    return () => {
      this.subscriptions -= 1;
      unsubscribe();
    };
  }
}

const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const META_SERVER = 'io.modelcontextprotocol/serverInfo';

const peers: RawPeer[] = [];
async function open(...args: Parameters<typeof RawPeer.open>): Promise<RawPeer> {
  const peer = await RawPeer.open(...args);
  peers.push(peer);
  return peer;
}
async function attach(...args: Parameters<typeof RawPeer.attach>): Promise<RawPeer> {
  const peer = await RawPeer.attach(...args);
  peers.push(peer);
  return peer;
}
afterEach(async () => {
  for (const peer of peers.splice(0)) await peer.close();
});

const minimalClient = { capabilities: {}, clientInfo: { name: 'raw-peer', version: '1.0.0' } };

describe.each(LEGACY)('initialize in %s', (version) => {
  it('[LIFE-002][LIFE-007] echoes the offered version with capabilities, serverInfo and instructions', async () => {
    const peer = await attach(createCalculator({ instructions: 'Add things.' }), version);
    const { result } = await peer.initialize();
    expect(result).toMatchObject({
      protocolVersion: version,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'calculator', version: '1.0.0' },
      instructions: 'Add things.',
    });
    expect(result).not.toHaveProperty('resultType');
  });

  it('[BASE-002][BASE-013] serves the base protocol without any feature, and leaves results free of modern members', async () => {
    const peer = await attach(new McpServer({ name: 'bare', version: '1' }), version);
    expect((await peer.initialize()).result.capabilities).toEqual({});
    expect(await peer.call('ping')).toEqual({});
  });

  it('refuses a second initialize on one session', async () => {
    const peer = await open(createCalculator(), version);
    expect((await peer.rawRequest('initialize', { protocolVersion: version, ...minimalClient })).error?.code).toBe(-32600);
  });

  it('[LIFE-012][CAP-001] tells only capabilities that the revision has', async () => {
    const capabilities = { logging: {}, experimental: { x: {} }, tasks: { list: {} }, extensions: { 'com.example/x': {} } };
    const peer = await attach(createCalculator({ capabilities }), version);
    const told = (await peer.initialize()).result.capabilities;
    expect(told).toHaveProperty('logging');
    expect(told).toHaveProperty('experimental');
    expect('extensions' in told).toBe(version === '2025-11-25');
    expect('tasks' in told).toBe(version === '2025-11-25');
  });

  it.each([
    ['a name of megabytes', { clientInfo: { name: 'n'.repeat(3 * 2 ** 20), version: '1' } }],
    ['a capability of 64 KiB', { capabilities: { experimental: { x: { y: 'y'.repeat(64 * 1024) } } } }],
    ['keys of 64 KiB', { capabilities: { ['k'.repeat(64 * 1024)]: {} } }],
    ['very many values', { capabilities: { experimental: { x: { list: Array.from({ length: 2_000 }, () => []) } } } }],
  ])('[ROBUSTNESS-7][ROBUSTNESS-8] refuses %s, and serves one that says less of itself', async (_what, options: PeerOptions) => {
    const peer = await attach(createCalculator(), version, options);
    expect((await peer.initialize()).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('"clientInfo" and "capabilities"'),
    });
    const icons = [{ src: `data:image/png;base64,${'A'.repeat(48 * 1024)}` }];
    const rest = { capabilities: { sampling: {}, roots: { listChanged: true } }, clientInfo: { name: 'n', version: '1', icons } };
    expect((await peer.rawRequest('initialize', { protocolVersion: version, ...rest })).error).toBeUndefined();
  });

  const icons = [{ src: `data:image/png;base64,${'A'.repeat(128 * 1024)}` }];
  it.each([
    ['icons', { icons, description: 'd', websiteUrl: 'https://a.example' }],
    ['icons and a description', { icons, description: 'd'.repeat(128 * 1024), websiteUrl: 'https://a.example' }],
  ])('[ROBUSTNESS-8] serves a client of heavy %s, and keeps what identifies it', async (_what, heavy) => {
    const server = createCalculator();
    let told: unknown;
    server.use('tools/call', (call, next) => ((told = call.client), next()));
    const plain = { name: 'n', title: 'N', version: '1' };
    const peer = await attach(server, version, { clientInfo: { ...plain, ...heavy }, capabilities: { sampling: {} } });
    expect((await peer.initialize()).error).toBeUndefined();
    await peer.callTool('add', { a: 1, b: 1 });
    const { info, capabilities } = told as Loose;
    expect(info).toMatchObject({ name: 'n', version: '1' });
    expect(capabilities).toEqual({ sampling: {} });
    for (const left of ['icons', 'description', 'websiteUrl']) expect(info).not.toHaveProperty(left);
    if (version === '2025-11-25') expect(info).toEqual(plain);
  });

  it('[LIFE-016] ignores capabilities of the client that it does not know', async () => {
    const peer = await attach(createCalculator(), version, { capabilities: { sparkles: { very: true }, sampling: {} } });
    expect((await peer.initialize()).error).toBeUndefined();
    expect(await peer.callTool('add', { a: 1, b: 1 })).toMatchObject({ content: [{ text: '{"sum":2}' }] });
  });
});

describe('version negotiation of the handshake', () => {
  it.each(['1999-01-01', 'DRAFT', '', '2026-07-28'])(
    '[LIFE-008][LIFE-010] answers an offer of %j with the newest legacy version',
    async (offered) => {
      const peer = await attach(createCalculator(), '2025-11-25');
      expect((await peer.initialize(offered)).result.protocolVersion).toBe('2025-11-25');
    },
  );

  it('[ERR-016] counter-offers for a mismatch and errs for a malformed offer only', async () => {
    const peer = await attach(createCalculator(), '2025-11-25');
    expect((await peer.rawRequest('initialize', { protocolVersion: 5, ...minimalClient })).error?.code).toBe(-32602);
    expect((await peer.rawRequest('initialize', { protocolVersion: '1.0', ...minimalClient })).result.protocolVersion).toBe('2025-11-25');
  });

  it.each([
    ['no client info', { protocolVersion: '2025-11-25', capabilities: {} }],
    ['a nameless client', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { version: '1' } }],
    ['capabilities that are a list', { protocolVersion: '2025-11-25', capabilities: [], clientInfo: { name: 'x', version: '1' } }],
    ['no params', undefined],
  ])('[LIFE-017] refuses an initialize with %s, and takes a good one afterwards', async (_what, params) => {
    const peer = await attach(createCalculator(), '2025-11-25');
    expect((await peer.rawRequest('initialize', params as Loose)).error?.code).toBe(-32602);
    expect((await peer.initialize()).error).toBeUndefined();
  });

  it('speaks only the versions that it was given', async () => {
    const server = createCalculator({ revisions: REVISIONS.filter(({ version }) => ['2025-03-26', MODERN].includes(version)) });
    const old = await attach(server, '2025-11-25');
    expect((await old.initialize()).result.protocolVersion).toBe('2025-03-26');
    const modern = await open(server, MODERN);
    expect((await modern.call('server/discover')).supportedVersions).toEqual([MODERN, '2025-03-26']);
    expect(() => createCalculator({ revisions: ['2020-01-01' as unknown as Revision] })).toThrow(
      /revisions: give values of @mortise\/protocol/,
    );
  });

  it('[ERA-020] names its versions where it speaks no legacy one', async () => {
    const peer = await attach(createCalculator({ revisions: revisionsOf('modern') }), '2025-11-25');
    const { error } = await peer.initialize();
    expect(error?.message).toContain(MODERN);
    expect(error?.data).toEqual({ supported: [MODERN] });
  });
});

describe('before and after the handshake', () => {
  it.each(['tools/list', 'tools/call', 'resources/read', 'logging/setLevel', 'acme/own'])(
    '[ERA-001] refuses a legacy %s before initialize, naming both ways in',
    async (method) => {
      const peer = await attach(createCalculator(), '2025-11-25');
      const { error } = await peer.rawRequest(method, {});
      expect(error?.code).toBe(-32602);
      expect(error?.message).toContain('initialize');
      expect(error?.message).toContain(META_VERSION);
    },
  );

  it.each(LEGACY)('[LIFE-005] writes nothing unasked in %s before notifications/initialized', async (version) => {
    const server = createCalculator();
    const peer = await attach(server, version);
    await peer.rawRequest('initialize', { protocolVersion: version, ...minimalClient });
    server.registerTool('late', {}, () => 'late');
    await peer.settle();
    expect(peer.notifications()).toEqual([]);
    peer.notify('notifications/initialized');
    await peer.settle();
    server.registerTool('later', {}, () => 'later');
    expect((await peer.nextNotification('notifications/tools/list_changed')).method).toBe('notifications/tools/list_changed');
  });

  it.each(LEGACY)('[LIFE-005] sends no request in %s before notifications/initialized', async (version) => {
    const server = new McpServer({ name: 'asker', version: '1' });
    server.registerTool('roots', {}, async (ctx) => {
      await ctx.listRoots();
      return 'asked';
    });
    server.registerTool('sample', {}, async (ctx) => {
      await ctx.sample({ messages: [], maxTokens: 1 });
      return 'asked';
    });
    const peer = await attach(server, version);
    peer.onRequest = ({ method }) =>
      method === 'roots/list' ? { roots: [] } : { role: 'assistant', model: 'm', content: { type: 'text', text: 't' } };
    const capabilities = { roots: {}, sampling: {} };
    await peer.rawRequest('initialize', { protocolVersion: version, capabilities, clientInfo: { name: 'x', version: '1' } });
    for (const tool of ['roots', 'sample']) {
      const result = await peer.callTool(tool);
      expect(result.isError).toBe(true);
      expect(result.content[0].text).toContain('notifications/initialized');
    }
    expect(peer.requests()).toEqual([]);
    peer.notify('notifications/initialized');
    for (const tool of ['roots', 'sample']) expect((await peer.callTool(tool)).content[0].text).toBe('asked');
    expect(peer.requests().map(({ method }) => method)).toEqual(['roots/list', 'sampling/createMessage']);
  });

  it.each(LEGACY)('[LIFE-019] ends the session of %s with its connection', async (version) => {
    const started = defer();
    const aborted = defer<unknown>();
    const server = new McpServer({ name: 'slow', version: '1' });
    server.registerTool('wait', {}, async (ctx) => {
      ctx.signal.addEventListener('abort', () => aborted.resolve(ctx.signal.reason));
      started.resolve();
      await aborted.promise;
      return 'over';
    });
    const peer = await open(server, version);
    void peer.request('tools/call', { name: 'wait' });
    await started.promise;
    await peer.close();
    expect(await aborted.promise).toMatchObject({ code: 'ERR_CONNECTION_CLOSED' });
    expect(server.isConnected()).toBe(false);
  });

  it.each(['initialize', 'resources/subscribe'])(
    '[ROBUSTNESS-7] keeps nothing of a session whose connection went while %s was held up',
    async (method) => {
      const [messageBus, reached, gate, done] = [new CountingBus(), defer(), defer(), defer()];
      const server = new McpServer(
        { name: 's', version: '1' },
        { messageBus, capabilities: { logging: {}, resources: { subscribe: true } } },
      );
      server.registerResource('r', 'test://r', {}, () => 'text');
      server.use(method, async (_ctx, next) => {
        reached.resolve();
        await gate.promise;
        try {
          return await next();
        } finally {
          done.resolve();
        }
      });
      const peer = method === 'initialize' ? await RawPeer.attach(server, '2025-11-25') : await RawPeer.open(server, '2025-11-25');
      const params = {
        initialize: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
        'resources/subscribe': { uri: 'test://r' },
      }[method];
      void peer.request(method, params);
      await reached.promise;
      await peer.close();
      await peer.settle();
      gate.resolve();
      await done.promise;
      await peer.settle();
      expect(messageBus.subscriptions).toBe(0);
      expect(server.sessions.size).toBe(0);
    },
  );

  it('[LIFE-018] answers initialize whatever cancellation follows it', async () => {
    const peer = await attach(createCalculator(), '2025-11-25');
    const answer = peer.rawRequest('initialize', { protocolVersion: '2025-11-25', ...minimalClient }, 'open');
    peer.notify('notifications/cancelled', { requestId: 'open' });
    expect((await answer).result.protocolVersion).toBe('2025-11-25');
  });
});

describe('both eras on one connection', () => {
  it('[ERA-001][ERA-002][CAP-027] serves legacy and modern requests side by side, the session lasting for the channel', async () => {
    const peer = await open(createCalculator(), '2025-06-18');
    const modern = (await open(createCalculator(), MODERN)).params({ name: 'add', arguments: { a: 1, b: 2 } });
    const [legacyAnswer, modernAnswer] = await Promise.all([
      peer.rawRequest('tools/call', { name: 'add', arguments: { a: 1, b: 2 } }),
      peer.rawRequest('tools/call', modern),
    ]);
    expect(legacyAnswer.result).not.toHaveProperty('resultType');
    expect(modernAnswer.result.resultType).toBe('complete');
    expect((await peer.rawRequest('tools/list')).result.tools).toHaveLength(1);
  });

  it('[ERA-026] lists legacy versions beside its modern ones, and refuses them inside modern _meta', async () => {
    const peer = await open(createCalculator(), MODERN);
    expect((await peer.call('server/discover')).supportedVersions).toEqual([...ALL].reverse());
    const { error } = await peer.rawRequest('tools/list', { _meta: { [META_VERSION]: '2025-11-25', [META_CAPABILITIES]: {} } });
    expect(error).toMatchObject({ code: -32022, data: { requested: '2025-11-25', supported: [...ALL].reverse() } });
  });

  it('[VERS-002] judges each request by its own version, on one connection', async () => {
    const peer = await open(createCalculator(), MODERN);
    expect((await peer.rawRequest('tools/list', { _meta: { [META_VERSION]: '2030-01-01', [META_CAPABILITIES]: {} } })).error?.code).toBe(
      -32022,
    );
    expect((await peer.request('tools/list')).error).toBeUndefined();
  });

  it('keeps one table of ids in flight for both eras', async () => {
    const gate = defer();
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('wait', {}, () => gate.promise.then(() => 'done'));
    const peer = await open(server, '2025-11-25');
    const modern = await open(server, MODERN);
    const first = peer.rawRequest('tools/call', { name: 'wait' }, 'same');
    expect((await peer.rawRequest('tools/list', modern.params(), 'same')).error?.code).toBe(-32600);
    gate.resolve();
    await first.catch(() => undefined);
  });
});

describe('the modern era', () => {
  const missing = [
    ['no version', { [META_CAPABILITIES]: {} }],
    ['no clientCapabilities', { [META_VERSION]: MODERN }],
    ['clientCapabilities that are text', { [META_VERSION]: MODERN, [META_CAPABILITIES]: 'all' }],
    ['a version that is a number', { [META_VERSION]: 2026, [META_CAPABILITIES]: {} }],
    ['a nameless client', { [META_VERSION]: MODERN, [META_CAPABILITIES]: {}, 'io.modelcontextprotocol/clientInfo': {} }],
    ['a progress token that is an object', { [META_VERSION]: MODERN, [META_CAPABILITIES]: {}, progressToken: {} }],
  ] as const;
  it.each(missing)('[META-014][CAP-003][ERR-003] refuses a request with %s', async (_what, _meta) => {
    // Beside a legacy session, too.
    for (const version of ['2025-11-25', MODERN] as const) {
      const peer = await open(createCalculator(), version);
      expect((await peer.rawRequest('tools/list', { _meta } as Loose)).error?.code).toBe(-32602);
    }
  });

  it('[VERS-003][ERR-006][CAP-026] answers an unknown version with the supported ones and the requested one', async () => {
    const peer = await open(createCalculator(), MODERN);
    const { error } = await peer.rawRequest('tools/list', { _meta: { [META_VERSION]: '2031-01-01', [META_CAPABILITIES]: {} } });
    expect(error).toMatchObject({ code: -32022, data: { requested: '2031-01-01' } });
    expect(error?.data.supported).toContain(MODERN);
  });

  it('[VERS-005][VERS-008][CAP-007] answers server/discover at any time with versions, capabilities, caching and instructions', async () => {
    const peer = await open(createCalculator({ instructions: 'Add.' }), MODERN);
    for (let time = 0; time < 2; time++) {
      const result = await peer.call('server/discover');
      expect(result).toMatchObject({
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'public',
        instructions: 'Add.',
        capabilities: { tools: { listChanged: true } },
      });
      expect(result.supportedVersions).toContain(MODERN);
    }
  });

  it('[VERS-009][META-017][CAP-019] names itself in _meta of every result and nowhere else', async () => {
    const peer = await open(createCalculator(), MODERN);
    for (const method of ['server/discover', 'tools/list']) {
      const result = await peer.call(method);
      expect(result._meta[META_SERVER]).toEqual({ name: 'calculator', version: '1.0.0' });
      expect(result).not.toHaveProperty('serverInfo');
    }
    expect((await peer.callTool('add', { a: 1, b: 1 }))._meta[META_SERVER].name).toBe('calculator');
  });

  it('[BASE-014][CAP-018] puts resultType on every result, empty ones included', async () => {
    const server = createCalculator();
    server.server.setRequestHandler('acme/nothing', () => ({}));
    const peer = await open(server, MODERN);
    for (const method of ['server/discover', 'tools/list', 'acme/nothing']) expect((await peer.call(method)).resultType).toBe('complete');
    expect((await peer.callTool('add', { a: 1, b: 1 })).resultType).toBe('complete');
  });

  it.each([
    'ping',
    'initialize',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
    'tasks/get',
    'tasks/result',
    'tasks/list',
    'tasks/cancel',
    'roots/list',
  ])('[STATE-005] does not know %s', async (method) => {
    const server = createCalculator({ capabilities: { logging: {}, resources: { subscribe: true } } });
    server.registerResource('r', 'test://r', {}, () => 'r');
    const peer = await open(server, MODERN);
    expect((await peer.request(method, { level: 'info', uri: 'test://r', taskId: '1' })).error?.code).toBe(-32601);
  });

  it('[STATE-001][META-015][CAP-004] forgets what an earlier request said of the client', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('who', {}, (ctx) => JSON.stringify({ capabilities: ctx.client.capabilities, info: ctx.client.info ?? null }));
    const peer = await open(server, MODERN, { capabilities: { sampling: {} } });
    const rich = JSON.parse((await peer.callTool('who')).content[0].text);
    expect(rich).toEqual({ capabilities: { sampling: {} }, info: { name: 'raw-peer', version: '1.0.0' } });
    const poor = await peer.rawRequest('tools/call', { name: 'who', _meta: { [META_VERSION]: MODERN, [META_CAPABILITIES]: {} } });
    expect(JSON.parse(poor.result.content[0].text)).toEqual({ capabilities: {}, info: null });
  });

  it('[STATE-001] takes nothing from a handshake on the same connection', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('who', {}, (ctx) => JSON.stringify(ctx.client.capabilities));
    const peer = await open(server, '2025-11-25', { capabilities: { roots: {} } });
    const modern = await peer.rawRequest('tools/call', { name: 'who', _meta: { [META_VERSION]: MODERN, [META_CAPABILITIES]: {} } });
    expect(modern.result.content[0].text).toBe('{}');
    expect((await peer.callTool('who')).content[0].text).toBe('{"roots":{}}');
  });

  it('[STATE-002][CAP-022] serves interleaved requests of unrelated conversations', async () => {
    const gates = new Map([
      ['a', defer()],
      ['b', defer()],
    ]);
    const server = new McpServer({ name: 's', version: '1' });
    server.registerPrompt('p', {}, () => 'hello');
    server.server.setRequestHandler('acme/wait', async ({ params }) => {
      await gates.get(String(params['name']))?.promise;
      return { name: params['name'] ?? null };
    });
    const peer = await open(server, MODERN);
    const first = peer.call('acme/wait', { name: 'a' });
    const second = peer.call('acme/wait', { name: 'b' });
    gates.get('b')?.resolve();
    expect((await second).name).toBe('b');
    expect((await peer.call('prompts/get', { name: 'p' })).messages).toHaveLength(1);
    gates.get('a')?.resolve();
    expect((await first).name).toBe('a');
  });

  it('[STATE-004][CAP-021] answers the same whatever connection asks, where the request names what it is about', async () => {
    const carts = new Map<string, number>();
    const server = new McpServer({ name: 'shop', version: '1' });
    server.registerTool(
      'put',
      { inputSchema: { type: 'object', properties: { cart: { type: 'string' } }, required: ['cart'] } },
      (args) => {
        const cart = String(args['cart']);
        carts.set(cart, (carts.get(cart) ?? 0) + 1);
        return String(carts.get(cart));
      },
    );
    const [one, other] = [await open(server, MODERN), await open(server, MODERN)];
    expect((await one.callTool('put', { cart: 'x' })).content[0].text).toBe('1');
    expect((await other.callTool('put', { cart: 'x' })).content[0].text).toBe('2');
    expect((await one.callTool('put', { cart: 'y' })).content[0].text).toBe('1');
  });

  it('[META-018][CAP-020] behaves the same whoever the client says it is', async () => {
    const server = createCalculator();
    const one = await open(server, MODERN, { clientInfo: { name: 'admin', version: '9' } });
    const other = await open(server, MODERN, { clientInfo: { name: 'nobody', version: '0' } });
    expect(await one.call('tools/list')).toEqual(await other.call('tools/list'));
    expect(await one.call('server/discover')).toEqual(await other.call('server/discover'));
  });

  it('[BASE-003] serves discovery, requests and listens without any feature registered', async () => {
    const peer = await open(new McpServer({ name: 'bare', version: '1' }), MODERN);
    expect((await peer.call('server/discover')).capabilities).toEqual({});
    void peer.request('subscriptions/listen', { notifications: {} });
    expect((await peer.nextNotification('notifications/subscriptions/acknowledged')).params.notifications).toEqual({});
    expect((await peer.request('tools/list')).error?.code).toBe(-32601);
  });

  it('[BASE-021] never sends a request', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('roots', {}, async (ctx) => JSON.stringify(await ctx.listRoots()));
    const peer = await open(server, MODERN, { capabilities: { roots: {} } });
    await peer.request('tools/call', { name: 'roots' });
    await peer.settle();
    expect(peer.requests()).toEqual([]);
  });
});

describe('messages', () => {
  const ids = ['1', 1, 0, '', -5, 'a-long-id-with-dashes'] as const;
  it.each(ids)('[BASE-004][BASE-008] echoes the id %j with its JSON type', async (id) => {
    for (const version of ALL) {
      const peer = await open(createCalculator(), version);
      const { id: echoed } = await peer.request('tools/list', {}, id);
      expect(echoed).toBe(id);
    }
  });

  it.each(ALL)('[BASE-019] never answers a notification in %s, well-formed or not', async (version) => {
    const peer = await open(createCalculator(), version);
    const before = peer.received.length;
    for (const method of ['notifications/unknown', 'notifications/cancelled', 'tools/list', 'notifications/roots/list_changed'])
      peer.notify(method, peer.params());
    peer.send({ jsonrpc: '2.0', method: 'notifications/progress', params: [1] });
    await peer.settle();
    expect(peer.received.length).toBe(before);
  });

  it.each(ALL)('[BASE-010][BASE-011] answers in %s with exactly one of result and error', async (version) => {
    const peer = await open(createCalculator(), version);
    await peer.request('tools/list');
    await peer.request('tools/call', { name: 'nobody' });
    await peer.request('no/such');
    for (const message of peer.received.filter((each) => each.method === undefined)) {
      expect('result' in message).toBe(!('error' in message));
      if (message.error) expect([Number.isInteger(message.error.code), typeof message.error.message]).toEqual([true, 'string']);
    }
  });

  it.each(LEGACY)('[BATCH-001][BATCH-010] takes a batch in %s only where the revision has batches', async (version) => {
    const peer = await open(createCalculator(), version);
    const batch = peer.next((message) => Array.isArray(message) || message.error !== undefined);
    peer.send([
      { jsonrpc: '2.0', id: 'x', method: 'ping' },
      { jsonrpc: '2.0', id: 'y', method: 'tools/list' },
    ]);
    const answer: Loose = await batch;
    if (version === '2025-03-26') expect(answer.map((each: Loose) => each.id).toSorted()).toEqual(['x', 'y']);
    else expect(answer.error.code).toBe(-32600);
  });

  it('[BATCH-002][BATCH-003] refuses a batch before the handshake, and initialize in one', async () => {
    const peer = await attach(createCalculator(), '2025-03-26');
    const init = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-03-26', ...minimalClient } };
    const refused = peer.next((message) => message.error !== undefined);
    peer.send([init]);
    expect((await refused).error?.code).toBe(-32600);
    await peer.initialize();
    const answered = peer.next((message) => Array.isArray(message));
    peer.send([{ ...init, id: 2 }]);
    expect(((await answered) as Loose)[0].error.code).toBe(-32600);
  });

  it('[BASE-009] leaves the id out of an answer to the unreadable where the revision allows it, else sends null', async () => {
    for (const version of LEGACY) {
      const peer = await open(createCalculator(), version);
      const answer = peer.next((message) => message.error !== undefined);
      peer.send({ jsonrpc: '2.0', id: null, method: 'ping' });
      const message = await answer;
      expect('id' in message).toBe(version !== '2025-11-25');
      expect(message.error?.code).toBe(-32600);
    }
  });
});

it('connects any number of transports to one server, which keep nothing of one another', async () => {
  const server = createCalculator();
  const all = await Promise.all(Array.from({ length: 20 }, (_, index) => open(server, ALL[index % ALL.length] as (typeof ALL)[number])));
  const sums = await Promise.all(all.map((peer, index) => peer.callTool('add', { a: index, b: 1 })));
  expect(sums.map((result) => JSON.parse(result.content[0].text).sum)).toEqual(all.map((_, index) => index + 1));
});

it('[META-007][XMETA-007] keeps unknown _meta keys on the way to handlers and back', async () => {
  const logger = new MemoryLogger();
  for (const version of ALL) {
    const server = new McpServer({ name: 's', version: '1' }, { logger });
    server.registerTool('echo', {}, (ctx) => ({ content: [], _meta: { 'com.example/back': ctx.meta['com.example/there'] ?? null } }));
    const peer = await open(server, version);
    const result = await peer.call('tools/call', { name: 'echo', _meta: { 'com.example/there': [1, { two: 2 }] } });
    expect(result._meta['com.example/back']).toEqual([1, { two: 2 }]);
  }
});
