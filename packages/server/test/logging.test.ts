import { describe, expect, it } from 'vitest';
import { LOGGING_LEVELS } from '@mortise/protocol';
import { McpServer } from '@mortise/server';
import { ALL, LEGACY, type Loose, MODERN, RawPeer } from './raw-peer.ts';
import { MemoryLogger } from './support.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

function createChatty(options = {}): McpServer {
  const server = new McpServer({ name: 'chatty', version: '1' }, { capabilities: { logging: {} }, ...options });
  server.registerTool('all', {}, async (ctx) => {
    for (const level of LOGGING_LEVELS) await ctx.log(level, { level }, 'tests');
    return 'logged';
  });
  server.registerTool('methods', {}, async (ctx) => {
    await ctx.log.info('i');
    await ctx.log.error({ e: 1 });
    return 'logged';
  });
  return server;
}
const levels = (peer: RawPeer): Loose[] => peer.notifications('notifications/message').map((message) => message.params.level);

describe.each(LEGACY)('log messages in %s', (version) => {
  it('[LOG-001] flow only where the server declares logging', async () => {
    const silent = await RawPeer.attach(createChatty({ capabilities: {} }), version);
    const told = await silent.initialize();
    expect(told.result.capabilities).not.toHaveProperty('logging');
    await silent.callTool('all');
    expect(levels(silent)).toEqual([]);
    expect((await silent.request('logging/setLevel', { level: 'info' })).error?.code).toBe(-32601);
    const loud = await RawPeer.attach(createChatty(), version);
    expect((await loud.initialize()).result.capabilities.logging).toEqual({});
  });

  it('[LOG-002][LOG-003][LOG-006] carry one of eight levels, data and a logger, all of them before a level is set', async () => {
    const peer = await RawPeer.open(createChatty(), version);
    await peer.callTool('all');
    expect(levels(peer)).toEqual(LOGGING_LEVELS);
    expect(peer.notifications('notifications/message')[0]?.params).toEqual({ level: 'debug', logger: 'tests', data: { level: 'debug' } });
    await peer.callTool('methods');
    expect(
      peer
        .notifications('notifications/message')
        .slice(8)
        .map((message) => message.params),
    ).toEqual([
      { level: 'info', data: 'i' },
      { level: 'error', data: { e: 1 } },
    ]);
  });

  it.each(LOGGING_LEVELS)('[LOG-004][LOG-005] come at %s and above once that is set', async (level) => {
    const peer = await RawPeer.open(createChatty(), version);
    expect(await peer.call('logging/setLevel', { level })).toEqual({});
    await peer.callTool('all');
    expect(levels(peer)).toEqual(LOGGING_LEVELS.slice(LOGGING_LEVELS.indexOf(level)));
  });

  it('[LOG-005] change with each level that is set', async () => {
    const peer = await RawPeer.open(createChatty(), version);
    await peer.callTool('methods');
    await peer.call('logging/setLevel', { level: 'error' });
    await peer.callTool('methods');
    await peer.call('logging/setLevel', { level: 'debug' });
    await peer.callTool('methods');
    expect(levels(peer)).toEqual(['info', 'error', 'error', 'info', 'error']);
  });

  it('[LOG-007] keep their level where an invalid one is asked for', async () => {
    const peer = await RawPeer.open(createChatty(), version);
    await peer.call('logging/setLevel', { level: 'alert' });
    for (const level of ['loud', 5, undefined] as Loose[])
      expect((await peer.request('logging/setLevel', { level })).error?.code).toBe(-32602);
    await peer.callTool('all');
    expect(levels(peer)).toEqual(['alert', 'emergency']);
  });

  it('[LOG-007] keep their level where setting one fails, and the client gets -32603', async () => {
    const server = createChatty();
    server.use('logging/setLevel', (_ctx, next) => {
      if (isBroken) throw new Error('the file /etc/levels is locked');
      return next();
    });
    let isBroken = false;
    const peer = await RawPeer.open(server, version);
    await peer.call('logging/setLevel', { level: 'alert' });
    isBroken = true;
    const { error } = await peer.request('logging/setLevel', { level: 'debug' });
    expect(error?.code).toBe(-32603);
    expect(error?.message).not.toContain('/etc/levels');
    await peer.callTool('all');
    expect(levels(peer)).toEqual(['alert', 'emergency']);
  });

  it('are of one session: the level of one client is not that of another', async () => {
    const server = createChatty();
    const [one, other] = [await RawPeer.open(server, version), await RawPeer.open(server, version)];
    await one.call('logging/setLevel', { level: 'emergency' });
    await other.call('logging/setLevel', { level: 'error' });
    await Promise.all([one.callTool('all'), other.callTool('all')]);
    expect(levels(one)).toEqual(['emergency']);
    expect(levels(other)).toEqual(['error', 'critical', 'alert', 'emergency']);
  });

  it('may belong to no request', async () => {
    const server = createChatty();
    const peer = await RawPeer.open(server, version);
    await peer.call('logging/setLevel', { level: 'warning' });
    await server.sendLoggingMessage({ level: 'info', data: 'low' });
    await server.sendLoggingMessage({ level: 'error', data: 'high' });
    expect((await peer.nextNotification('notifications/message')).params).toEqual({ level: 'error', data: 'high' });
    await expect(server.sendLoggingMessage({ level: 'loud' as Loose, data: 1 })).rejects.toThrow(
      new TypeError('log level "loud" does not exist: use one of debug, info, notice, warning, error, critical, alert, emergency'),
    );
  });
});

