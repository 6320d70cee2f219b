import { describe, expect, it } from 'vitest';
import type { ServerExtension } from '@mortise/protocol/contracts';
import { McpServer, RegistrationError } from '@mortise/server';
import { ALL, LEGACY, type Loose, MODERN, RawPeer, type Version } from './raw-peer.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { createCalculator, MemoryLogger } from './support.ts';

async function told(server: McpServer, version: Version): Promise<Loose> {
  const peer = await RawPeer.attach(server, version);
  return (peer.isModern ? await peer.call('server/discover') : (await peer.initialize()).result).capabilities;
}

describe.each(ALL)('capabilities in %s', (version) => {
  it('[LIFE-015][CAP-010] hold the keys that the revision has, and no other', async () => {
    const everything = {
      logging: {},
      completions: {},
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      tools: { listChanged: true },
      experimental: { own: {} },
      tasks: { list: {}, cancel: {} },
      extensions: { 'com.example/x': { a: 1 } },
    };
    const keys = Object.keys(await told(new McpServer({ name: 's', version: '1' }, { capabilities: everything }), version));
    const always = ['experimental', 'logging', 'prompts', 'resources', 'tools'];
    const expected = [
      ...always,
      ...(version === '2024-11-05' ? [] : ['completions']),
      ...(version === '2025-11-25' ? ['tasks'] : []),
      ...(version === '2025-11-25' || version === MODERN ? ['extensions'] : []),
    ];
    expect(keys.toSorted()).toEqual(expected.toSorted());
  });

  it('[CAP-009] of the client may have keys that nobody knows', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('seen', {}, (ctx) => JSON.stringify(ctx.client.capabilities));
    const peer = await RawPeer.open(server, version, { capabilities: { novel: { deep: [1] }, experimental: { x: {} } } });
    expect(JSON.parse((await peer.callTool('seen')).content[0].text)).toMatchObject({ novel: { deep: [1] }, experimental: { x: {} } });
  });

  it('[LIFE-014][CAP-011] of the client count in the revisions that have them', async () => {
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('elicit', {}, async (ctx) => {
      const outcome = await ctx
        .elicit({ message: 'm', requestedSchema: { type: 'object', properties: {} } })
        .catch((error: { code: string }) => ({ action: error.code }));
      return outcome.action;
    });
    const peer = await RawPeer.open(server, version, { capabilities: { elicitation: {} } });
    peer.onRequest = () => ({ action: 'decline' });
    const { content, resultType } = await peer.callTool('elicit');
    if (version === MODERN) return expect(resultType).toBe('input_required');
    const isLegacyWithForms = version === '2025-06-18' || version === '2025-11-25';
    expect(content[0].text).toBe(isLegacyWithForms ? 'decline' : 'ERR_ASK_UNAVAILABLE');
    expect(peer.requests()).toHaveLength(isLegacyWithForms ? 1 : 0);
  });

  it('[DEPR-001] neither declare logging nor ask for roots or sampling unless the program does', async () => {
    const server = createCalculator();
    expect(await told(server, version)).not.toHaveProperty('logging');
    const peer = await RawPeer.open(server, version, { capabilities: { roots: {}, sampling: {} } });
    await peer.callTool('add', { a: 1, b: 2 });
    expect(peer.requests()).toEqual([]);
  });
});

describe('extensions', () => {
  const create = (changes: Partial<ServerExtension> = {}): ServerExtension => ({
    id: 'com.example/clock',
    settings: { zone: 'UTC' },
    install: () => undefined,
    ...changes,
  });
  const serve = (extension: ServerExtension): McpServer => new McpServer({ name: 's', version: '1' }, { extensions: [extension] });

  it.each(['2025-11-25', MODERN] as const)(
    '[VERS-012][CAP-013] are declared by identifier, with their settings, in %s',
    async (version) => {
      expect(await told(serve(create()), version)).toEqual({ extensions: { 'com.example/clock': { zone: 'UTC' } } });
      expect(await told(serve(create({ settings: {} })), version)).toEqual({ extensions: { 'com.example/clock': {} } });
    },
  );

  it('may have other settings in another revision, or be silent there', async () => {
    const extension = create({ settings: ({ rules }) => (rules.coreTasks ? undefined : { zone: 'UTC' }) });
    expect(await told(serve(extension), '2025-11-25')).toEqual({});
    expect(await told(serve(extension), MODERN)).toEqual({ extensions: { 'com.example/clock': { zone: 'UTC' } } });
  });

  it.each(LEGACY)('[VERS-015] are declared (%s) from 2025-11-25 on; their other capabilities always are', async (version) => {
    const extension = create({ capabilities: () => ({ experimental: { own: {} } }) });
    const capabilities = await told(serve(extension), version);
    expect('extensions' in capabilities).toBe(version === '2025-11-25');
    expect(capabilities.experimental).toEqual({ own: {} });
  });

  it.each(['clock', 'com.example/', '/clock', '1com/clock', 'com.example/cl ock'])(
    '[CAP-012] must have an identifier with a prefix, unlike %j',
    (id) => {
      expect(() => serve(create({ id }))).toThrow(RegistrationError);
    },
  );

  it('[CAP-015][VERS-014] are off until the program opts in', async () => {
    expect(await told(createCalculator(), MODERN)).not.toHaveProperty('extensions');
    const peer = await RawPeer.open(createCalculator(), MODERN);
    for (const method of ['tasks/get', 'tasks/update', 'com.example/clock']) expect((await peer.request(method)).error?.code).toBe(-32601);
  });

  it('[VERS-013][CAP-014] leave the core as it is for clients that lack them', async () => {
    const extension = create({
      install: (host) =>
        host.intercept('tools/call', async (_params, call, next) =>
          call.clientCapabilities.extensions?.['com.example/clock'] ? { resultType: 'clock' } : next(),
        ),
      answers: ['tools/call'],
      resultTypes: ['clock'],
    });
    const server = serve(extension);
    server.registerTool('t', {}, () => 't');
    const [plain, able] = [
      await RawPeer.open(server, MODERN),
      await RawPeer.open(server, MODERN, { capabilities: { extensions: { 'com.example/clock': {} } } }),
    ];
    expect((await plain.callTool('t')).resultType).toBe('complete');
    expect((await able.callTool('t')).resultType).toBe('clock');
  });
});

describe.each(LEGACY)('ping in %s', (version) => {
  it('[PING-001][PING-002] is answered at once with an empty result, before initialize too, whatever its params', async () => {
    const peer = await RawPeer.attach(createCalculator(), version);
    expect((await peer.rawRequest('ping')).result).toEqual({});
    await peer.initialize();
    expect((await peer.rawRequest('ping', { _meta: { progressToken: 1 } })).result).toEqual({});
  });
});

it('[PING-005] has no ping in the modern era, nor sends one', async () => {
  const clock = new FakeClock();
  const server = createCalculator({ clock, keepAliveMs: 100 });
  const peer = await RawPeer.open(server, MODERN);
  expect((await peer.request('ping')).error?.code).toBe(-32601);
  for (let round = 0; round < 5; round++) {
    clock.advance(100);
    await peer.settle();
  }
  expect(peer.requests()).toEqual([]);
});

describe('keep-alive', () => {
  it('[PING-002][PING-004] asks a silent client, without parameters, and is quiet while messages come', async () => {
    const clock = new FakeClock();
    const peer = await RawPeer.open(createCalculator({ clock, keepAliveMs: 1000 }), '2025-11-25');
    await peer.settle();
    clock.advance(900);
    await peer.callTool('add', { a: 1, b: 1 });
    clock.advance(900);
    await peer.settle();
    expect(peer.requests()).toEqual([]);
    clock.advance(100);
    await peer.settle();
    expect(peer.requests()).toEqual([{ jsonrpc: '2.0', id: expect.anything(), method: 'ping' }]);
    for (let round = 0; round < 3; round++) {
      clock.advance(1000);
      await peer.settle();
    }
    expect(peer.requests()).toHaveLength(4);
    expect(peer.isClosed).toBe(false);
  });

  it('[PING-003][PING-004] logs pings without an answer, and closes the connection after too many', async () => {
    const clock = new FakeClock();
    const logger = new MemoryLogger();
    const peer = await RawPeer.open(createCalculator({ clock, logger, keepAliveMs: 1000 }), '2025-11-25');
    await peer.settle();
    peer.onRequest = () => undefined;
    for (let round = 0; round < 3; round++) {
      clock.advance(1000);
      await peer.settle();
      clock.advance(10_000);
      await peer.settle();
    }
    await peer.connection.closed;
    expect(logger.lines.filter(({ message }) => message === 'A ping got no response').map(({ data }) => data?.['inARow'])).toEqual([
      1, 2, 3,
    ]);
    expect(clock.running).toBe(0);
  });

  it('takes an error for an answer', async () => {
    const clock = new FakeClock();
    const peer = await RawPeer.open(createCalculator({ clock, keepAliveMs: 1000 }), '2025-11-25');
    await peer.settle();
    peer.onRequest = () => ({ error: { code: -32601, message: 'no ping' } });
    for (let round = 0; round < 5; round++) {
      clock.advance(1000);
      await peer.settle();
    }
    expect(peer.isClosed).toBe(false);
  });

  it('sends nothing before the client is ready', async () => {
    const clock = new FakeClock();
    const peer = await RawPeer.attach(createCalculator({ clock, keepAliveMs: 1000 }), '2025-11-25');
    for (let round = 0; round < 3; round++) {
      clock.advance(1000);
      await peer.settle();
    }
    expect(peer.requests()).toEqual([]);
  });
});