describe('log messages in the modern era', () => {
  it('[LOG-009][META-012] do not flow without a level in the request', async () => {
    const peer = await RawPeer.open(createChatty(), MODERN);
    await peer.callTool('all');
    expect(levels(peer)).toEqual([]);
  });

  it.each(LOGGING_LEVELS)('[LOG-010] flow at %s and above where the request asks for that, before its answer', async (level) => {
    const peer = await RawPeer.open(createChatty(), MODERN, { logLevel: level });
    await peer.callTool('all');
    expect(levels(peer)).toEqual(LOGGING_LEVELS.slice(LOGGING_LEVELS.indexOf(level)));
    expect(peer.received.at(-1)?.result).toBeDefined();
  });

  it('[LOG-009] are those of the request that asked, of several at once', async () => {
    const peer = await RawPeer.open(createChatty(), MODERN);
    const asked = peer.call('tools/call', { name: 'all', _meta: { [LOG_LEVEL]: 'alert' } });
    await Promise.all([asked, peer.callTool('all')]);
    expect(levels(peer)).toEqual(['alert', 'emergency']);
  });

  it('[META-013][LOG-012] are refused with the whole request where the level is unknown', async () => {
    const peer = await RawPeer.open(createChatty(), MODERN);
    expect((await peer.request('tools/call', { name: 'all', _meta: { [LOG_LEVEL]: 'loud' } })).error?.code).toBe(-32602);
  });

  it('[LOG-008] have no logging/setLevel', async () => {
    const peer = await RawPeer.open(createChatty(), MODERN);
    expect((await peer.request('logging/setLevel', { level: 'info' })).error?.code).toBe(-32601);
  });

  it('[LOG-011] never come on a subscription, nor from outside a request', async () => {
    const server = createChatty();
    const peer = await RawPeer.open(server, MODERN, { logLevel: 'debug' });
    void peer.request('subscriptions/listen', { notifications: { toolsListChanged: true } });
    await peer.nextNotification('notifications/subscriptions/acknowledged');
    await server.sendLoggingMessage({ level: 'emergency', data: 'all' });
    await peer.settle();
    expect(levels(peer)).toEqual([]);
  });

  it('[LOG-009] cannot be sent past the level as plain notifications', async () => {
    const server = createChatty();
    server.registerTool('sneaky', {}, async (ctx) => {
      await ctx.sendNotification({ method: 'notifications/message', params: { level: 'error', data: 'x' } });
      return 'sent';
    });
    const quiet = await RawPeer.open(server, MODERN);
    await quiet.callTool('sneaky');
    expect(levels(quiet)).toEqual([]);
    const asking = await RawPeer.open(server, MODERN, { logLevel: 'info' });
    await asking.callTool('sneaky');
    expect(levels(asking)).toEqual(['error']);
  });
});

describe.each(ALL)('limits of log messages in %s', (version) => {
  it('[LOG-014][META-003] are kept by dropping, and the next message says how many were', async () => {
    const clock = new FakeClock();
    const server = new McpServer({ name: 'flood', version: '1' }, { capabilities: { logging: {} }, clock });
    server.registerTool('flood', {}, async (ctx) => {
      for (let index = 0; index < 110; index++) await ctx.log('info', index, 'flood');
      clock.advance(20);
      await ctx.log('info', 'after', 'flood');
      return 'done';
    });
    const peer = await RawPeer.open(server, version, { logLevel: 'debug' });
    await peer.callTool('flood');
    const sent = peer.notifications('notifications/message').map((message) => message.params);
    expect(sent.map((params) => params.data)).toEqual([...Array.from({ length: 100 }, (_, index) => index), 'after']);
    expect(sent.every((params) => params.logger === 'flood')).toBe(true);
    expect(sent.at(-1)._meta).toEqual({ 'dev.mortise/droppedMessages': 10 });
  });

  it('[LOG-013] hide what looks like a secret', async () => {
    const server = new McpServer({ name: 'leaky', version: '1' }, { capabilities: { logging: {} } });
    server.registerTool('leak', {}, async (ctx) => {
      await ctx.log.info({ password: 'hunter2', note: 'fine' });
      return 'done';
    });
    const peer = await RawPeer.open(server, version, { logLevel: 'debug' });
    await peer.callTool('leak');
    const [message] = peer.notifications('notifications/message');
    expect(JSON.stringify(message)).not.toContain('hunter2');
    expect(message?.params.data.note).toBe('fine');
  });

  it('[LOG-002] do not let an unknown level out', async () => {
    const server = createChatty();
    server.registerTool('bad', {}, async (ctx) => {
      await ctx.log('loud' as Loose, 'x');
      return 'sent';
    });
    const peer = await RawPeer.open(server, version, { logLevel: 'debug' });
    expect((await peer.callTool('bad')).isError).toBe(true);
    expect(levels(peer)).toEqual([]);
  });
});

describe.each(ALL)('a server that does not declare logging, in %s', (version) => {
  it('is told once that its handlers log to nobody, and how to change that', async () => {
    const logger = new MemoryLogger();
    const peer = await RawPeer.open(createChatty({ capabilities: {}, logger }), version);
    await peer.callTool('all');
    await peer.callTool('methods');
    expect(logger.lines).toMatchObject([
      { level: 'warning', message: expect.stringMatching(/^ctx\.log sends nothing.*capabilities: \{ logging: \{\} \}/) },
    ]);
  });

  it('is told nothing where it does, whether the client wants messages or not', async () => {
    const logger = new MemoryLogger();
    const peer = await RawPeer.open(createChatty({ logger }), version);
    await peer.callTool('all');
    expect(logger.lines).toEqual([]);
  });
});

it.each(LEGACY)('sendLoggingMessage without the capability is told of once, in %s', async (version) => {
  const logger = new MemoryLogger();
  const server = createChatty({ capabilities: {}, logger });
  await RawPeer.open(server, version);
  await server.sendLoggingMessage({ level: 'error', data: 'x' });
  await server.sendLoggingMessage({ level: 'error', data: 'y' });
  expect(logger.lines).toMatchObject([{ level: 'warning', message: expect.stringMatching(/^sendLoggingMessage sends nothing/) }]);
});
